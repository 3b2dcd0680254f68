// Workers written once for several, their names, and slow stretches that come again.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr const char* workers = "[{cores: 2}, {cores: 1}, {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}]";

std::string with_workers(const char* list) {
  return replaced(good_example, workers, list);
}

std::string with_heterogeneity(const char* text) {
  return replaced(good_example, "jitter:", fmt::format("heterogeneity: {}\njitter:", text));
}

void check_said(const std::string& text, const char* what) {
  CAPTURE(what);
  const std::string said = complaint(text);
  CAPTURE(said);
  CHECK(said.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("a worker with `repeat` stands for so many, numbered by name from 1 and counted one by one") {
  const Scenario scenario =
      load_text(
          with_workers("[{name: big, repeat: 2, cores: 16}, {repeat: 2, cores: 8}, {name: old, cores: 4}]"))
          .scenario;
  const std::vector<Worker>& list = scenario.cluster.workers;
  REQUIRE(list.size() == 5);
  CHECK(list[0] == Worker{.cores = 16, .name = "big 1"});
  CHECK(list[1] == Worker{.cores = 16, .name = "big 2"});
  CHECK(list[2] == Worker{.cores = 8});
  CHECK(list[3] == Worker{.cores = 8});
  CHECK(list[4] == Worker{.cores = 4, .name = "old"});
  CHECK(name_of(list, 1) == "big 2");
  CHECK(name_of(list, 3) == "worker 3");
}

TEST_CASE("`repeat: 1` is one worker, whose name has no number") {
  const Scenario scenario = load_text(with_workers("[{name: a, repeat: 1, cores: 1}, {cores: 1}]")).scenario;
  CHECK(scenario.cluster.workers.size() == 2);
  CHECK(scenario.cluster.workers[0].name == "a");
}

TEST_CASE("an override names a worker by its place among all, and may bring repeated ones itself") {
  const std::vector<std::string> overrides = {"cluster.workers=[{repeat: 3, cores: 4}]",
                                              "cluster.workers.2.speed=0.5"};
  const Scenario scenario = load_text(std::string(good_example), overrides).scenario;
  REQUIRE(scenario.cluster.workers.size() == 3);
  CHECK(scenario.cluster.workers[1].speed == 1.0);
  CHECK(scenario.cluster.workers[2].speed == 0.5);
  CHECK(complaint(std::string(good_example), {"cluster.workers.0.repeat=2"})
            .find("error: `repeat` cannot be set alone") != std::string::npos);
}

TEST_CASE("workers that are written out and repeated ones are the same job: nothing of `repeat` remains") {
  const auto values = [](const char* list) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const ResolvedValue& value : load_text(with_workers(list)).values)
      if (value.key != "job.profile")
        all.emplace_back(value.key, value.value);  // a folder of its own for each
    return all;
  };
  CHECK(values("[{repeat: 2, cores: 4}, {cores: 1}]") == values("[{cores: 4}, {cores: 4}, {cores: 1}]"));
}

TEST_CASE("a count of workers that makes no sense, and a name given twice, are refused with their place") {
  check_said(with_workers("[{repeat: 0, cores: 1}, {cores: 1}]"),
             "error: `cluster.workers.0.repeat`: `0` is out of range");
  check_said(with_workers("[{repeat: 1.5, cores: 1}, {cores: 1}]"),
             "expected a whole number from 1 to 65536");
  check_said(with_workers("[{repeat: [2], cores: 1}, {cores: 1}]"), "`cluster.workers.0.repeat` must be");
  check_said(with_workers("[{repeat: 99999999, cores: 1}]"), "`99999999` is out of range");
  check_said(with_workers("[{name: a, cores: 1}, {name: a, cores: 2}]"),
             "error: workers 0 and 1 have the same name, `a`");
  check_said(with_workers("[{name: a, repeat: 2, cores: 1}, {name: a 2, cores: 2}]"),
             "error: workers 1 and 2 have the same name, `a 2`");
}

TEST_CASE("a straggler comes once for `duration`, or again and again by `every` and `for`") {
  const Scenario scenario =
      load_text(with_heterogeneity(
                    "{stragglers: [{worker: 1, from: 10 min, every: 1 h, for: 20 min, slowdown: 4}], "
                    "schedule: [{at: 0 s, every: 2 h, for: 30 min, workers: [0], speed: [0.5]}]}"))
          .scenario;
  const Straggler& straggler = scenario.heterogeneity.changes.stragglers.front();
  CHECK(straggler.every == Seconds{3600.0});
  CHECK(straggler.lasts() == Seconds{1200.0});
  const Level& level = scenario.heterogeneity.changes.schedule.front();
  CHECK(level.every == Seconds{7200.0});
  CHECK(level.for_long == Seconds{1800.0});
  const auto straggling = [](const char* times) {
    return with_heterogeneity(
        fmt::format("{{stragglers: [{{worker: 1, from: 1 s, slowdown: 2, {}}}]}}", times).c_str());
  };
  check_said(straggling("every: 1 h, for: 2 h"), "error: `for` is longer than `every`");
  check_said(straggling("every: 1 h"), "error: `every` needs `for`");
  check_said(straggling("for: 1 h"), "error: `for` needs `every`");
  check_said(straggling("every: 1 h, duration: 1 s"), "error: `every` needs `for`");
  check_said(straggling("every: 1 h, for: 1 min, duration: 1 s"), "error: both `duration` and `for`");
  check_said(straggling("round_trips: 2, added_latency: 1 ms"),
             "error: nothing says how long the straggler lasts");
  check_said(straggling("every: 0 s, for: 1 s"), "is out of range");
  check_said(
      with_heterogeneity("{schedule: [{at: 1 s, every: 1 min, for: 1 h, workers: [0], speed: [0.5]}]}"),
      "error: `for` is longer than `every`");
  check_said(with_heterogeneity("{schedule: [{at: 1 s, every: 1 min, workers: [0], speed: [0.5]}]}"),
             "error: `every` needs `for`");
}

TEST_CASE("an accuracy is a number or in percent, and is printed as the number") {
  const auto target = [](const char* text) {
    return load_text(replaced(good_example, "accuracy: 0.80", fmt::format("accuracy: {}", text)));
  };
  CHECK(target("88 %").scenario.stop.accuracy == 0.88);
  CHECK(target("88%").scenario.stop.accuracy == 0.88);
  CHECK(target("88.3 %").scenario.stop.accuracy == 0.883);
  CHECK(target("0.883").scenario.stop.accuracy == 0.883);
  for (const ResolvedValue& value : target("88 %").values)
    if (value.key == "stop.accuracy") CHECK(value.value == "0.88");
  check_said(replaced(good_example, "accuracy: 0.80", "accuracy: 880 %"),
             "error: `stop.accuracy`: `880 %` is out of range");
  check_said(replaced(good_example, "accuracy: 0.80", "accuracy: 88"),
             "error: `stop.accuracy`: `88` is out of range");
  check_said(replaced(good_example, "accuracy: 0.80", "accuracy: 0 %"), "is out of range");
}

TEST_CASE("a mistake written once for several workers is one mistake") {
  const std::string said = complaint(with_workers("[{repeat: 2, core: 2}, {repeat: 2, cores: 1}]"));
  CAPTURE(said);
  CHECK(said.find("2 errors") != std::string::npos);  // `core` is unknown, `cores` is missing
}

TEST_CASE("who straggles, leaves or is on a level may be called by name, and is the same run as by number") {
  const std::string list =
      with_workers("[{name: big, repeat: 2, cores: 16}, {cores: 8}, {name: old, cores: 4}]");
  const auto heterogeneity = [&](const char* text) {
    return load_text(replaced(list, "jitter:", fmt::format("heterogeneity: {}\njitter:", text)));
  };
  const LoadedScenario by_name = heterogeneity(
      "{stragglers: [{worker: big 2, from: 1 s, duration: 1 s, slowdown: 2}], membership: [{at: 1 s, worker: "
      "old, event: leaves}], schedule: [{at: 1 s, workers: [2, old], speed: [1, 0.5]}]}");
  const LoadedScenario by_number = heterogeneity(
      "{stragglers: [{worker: 1, from: 1 s, duration: 1 s, slowdown: 2}], membership: [{at: 1 s, worker: 3, "
      "event: leaves}], schedule: [{at: 1 s, workers: [2, 3], speed: [1, 0.5]}]}");
  REQUIRE(by_name.values.size() == by_number.values.size());
  for (std::size_t i = 0; i < by_name.values.size(); ++i)
    if (by_name.values[i].key.starts_with("heterogeneity."))
      CHECK(by_name.values[i].value == by_number.values[i].value);
}

TEST_CASE("an unknown worker is refused once, at its place, with the nearest name") {
  const std::string list =
      with_workers("[{name: big, repeat: 2, cores: 16}, {cores: 8}, {name: \"7\", cores: 4}]");
  const auto said = [&](const std::string& workers_text) {
    return complaint(replaced(
        list, "jitter:",
        fmt::format("heterogeneity: {{schedule: [{{at: 1 s, workers: {}, speed: [1, 1]}}]}}\njitter:",
                    workers_text)));
  };
  CHECK(said("[big 1, bgi 2]").find("no worker has the name `bgi 2`") != std::string::npos);
  CHECK(said("[big 1, bgi 2]").find("hint: did you mean `big 2`?") != std::string::npos);
  CHECK(said("[0, bgi 1]").find("twice") == std::string::npos);
  CHECK(said("[0, somebody else]").find("their names: big 1; big 2; 7") != std::string::npos);
  CHECK(said("[0, 7]").find("there is no worker 7: they are 0 to 3") != std::string::npos);
  CHECK(said("[0, \"7\"]").empty());
  CHECK(said("[0, -1]").find("out of range") != std::string::npos);
}
