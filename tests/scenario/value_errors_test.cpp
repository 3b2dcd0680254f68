// Mistakes in keys and values: each changes the good example in one place and is reported there, once.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

struct Mistaken {
  const char* from;
  const char* to;
  const char* said;  // after "scenario.yaml:"
};

// The message is the only one: one mistake, one error.
void check_said(const Mistaken& example) {
  const std::string said = complaint(replaced(good_example, example.from, example.to));
  CAPTURE(example.to);
  CAPTURE(said);
  CHECK(said.starts_with(fmt::format("scenario.yaml:{}\n", example.said)));
  CHECK(said.ends_with("\n1 error in scenario.yaml\n"));
}

TEST_CASE("an unknown key is reported at the key, with a suggestion") {
  const std::string said =
      complaint(replaced(good_example, ", bandwidth: 1 G", ", bandwidth: 1 Gbit/s, latncy: 1 G"));
  CHECK(said ==
        "scenario.yaml:14:50: error: unknown key `latncy` in `cluster.network`\n"
        "  14 |   network: {topology: star, bandwidth: 1 Gbit/s, latncy: 1 Gbit/s, latency: 50 us, "
        "server_bandwidth: "
        "10 Gbit/s}\n"
        "     |                                                  ^\n"
        "hint: did you mean `latency`?\n"
        "1 error in scenario.yaml\n");
}

TEST_CASE("an unknown key that resembles none gets the list of those accepted") {
  const std::string said = complaint(replaced(good_example, "{epochs: 20,", "{epochs: 20, colour: red,"));
  CHECK(said.find("30:20: error: unknown key `colour` in `stop`") != said.npos);
  CHECK(said.find("hint: accepted here: epochs, accuracy, evaluations_in_a_row\n") != said.npos);
}

TEST_CASE("a missing key is reported at its section") {
  check_said({"  network: small-cnn\n", "", "6:1: error: missing key `network` in `job`"});
  check_said({"{cores: 2}, ", "{speed: 2}, ", "13:13: error: missing key `cores` in `cluster.workers.0`"});
  check_said({"name: quickstart-bsp\n", "", "2:1: error: missing key `name`"});
  check_said(
      {"{epochs: 20, accuracy: 0.80}", "{accuracy: 0.80}", "30:1: error: missing key `epochs` in `stop`"});
}

TEST_CASE("every required section is asked for") {
  for (const char* line :
       {"learner: {kind: network}\n", "evaluation: {every: 2048 samples, who_pays: free}\n"}) {
    const std::string said = complaint(replaced(good_example, line, ""));
    const std::string key(line, std::string_view(line).find(':'));
    CHECK(said.starts_with(fmt::format("scenario.yaml:2:1: error: missing key `{}`\n", key)));
  }
}

TEST_CASE("a value of the wrong kind is reported at the value") {
  check_said({"name: quickstart-bsp", "name: [a]", "2:7: error: `name` must be a text, found a list"});
  check_said({"{kind: network}", "network",
              "28:10: error: `learner` must be a section with keys of its own, found a "
              "single value"});
  check_said({"[15, 18]", "15",
              "11:54: error: `job.learning_rate_schedule.milestones` must be a list with one "
              "item for each milestone, found a single value"});
  check_said({"{cores: 2}, ", "2, ",
              "13:13: error: `cluster.workers.0` must be a section with keys of its own, found a "
              "single value"});
}

TEST_CASE("an empty value is reported at its key") {
  check_said({"seed: 1", "seed:", "4:1: error: `seed` is empty"});
  check_said({"{kind: network}", "", "28:1: error: `learner` is empty"});
  check_said({"every: 2048 samples", "every:", "29:14: error: `evaluation.every` is empty"});
  check_said(
      {"name: quickstart-bsp", "name: \"\"", "2:7: error: `name`: expected a text, found an empty one"});
}

TEST_CASE("whole numbers are written in digits") {
  check_said(
      {"seed: 1", "seed: 1e3",
       "4:7: error: `seed`: expected a whole number from 0 to 4294967295, in plain digits; found `1e3`"});
  CHECK(complaint(replaced(good_example, "seed: 1", "seed: 1e3")).find("hint: write 1000\n") !=
        std::string::npos);
  check_said({"train_samples: 8192", "train_samples: 8192.0",
              "9:51: error: `job.dataset.train_samples`: expected a whole number, at least 1, in plain "
              "digits; found "
              "`8192.0`"});
  check_said({"seed: 1", "seed: 010",
              "4:7: error: `seed`: `010` starts with a zero, which some readers take as octal"});
  check_said({"seed: 1", "seed: \"1\"",
              "4:7: error: `seed`: expected a whole number from 0 to 4294967295, found a quoted text"});
  check_said({"seed: 1", "seed: 4294967296", "4:7: error: `seed`: `4294967296` is out of range"});
  check_said({"seed: 1", "seed: 99999999999999999999",
              "4:7: error: `seed`: `99999999999999999999` is out of range"});
  check_said({"seed: 1", "seed: -1", "4:7: error: `seed`: `-1` is out of range"});
  check_said(
      {"seed: 1", "seed: 0x10",
       "4:7: error: `seed`: expected a whole number from 0 to 4294967295, in plain digits; found `0x10`"});
  CHECK(complaint(replaced(good_example, "seed: 1", "seed: 4294967295")).empty());
}

TEST_CASE("truth values are true or false") {
  for (const char* word : {"yes", "no", "on", "True", "0"}) {
    const std::string said =
        fmt::format("10:81: error: `job.optimizer.nesterov`: expected `true` or `false`, found `{}`", word);
    check_said({"nesterov: false", fmt::format("nesterov: {}", word).c_str(), said.c_str()});
  }
}

TEST_CASE("numbers have a range, and only an accuracy may be in percent") {
  check_said({"learning_rate: 0.05", "learning_rate: 0",
              "10:30: error: `job.optimizer.learning_rate`: `0` is out of range"});
  check_said({"momentum: 0.9", "momentum: 1", "10:46: error: `job.optimizer.momentum`: `1` is out of range"});
  check_said({"speed: 0.25", "speed: -1", "13:79: error: `cluster.workers.3.speed`: `-1` is out of range"});
  check_said({"speed: 0.25", "speed: .inf",
              "13:79: error: `cluster.workers.3.speed`: expected a number above 0, found `.inf`"});
  check_said({"accuracy: 0.80", "accuracy: 80", "30:30: error: `stop.accuracy`: `80` is out of range"});
  check_said({"factor: 0.2", "factor: 20 %",
              "11:72: error: `job.learning_rate_schedule.factor`: expected a number above 0 and "
              "at most 1, found `20 %`"});
  check_said({"factor: 0.2", "factor: a",
              "11:72: error: `job.learning_rate_schedule.factor`: expected a number above 0 and "
              "at most 1, found `a`"});
}

TEST_CASE("quantities need their unit and have a range") {
  check_said({"latency: 50 us", "latency: 50", "14:59: error: `cluster.network.latency`: `50` has no unit"});
  check_said(
      {"latency: 50 us", "latency: 50 MB",
       "14:59: error: `cluster.network.latency`: wrong unit `MB`: that is a size, a duration is expected"});
  check_said({"latency: 50 us", "latency: -1 us",
              "14:59: error: `cluster.network.latency`: `-1 us` is out of range"});
  check_said({" bandwidth: 1 Gbit/s", " bandwidth: 0 Gbit/s",
              "14:40: error: `cluster.network.bandwidth`: `0 Gbit/s` is out of range"});
  check_said({"run: 1 %", "run: 0.01", "27:15: error: `jitter.run`: `0.01` has no unit"});
  check_said({"run: 1 %", "run: 101 %", "27:15: error: `jitter.run`: `101 %` is out of range"});
  check_said({"10 iterations", "10", "25:17: error: `batching.adjust_every`: `10` has no unit"});
  check_said({"10 iterations", "0 iterations",
              "25:17: error: `batching.adjust_every`: `0 iterations` is out of range"});
  check_said({"2048 samples", "2048", "29:21: error: `evaluation.every`: `2048` has no unit"});
  check_said({"2048 samples", "0.5 samples",
              "29:21: error: `evaluation.every`: `0.5 samples` is not a whole number of samples"});
  check_said({"2048 samples", "0 epochs", "29:21: error: `evaluation.every`: `0 epochs` is out of range"});
}

TEST_CASE("a range error says the range in the unit of the value") {
  const std::string said = complaint(replaced(good_example, "run: 1 %", "run: 101 %"));
  CHECK(said.find("hint: expected a percentage from 0 % to 100 %, such as `25 %`\n") != said.npos);
}

TEST_CASE("a word outside the choice gets a suggestion and the list") {
  const std::string said = complaint(replaced(good_example, "controller: dynamic", "controller: dinamic"));
  CHECK(said.find("scenario.yaml:19:15: error: `batching.controller`: unknown value `dinamic`\n") !=
        said.npos);
  CHECK(said.find("hint: did you mean `dynamic`? expected one of: uniform, static, dynamic, published, "
                  "omnilearn-code, proportional-repair, lb-bsp\n") != said.npos);
}

TEST_CASE("an empty list of workers or phases is refused") {
  check_said({"[{cores: 2}, {cores: 1}, {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}]", "[]",
              "13:12: error: `cluster.workers` has 0 items, at least 1 worker is needed"});
}

TEST_CASE("all mistakes of a file are reported together, in the order of its lines, and counted") {
  std::string text = replaced(good_example, "seed: 1", "sed: 1");
  text = replaced(text, "latency: 50 us", "latency: 50");
  text = replaced(text, "{kind: network}", "{kind: none}");
  const std::string said = complaint(text);
  const std::size_t first = said.find("4:1: error: unknown key `sed`");
  const std::size_t second = said.find("14:59: error:");
  const std::size_t third = said.find("30:30: error:");
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third != said.npos);
  CHECK(said.ends_with("\n3 errors in scenario.yaml\n"));
}

}  // namespace
}  // namespace paceline::test
