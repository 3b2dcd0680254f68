// What a study says: drawn, compared, priced, also when it is not done.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/csv.hpp"
#include "tests/cli/study_place.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::StudyPlace;
namespace fs = std::filesystem;

TEST_CASE("a study that is not done is drawn and compared from what is there, and says how much is missing") {
  const StudyPlace place;
  for (const char* part : {"1/3", "3/3"})
    REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--shard", part}).exit_code == 0);
  REQUIRE(place.paceline({"study", "merge", "out"}).exit_code == 0);
  for (const auto& command : {std::vector<std::string>{"compare", "out"}, {"plot", "out", "-o", "figures"}}) {
    const ProgramResult result = place.paceline(command);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out + result.err, "8 of 24 runs are not done"));
  }
  CHECK(fs::exists(place.path() / "figures/study.gp"));
}

TEST_CASE("the cost of a job is its time by the prices of all its workers") {
  const StudyPlace place;
  std::string priced = test::throughput_scenario;
  const std::string workers = "[{cores: 1}, {cores: 1, speed: 0.5}]";
  priced.replace(priced.find(workers), workers.size(),
                 "[{cores: 1, price: 3.6 per hour}, {cores: 1, speed: 0.5, price: 172.8 per day}]");
  place.write("scenario.yaml", priced);
  place.write("priced.yaml", test::throughput_study);
  const ProgramResult study = place.paceline({"study", "priced.yaml", "-o", "out"});
  CAPTURE(study.err);
  REQUIRE(study.exit_code == 0);
  CHECK(contains(study.out, "cost"));
  const auto compared = nlohmann::json::parse(place.paceline({"compare", "out", "--json"}).out);
  // 3.6 an hour and 172.8 / 24 = 7.2 an hour: 10.8 / 3600 a second.
  for (const nlohmann::json& one : compared["ranking"])
    CHECK(one["cost"].get<double>() == doctest::Approx(one["time_s"].get<double>() * 0.003).epsilon(1e-9));
  CHECK(compared["ranking"].size() == 2);
}

TEST_CASE("compare ranks within conditions, pairs by seed, and names who wins in each") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--set", "replications=5"}).exit_code == 0);
  // Each BSP is paired with the ASP of its own speed; the three ASPs with none, not even among each other.
  const CsvFile comparison(place.path() / "out/comparison.csv");
  for (const CsvRow& row : comparison.rows()) {
    CAPTURE(row.text("variant"));
    CHECK(row.text("pairs") == (row.text("variant").starts_with("BSP") ? "5" : ""));
    CHECK(row.number("speedup") <= 1.0);
  }
  const ProgramResult table = place.paceline({"compare", "out"});
  CAPTURE(table.out);
  CHECK(table.exit_code == 0);
  for (const char* part :
       {"Which, and from which speed on?", "ranking", "P(faster than the one above) [90 %]",
        "difference [90 %]", "total effect", "who wins between the labels of `variant`", "samples/update",
        "batch growth", "validity", "speed 0.25: ASP wins, then BSP\n", "The same everywhere: ASP wins."})
    CHECK(contains(table.out, part));
  const auto json =
      nlohmann::json::parse(place.paceline({"compare", "out", "--json", "--against", "BSP, speed 0.25"}).out);
  // The speed of a worker is met, the policy chosen: two compete at each of three speeds.
  CHECK(json.at("conditions") == nlohmann::json::array({"speed"}));
  REQUIRE(json.at("cases").size() == 3);
  REQUIRE(json.at("ranking").size() == 6);
  CHECK(json.at("cases").at(2).at("at") == "speed 0.25");
  CHECK(json.at("cases").at(2).at("winner") == "ASP, speed 0.25");
  CHECK(json.at("cases").at(2).at("reference") == "BSP, speed 0.25");
  CHECK(json.at("ranking").at(5).at("name") == "BSP, speed 0.25");
  CHECK(json.at("ranking").at(5).at("rank") == 2);
  CHECK(json.at("validity").at(0).at("quantity") == "cores");
  const auto& paired = json.at("ranking").at(4).at("against_reference");
  CHECK(paired.at("pairs") == 5);
  CHECK(paired.at("difference").at("interval_s").at("high").get<double>() < 0.0);
  CHECK(paired.at("speedup_interval").at("low") <= paired.at("speedup"));
  CHECK(paired.at("p_faster_interval").at("high").get<double>() < 1.0);
  CHECK(place.paceline({"compare", "out", "--against", "BPS, speed 1"}).exit_code == 2);
  CHECK(place.paceline({"compare", "nowhere"}).exit_code == 2);
}
