// `paceline predict` at a terminal, with a small folder of made-up records.
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/asynchronous_records.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using paceline::test::asynchronous_records;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::Workplace;

namespace {

// Evaluations of one run every 2,000 of its 64,000 updates.
std::string curve_of(const std::string& run) {
  std::string rows;
  for (int step = 0; step <= 64'000; step += 2'000)
    rows += run + ",60," + std::to_string(step) + (step < 32'000 ? ",0.8\n" : ",0.92\n");
  return rows;
}

const std::string runs =
    "k80x1-1ps,scaling,1,1,14000,0.92,7200,7300\n"
    "k80x1-1ps,scaling,2,1,14100,0.921,7200,7300\n"
    "k80x2-1ps,scaling,1,1,7100,0.919,3600,3650\n";
const std::string evaluations =
    curve_of("k80x1-1ps,scaling,1") + curve_of("k80x1-1ps,scaling,2") + curve_of("k80x2-1ps,scaling,1");

// As the folder holds them, with the columns before them.
const std::map<std::string, std::string> records = asynchronous_records(runs, evaluations);

Workplace workplace() {
  Workplace::Files files(records.begin(), records.end());
  files.emplace_back("asked.csv", "configuration\nk80x3-1ps\nk80-1ps\n");
  return Workplace(PACELINE_PROGRAM, files);
}

}  // namespace

TEST_CASE("predict says how many it predicted and refused, and does not replace a file unasked") {
  const Workplace place = workplace();
  const auto predict = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"predict", "asked.csv", "--records", ".", "-o", "predicted.csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return place.paceline(arguments);
  };
  const ProgramResult first = predict({});
  INFO(first.err);
  CHECK(first.exit_code == 0);
  CHECK(first.out == "1 configuration predicted, 1 refused: predicted.csv\n");
  const std::string written = place.text("predicted.csv");
  CHECK(contains(written, "\nk80x3-1ps,"));

  place.write("predicted.csv", "mine\n");
  const ProgramResult again = predict({});
  CHECK(again.exit_code == 2);
  CHECK(contains(again.err, "predicted.csv exists"));
  CHECK(contains(again.err, "--force"));
  CHECK(place.text("predicted.csv") == "mine\n");
  CHECK(predict({"--force"}).exit_code == 0);
  CHECK(place.text("predicted.csv") == written);
}

TEST_CASE(
    "records too few to predict accuracies from are refused: one run of a worker, none of several, no "
    "curves") {
  const Workplace place = workplace();
  const auto refusal = [&](const std::string& file, const std::string& text) {
    place.write(file, text);
    const ProgramResult refused = place.paceline({"predict", "asked.csv", "--records", "."});
    CHECK(refused.exit_code == 2);
    return refused.err;
  };
  const auto without = [](std::string text, const std::string& configuration) {
    const std::size_t first = text.find("\n" + configuration);
    REQUIRE(first != text.npos);
    return text.erase(first, text.find('\n', first + 1) - first);
  };
  CHECK(contains(refusal("runs.csv", without(records.at("runs.csv"), "k80x1-1ps")),
                 "how accuracies of runs differ is not recorded"));
  CHECK(contains(refusal("runs.csv", without(records.at("runs.csv"), "k80x2-1ps")),
                 "accuracies of several workers are not recorded"));
  place.write("runs.csv", records.at("runs.csv"));
  const std::string& curves = records.at("curves.csv");
  CHECK(contains(refusal("curves.csv", curves.substr(0, curves.find("\nk80x2") + 1)),
                 "no evaluation of k80x2-1ps is recorded around 6.25 % of its updates"));
}

TEST_CASE("predict reads when workers join and leave, and says where that is wrong") {
  const Workplace place = workplace();
  const auto predict = [&](const std::string& rows) {
    place.write("asked.csv", "configuration,joins,leaves\n" + rows);
    return place.paceline({"predict", "asked.csv", "--records", "."});
  };
  const ProgramResult known = predict("k80x3-1ps,1@100,2@600 1@900\nk80x3-1ps,,\n");
  INFO(known.err);
  CHECK(known.exit_code == 0);
  CHECK(contains(known.out, ",1@100,2@600 1@900,"));

  CHECK(
      contains(predict("k80x3-1ps,,3@600\n").err, "asked.csv:2:12: there is no worker 3: the last one is 2"));
  CHECK(
      contains(predict("k80x3-1ps,1@900,1@600\n").err, "a worker that joins after 900 s leaves after 600 s"));
  CHECK(contains(predict("exchange/ddp-h1-50mbit,1@900,\n").err, "an exchange has no workers"));
  CHECK(predict("k80x3-1ps,,soon\n").exit_code == 2);
  CHECK(contains(predict("k80x3-1ps,,0@600\n").out, "refused: worker 0 is the chief"));
  place.write("asked.csv", "configuration,leave\nk80x3-1ps,2@600\n");
  CHECK(contains(place.paceline({"predict", "asked.csv", "--records", "."}).err,
                 "the column `leave` is not read"));
}

TEST_CASE("validate predictions: errors, null models and coverage of a file, of what is recorded alone") {
  // 7,100 s are recorded of two workers, and 14,050 s of one: adding up rates says 7,025.
  const Workplace place = workplace();
  const std::string columns =
      "configuration,duration_s,duration_lo,duration_hi,accuracy,accuracy_lo,accuracy_hi\n";
  const auto score = [&](const std::string& rows) {
    place.write("predicted.csv", columns + rows);
    return place.paceline({"validate", "predictions", "predicted.csv", "--records", "."});
  };
  const ProgramResult scored =
      score("k80x2-1ps,7810,7000,8000,0.909,0.900,0.915\nk80x4-1ps,3600,3500,3700,0.9,0.8,1\n");
  INFO(scored.err);
  CHECK(scored.exit_code == 0);
  CHECK(contains(scored.out, "+10.0 %"));
  CHECK(contains(scored.out, "-1.1 %"));
  CHECK(contains(scored.out, "-0.0100"));
  CHECK(contains(scored.out, "duration: 1 of 1 inside their 90 % range"));
  CHECK(contains(scored.out, "final accuracy: 0 of 1 inside their 90 % range"));
  CHECK_FALSE(contains(scored.out, "k80x4"));

  // A refused configuration has no fields, and is no row.
  CHECK_FALSE(contains(score("k80x1-1ps,14050,14000,14200,,,\n").out, "final accuracy"));

  const ProgramResult empty = score("k80x2-1ps,7100,8000,7000,0.909,0.900,0.915\n");
  CHECK(empty.exit_code == 2);
  CHECK(contains(empty.err, "predicted.csv:2:16: a range from 8000 to 7000 is empty"));
  const ProgramResult other = score("k80x4-1ps,3600,3500,3700,0.9,0.8,1\n");
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err, "has no run of what predicted.csv predicts"));
}
