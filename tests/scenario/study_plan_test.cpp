#include "sim/scenario/sweep/study_plan.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

constexpr std::string_view head = "study: s\nbase: base.yaml\n";

struct Planned {
  StudyPlan plan;
  std::vector<LoadedScenario> scenarios;
};

Planned planned(const std::string& body, const std::vector<std::string>& overrides = {}) {
  const Folder folder;
  (void)folder.write("base.yaml", good_example);
  Planned result;
  result.plan =
      load_study_plan(folder.write("study.yaml", std::string(head) + body), overrides,
                      [&](std::size_t, LoadedScenario& loaded) { result.scenarios.push_back(loaded); });
  return result;
}

// What is said about a study, without the folder.
std::string said(const std::string& body, const std::vector<std::string>& overrides = {}) {
  const Folder folder;
  (void)folder.write("base.yaml", good_example);
  try {
    (void)load_study_plan(folder.write("study.yaml", std::string(head) + body), overrides);
    return "";
  } catch (const UserError& error) {
    std::string text = error.what();
    const std::string prefix = folder.path().string() + "/";
    for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }
}

std::vector<std::string> names(const StudyPlan& plan) {
  std::vector<std::string> all;
  for (const StudyPoint& point : plan.points) all.push_back(point.name);
  return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a list of values of one key gives one combination each, named after its last word") {
  const Planned result = planned("vary: [{key: batching.initial, values: [32, 48]}]\n");
  CHECK(names(result.plan) == Names{"initial 32", "initial 48"});
  CHECK(result.scenarios[1].scenario.batching.initial_samples == 48);
  CHECK(result.scenarios[1].scenario.name == "initial 48");
  CHECK(value_of(result.scenarios[1], "batching.initial").origin.ends_with("study.yaml:3:45"));
}

TEST_CASE("variants are crossed with every combination of what is varied, the last fastest") {
  const Planned result = planned(
      "variants: [{name: A}, {name: B, set: {seed: 7}}]\n"
      "vary: [{key: batching.initial, values: [32, 48]}, {key: 'cluster.workers[1].speed', values: [1, "
      "0.5]}]\n");
  CHECK(result.plan.columns() == Names{"variant", "initial", "speed"});
  CHECK(names(result.plan).front() == "A, initial 32, speed 1");
  CHECK(names(result.plan)[1] == "A, initial 32, speed 0.5");
  CHECK(names(result.plan).back() == "B, initial 48, speed 0.5");
  REQUIRE(result.scenarios.size() == 8);
  CHECK(result.scenarios.back().scenario.seed == 7);
  CHECK(result.scenarios.back().scenario.cluster.workers[1].speed == 0.5);
  CHECK(result.plan.labels(result.plan.points.back()) == Names{"B", "48", "0.5"});
}

// from + i (to - from) / (points - 1): 10, 50, 90 %; 0.1, 0.2, 0.3.
TEST_CASE("a range has equal differences and both ends, in its unit and in short decimals") {
  const Planned result = planned(
      "vary: [{name: share, range: {from: 10 %, to: 90 %, points: 3}}, {key: 'cluster.workers[1].speed', "
      "range: "
      "{from: 0.1, to: 0.3, points: 3}}]\nset: {synchronization: [{policy: bsp, transport: ring, share: "
      "\"${share}\"}, "
      "{policy: asp, transport: server}]}\n");
  CHECK(result.plan.points.size() == 9);
  CHECK(result.plan.axes[0].points[1].label == "50 %");
  CHECK(result.plan.axes[1].points[2].label == "0.3");
  CHECK(result.scenarios.back().scenario.synchronization[0].share == 0.9);
}

TEST_CASE("a logarithmic range has equal ratios and both ends") {
  // 1, 10, 100: ratio (100/1)^(1/2).
  const Planned result = planned(
      "vary: [{key: cluster.network.bandwidth, range: {from: 1 Gbit/s, to: 100 Gbit/s, points: 3, scale: "
      "log}}]\n");
  CHECK(names(result.plan) == Names{"bandwidth 1 Gbit/s", "bandwidth 10 Gbit/s", "bandwidth 100 Gbit/s"});
  CHECK(result.scenarios[1].scenario.cluster.network.bandwidth.value() == doctest::Approx(1.25e9));
}

TEST_CASE("a range of whole numbers is rounded") {
  // 8, 8 · 32^(1/2) = 45.3, 256
  const Planned result = planned(
      "vary: [{key: batching.initial, range: {from: 8, to: 256, points: 3, scale: log, whole: true}}]\n");
  CHECK(names(result.plan) == Names{"initial 8", "initial 45", "initial 256"});
}

TEST_CASE("key paths that are zipped move together") {
  const Planned result =
      planned("vary: [{name: bounds, zip: {batching.minimum: [8, 16], batching.maximum: [64, 96]}}]\n");
  REQUIRE(result.scenarios.size() == 2);
  CHECK(names(result.plan) == Names{"bounds 8", "bounds 16"});
  CHECK(result.scenarios[1].scenario.batching.minimum_samples == 16);
  CHECK(result.scenarios[1].scenario.batching.maximum_samples == 96);
}

TEST_CASE("cases set several key paths, whole sections among them, under a label") {
  const Planned result = planned(
      "vary:\n  - name: level\n    cases:\n"
      "      - {label: even, set: {cluster.workers: [{repeat: 3, of: {cores: 1}}], seed: 5}}\n"
      "      - {label: uneven, set: {cluster.workers: [{cores: 1, speed: 0.5}, {repeat: 2, of: {cores: "
      "1}}]}}\n");
  CHECK(names(result.plan) == Names{"level even", "level uneven"});
  CHECK(result.scenarios[0].scenario.cluster.workers.size() == 3);
  CHECK(result.scenarios[0].scenario.seed == 5);
  CHECK(result.scenarios[1].scenario.cluster.workers.size() == 3);
  CHECK(result.scenarios[1].scenario.cluster.workers[0].speed == 0.5);
}

TEST_CASE("values may depend on what is varied: in a text, as a number of repetitions, by a table") {
  const Planned result = planned(
      "vary: [{name: workers, values: [2, 4]}]\n"
      "set:\n"
      "  cluster.workers: [{repeat: \"${workers}\", of: {cores: 1}}]\n"
      "  job.optimizer.learning_rate: {lookup: workers, in: {2: 0.1, 4: 0.2}}\n"
      "  question: \"What do ${workers} workers need?\"\n");
  REQUIRE(result.scenarios.size() == 2);
  CHECK(result.scenarios[1].scenario.cluster.workers.size() == 4);
  CHECK(result.scenarios[1].scenario.job.optimizer.learning_rate == 0.2);
  CHECK(result.scenarios[1].scenario.question == "What do 4 workers need?");
}

TEST_CASE("excluded combinations are left out: a rule covers what matches all its labels") {
  const Planned result = planned(
      "variants: [{name: A}, {name: B}]\nvary: [{key: seed, name: s, values: [1, 2, 3]}]\n"
      "exclude: [{variant: B, s: [1, 2]}, {s: 3, variant: A}]\n");
  CHECK(names(result.plan) == Names{"A, s 1", "A, s 2", "B, s 3"});
}

TEST_CASE("replications of a study are those of every combination, and an override wins") {
  CHECK(planned("replications: 7\nvariants: [{name: A}]\n").scenarios[0].scenario.replications == 7);
  CHECK(planned("replications: 7\nvariants: [{name: A}]\n", {"replications=3"})
            .scenarios[0]
            .scenario.replications == 3);
}

TEST_CASE("a scenario that nobody gave replications runs 100 of them with an assumed learner") {
  const Folder folder;
  std::string base = replaced(good_example, "replications: 5\n", "");
  base = replaced(base, "learner: {kind: network}", "learner: {kind: assumed, model: m.json}");
  (void)folder.write("base.yaml", base);
  const std::vector<LoadedScenario> study =
      load_study(folder.write("study.yaml", std::string(head) + "variants: [{name: A}]\n"), {});
  CHECK(study[0].scenario.replications == 100);
  CHECK(value_of(study[0], "replications").value == "100");
}

TEST_CASE("a search may try a number between the listed values") {
  const Planned result =
      planned("vary: [{key: 'cluster.workers[1].speed', range: {from: 1, to: 2, points: 2}}]\n");
  Problems problems;
  const LoadedScenario between =
      result.plan.scenario_with(result.plan.points[0], 0, result.plan.axes[0].at(1.25), problems);
  CHECK_FALSE(problems.has_errors());
  CHECK(between.scenario.cluster.workers[1].speed == 1.25);
}

TEST_CASE("folders of combinations have a number, those of plain variants their name") {
  CHECK(planned("variants: [{name: A b}]\n").plan.folder(0) == "a-b");
  CHECK(planned("vary: [{key: seed, name: s, values: [1, 2]}]\n").plan.folder(1) == "0002-s-2");
}

TEST_CASE("mistakes in what is varied are reported at their place") {
  struct Mistake {
    std::string body;
    std::string message;
  };
  const std::vector<Mistake> mistakes = {
      {"vary: [{key: batching.intial, values: [1]}]\n",
       "study.yaml:3:14: error: unknown key `intial` in `batching`"},
      {"vary: [{key: seed}]\n", "study.yaml:3:8: error: nothing says which values are tried"},
      {"vary: [{key: seed, values: [1], range: {from: 1, to: 2, points: 2}}]\n",
       "study.yaml:3:8: error: several keys say which values are tried"},
      {"vary: [{key: seed, values: [1, 1]}]\n",
       "study.yaml:3:32: error: the label `1` is already used in `seed`"},
      {"vary: [{key: seed, values: [1]}, {key: seed, values: [1]}]\n",
       "the name `seed` is already used in `vary`"},
      {"vary: [{key: seed, name: a b, values: [1]}]\n", "study.yaml:3:26: error: `a b` is not a name"},
      {"vary: [{key: seed, name: run, values: [1]}]\n",
       "the name `run` has a meaning of its own in the results"},
      {"vary: [{key: batching, values: [{controller: uniform}]}]\n",
       "study.yaml:3:33: error: a section, a list or nothing cannot be one of `values`"},
      {"vary: [{name: n, values: [1, 2]}]\n", "study.yaml:3:8: error: `n` changes nothing"},
      {"vary: [{key: seed, range: {from: 1 ms, to: 2 s, points: 2}}]\n",
       "study.yaml:3:44: error: `1 ms` and `2 s` are not written in the same unit"},
      {"vary: [{key: seed, range: {from: 2, to: 1, points: 2}}]\n", "the range ends at `1`, not after `2`"},
      {"vary: [{key: seed, range: {from: a, to: 1, points: 2}}]\n", "`a` does not begin with a number"},
      {"vary: [{key: seed, range: {from: 1, to: 2}}]\n", "missing key `points` in `vary.0.range`"},
      {"vary: [{key: seed, range: {from: 1, to: 2, step: 0, points: 2}}]\n",
       "hint: a range is given by its ends and the number of `points`"},
      {"vary: [{key: seed, range: {from: 0, to: 2, points: 3, scale: log}}]\n",
       "a range with equal ratios begins above 0"},
      {"vary: [{zip: {batching.minimum: [8, 16], batching.maximum: [64]}}]\n",
       "study.yaml:3:42: error: `batching.maximum` has 1 values, `batching.minimum` has 2"},
      {"vary: [{key: seed, values: [1]}]\nset: {question: \"${sed}\"}\n",
       "study.yaml:4:17: error: nothing that is varied has the name `sed`"},
      {"vary: [{key: seed, values: [1, 2]}]\nset: {stop.epochs: {lookup: seed, in: {1: 3}}}\n",
       "there is no value for `seed` 2 (in `seed 2`)"},
      {"vary: [{key: seed, values: [1]}]\nset: {cluster.workers: [{repeat: 0, of: {cores: 1}}]}\n",
       "study.yaml:4:34: error: `repeat` is `0`"},
      {"vary: [{key: seed, values: [1]}]\nexclude: [{sed: 1}]\n",
       "study.yaml:4:12: error: nothing that is varied has the name `sed`"},
      {"vary: [{key: seed, values: [1]}]\nexclude: [{seed: 2}]\n",
       "study.yaml:4:18: error: `seed` has no label `2`"},
      {"vary: [{key: seed, values: [1]}]\nexclude: [{seed: 1}]\n",
       "study.yaml:4:10: error: this leaves no combination: nothing would be run"},
      {"question: none\n",
       "study.yaml:1:1: error: nothing is compared: neither `variants` nor `vary` is given"},
      {"variants: [{name: A}]\nvary: [{key: seed, values: [x]}]\n", "study.yaml:4:29: error: `seed`"},
      {"vary: [{key: seed, values: [1]}]\nfigures: [{name: f, metric: m, against: sed}]\n",
       "study.yaml:4:41: error: nothing that is varied has the name `sed`"},
      {"vary: [{key: seed, values: [1]}]\nfigures: [{name: f, metric: m, against: seed, difference_from: "
       "x}]\n",
       "study.yaml:4:64: error: `x` is no label of this figure's series"},
      {"vary: [{key: seed, values: [1, 2]}]\nfigures: [{name: f, metric: m, against: seed, recorded: r.csv, "
       "series: seed, difference_from: 1}]\n",
       "error: recorded values are not differences"},
      {"vary: [{key: seed, values: [1]}]\nsearch: {method: golden-section, over: seed}\n",
       "study.yaml:4:40: error: `seed` is not varied over a range"},
      {"vary: [{key: seed, values: [1]}]\nfigures: [{name: ../my figure, metric: m, against: seed}]\n",
       "study.yaml:4:18: error: `../my figure` cannot name the files of a figure"},
      {"vary: [{key: seed, values: [1]}]\nfigures: [{name: f, metric: m, against: seed}, {name: f, metric: "
       "m, against: seed}]\n",
       "study.yaml:4:55: error: the name `f` is already used by another figure"},
      {"vary: [{key: seed, values: [1, 2]}]\nfigures: [{name: f, metric: m, against: seed, where: {sed: "
       "1}}]\n",
       "study.yaml:4:55: error: nothing that is varied has the name `sed`"},
      {"variants: [{name: BSP}]\nvary: [{key: seed, values: [1, 2]}]\n"
       "figures: [{name: f, metric: m, against: seed, where: {variant: [BSP, BPS]}}]\n",
       "study.yaml:5:70: error: `variant` has no label `BPS`"},
      {"vary: [{key: seed, values: [1]}]\nsearch: {minimize: money}\n",
       "study.yaml:4:9: error: `search` minimizes money, and no worker has a `price`"},
      {"vary: [{key: seed, values: [1]}]\nset: {cluster.workers: [{cores: 1, price: 1 per hour}, {cores: 1, "
       "price: 1 per hour}]}\n"
       "search: {minimize: money, price_per_core_hour: 1}\n",
       "study.yaml:5:9: error: both the workers' `price` and `price_per_core_hour`"},
      {"vary: [{key: seed, name: a, range: {from: 1, to: 2000, points: 2000}}, {key: batching.initial, "
       "range: {from: 1, "
       "to: 2000, points: 2000}}]\n",
       "error: these are more than 1000000 combinations"},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.body);
    const std::string text = said(mistake.body);
    CAPTURE(text);
    CHECK(text.find(mistake.message) != text.npos);
  }
}

TEST_CASE("what a variant or a point sets, the study's own `set` leaves alone") {
  const auto undone = [](const std::string& set) {
    return said("variants: [{name: A, set: {batching.initial: 16}}]\nset: {" + set + "}\n");
  };
  CHECK(undone("batching.initial: 32")
            .starts_with("study.yaml:4:7: error: `batching.initial` would undo what the variant `A` sets at "
                         "study.yaml:3:28"));
  CHECK(undone("batching: {controller: uniform, initial: 32}").find("`batching` would undo") !=
        std::string::npos);
  CHECK(undone("stop.epochs: 1").empty());
  CHECK(said("vary: [{key: seed, values: [1, 2]}]\nset: {seed: 3}\n")
            .find("`seed` would undo what `seed` in `vary` sets at study.yaml:3:14") != std::string::npos);
  CHECK(said("replications: 2\nvariants: [{name: A, set: {replications: 3}}]\n")
            .find("study.yaml:3:15: error: `replications` would undo what the variant `A` sets") !=
        std::string::npos);
}

TEST_CASE("within a section or list of a variant the study's `set` adds, and replaces nothing") {
  const auto within = [](const std::string& sets, const std::string& set) {
    return said("variants: [{name: A, set: {" + sets + "}}]\nset: {" + set + "}\n");
  };
  const auto refused = [&](const std::string& sets, const std::string& set) {
    return within(sets, set).find("would undo what the variant `A` sets at study.yaml:3:28") !=
           std::string::npos;
  };
  const std::string section = "batching: {controller: uniform, initial: 16}";
  CHECK(refused(section, "batching.initial: 32"));
  CHECK(within(section, "batching.minimum: 4").empty());
  const std::string phases = "synchronization: [{policy: bsp, transport: ring, share: 50 %}, {policy: asp}]";
  CHECK(refused(phases, "'synchronization[0].share': 25 %"));
  CHECK(within(phases, "'synchronization[1].transport': server").empty());
  // Two ways to write an index, and to repeat: workers 0 and 1 have a price, worker 2 has none.
  for (const char* repeated :
       {"{repeat: 2, cores: 1, price: 1 per hour}", "{repeat: 2, of: {cores: 1, price: 1 per hour}}"}) {
    const std::string workers = std::string("cluster.workers: [") + repeated + ", {cores: 1}]";
    CHECK(refused(workers, "'cluster.workers[1].price': 2 per hour"));
    CHECK(within(workers, "cluster.workers.2.price: 2 per hour").empty());
  }
  CHECK(refused("'cluster.workers[1].speed': 0.5", "cluster.workers.1.speed: 1"));
  CHECK(refused("'cluster.workers[1].speed': 0.5", "cluster.workers: [{cores: 1}]"));
  const Planned added =
      planned("variants: [{name: A, set: {" + section + "}}]\nset: {batching.minimum: 4}\n");
  CHECK(added.scenarios[0].scenario.batching.initial_samples == 16);
  CHECK(added.scenarios[0].scenario.batching.minimum_samples == 4);
}

TEST_CASE("how long a variant's list is may depend on the combination, and so what would be undone") {
  // Of n = 1 worker with a price and one without, number 1 has none; of n = 2 and one it has.
  const std::string text = said(
      "variants: [{name: A, set: {cluster.workers: [{repeat: \"${n}\", of: {cores: 1, price: 1 per hour}}, "
      "{cores: 1}]}}]\nvary: [{name: n, values: [1, 2]}]\nset: {'cluster.workers[1].price': 2 per hour}\n");
  CHECK(text.find("would undo what the variant `A` sets at study.yaml:3:28 (in `A, n 2`)") != text.npos);
}

TEST_CASE("neither `vary` nor a list of keys undoes silently what the study set before") {
  CHECK(said("variants: [{name: A, set: {seed: 7}}]\nvary: [{key: seed, values: [1, 2]}]\n")
            .find("study.yaml:4:14: error: `seed` would undo what the variant `A` sets") !=
        std::string::npos);
  CHECK(said("vary: [{key: seed, values: [1]}, {key: seed, name: other, values: [2]}]\n")
            .find("study.yaml:3:40: error: `seed` would undo what `seed` in `vary` sets") !=
        std::string::npos);
  CHECK(said("variants: [{name: A}]\nset: {batching.initial: 16, batching: {controller: uniform, initial: "
             "32}}\n")
            .find("study.yaml:4:29: error: `batching` would undo what the study sets at study.yaml:4:7") !=
        std::string::npos);
}

TEST_CASE("an override of what is varied is refused, because names would become untrue") {
  const std::string text = said("vary: [{key: batching.initial, values: [32]}]\n", {"batching.initial=16"});
  CHECK(text.starts_with(
      "--set batching.initial=16: error: `batching.initial` is what `initial` in `vary` sets"));
  CHECK(said("vary: [{key: 'cluster.workers[1].speed', values: [1]}]\n", {"cluster.workers.1.speed=2"})
            .find("is what `speed` in `vary` sets") != std::string::npos);
}

TEST_CASE("a mistake that many combinations share names three of them and counts the others") {
  const std::string text = said(
      "variants: [{name: A, set: {sed: 1}}, {name: B}]\nvary: [{key: seed, name: s, values: [1, 2, 3, 4, "
      "5]}]\n");
  CHECK(text.find("unknown key `sed` (in `A, s 1`, `A, s 2`, `A, s 3` and 2 more)") != text.npos);
}

}  // namespace paceline::test
