// Scenarios with a statistical learner, as a person at a terminal meets them.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/assumed_learner.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
namespace fs = std::filesystem;

namespace {

const std::string profile_text = paceline::test::round_profile("big");

constexpr const char* assumed_scenario = R"(name: big
replications: 2
job:
  network: big
  profile: profile.json
  dataset: {train_samples: 4096}
  optimizer: {learning_rate: 0.05, momentum: 0.9}
cluster:
  workers: [{cores: 1}, {cores: 1}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: uniform, initial: 32}
learner: {kind: assumed, model: learner.json}
evaluation: {every: 4096 samples, who_pays: free}
stop: {epochs: 10, accuracy: 0.6}
)";

struct LearnerPlace : test::Workplace {
  LearnerPlace()
      : test::Workplace(PACELINE_PROGRAM, {{"profile.json", profile_text},
                                           {"scenario.yaml", assumed_scenario},
                                           {"learner.json", test::assumed_learner}}) {}
};

}  // namespace

TEST_CASE("a job with an assumed learner reaches its target, and the results say that it is assumed") {
  const LearnerPlace place;
  const ProgramResult run = place.paceline({"run", "scenario.yaml", "-o", "out"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "is assumed: losses and accuracies are not those of recorded runs"));
  CHECK(contains(read_file(place.path() / "out" / "manifest.json"), "is assumed: losses"));
  CHECK(contains(read_file(place.path() / "out" / "summary.csv"), "target-reached"));
}

TEST_CASE("study, compare and search mark an assumed learner in tables and figures") {
  const LearnerPlace place;
  const std::string mark = "Assumed learner: no recorded runs stand behind its accuracies";
  place.write("study.yaml",
              "study: s\nbase: scenario.yaml\nreplications: 2\n"
              "vary: [{key: cluster.workers.1.speed, values: [1, 0.5]}]\nsearch: {replications: 2}\n");
  const ProgramResult study = place.paceline({"study", "study.yaml", "-o", "out"});
  INFO(study.err);
  CHECK(study.exit_code == 0);
  CHECK(contains(study.out, mark));
  CHECK(contains(place.paceline({"compare", "out"}).out, mark));
  CHECK(contains(place.paceline({"compare", "out", "--json"}).out, "\"assumed_learner\": true"));
  CHECK(place.paceline({"plot", "out", "-o", "figures"}).exit_code == 0);
  CHECK(contains(read_file(place.path() / "figures" / "study.gp"), "assumed learner"));
  CHECK(contains(place.paceline({"search", "study.yaml", "-o", "found"}).out, mark));
}

TEST_CASE(
    "a search says the mean final accuracy of a setting's runs, of two runs the median that a study says") {
  const LearnerPlace place;
  place.write("study.yaml",
              "study: s\nbase: scenario.yaml\nreplications: 2\n"
              "vary: [{key: cluster.workers.1.speed, values: [1, 0.5]}]\nsearch: {replications: 2}\n");
  const auto json_of = [&](const std::vector<std::string>& arguments) {
    return nlohmann::json::parse(place.paceline(arguments).out);
  };
  CHECK(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  const auto compared = json_of({"compare", "out", "--json"}).at("ranking");
  const auto tried = json_of({"search", "study.yaml", "-o", "found", "--json"}).at(0).at("tried");
  REQUIRE(tried.size() == 2);
  for (const auto& one : tried)
    for (const auto& ranked : compared)
      if (ranked.at("name") == one.at("name")) {
        CHECK(one.at("mean_final_accuracy").get<double>() > 0.1);
        CHECK(one.at("mean_final_accuracy").get<double>() ==
              doctest::Approx(ranked.at("final_accuracy").get<double>()));
      }
}

TEST_CASE("local steps want a learner fitted to them, and more than it was fitted to are an extrapolation") {
  const LearnerPlace place;
  const auto run = [&](const std::string& steps) {
    return place.paceline(
        {"run", "scenario.yaml", "-o", "out", "--force", "--set",
         "synchronization=[{policy: bsp, transport: ring, local: {steps: " + steps + "}}]"});
  };
  const ProgramResult refused = run("4");
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "learner.json is assumed to hold for no workers that train locally"));
  std::string learner = test::assumed_learner;
  learner.replace(learner.find("\"version\": 3"), 12, "\"version\": 6");
  learner.replace(learner.find("\"classes\": 10,"), 14,
                  "\"network\": {\"name\": \"big\", \"parameter_count\": null}, "
                  "\"dataset\": {\"name\": null, \"classes\": 10}, \"members\": [], "
                  "\"model_error\": {\"final_accuracy\": 0, \"speed\": 0, \"noise\": 0},");
  learner.replace(learner.find("\"ceiling\": 0.9,"), 15, "\"ceiling\": 0.9, \"drift\": 0.5,");
  learner.replace(learner.find("\"samples_max\": 1000000"), 22,
                  "\"samples_max\": 1000000, \"local_steps_max\": 8");
  place.write("learner.json", learner);
  const auto said_of_steps = [&](const std::string& steps) {
    const ProgramResult ran = run(steps);
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
    const std::size_t at = ran.out.find("local steps");
    REQUIRE(at != std::string::npos);
    return ran.out.substr(at, ran.out.find('\n', at) - at);
  };
  CHECK(contains(said_of_steps("4"), "inside"));
  CHECK(contains(said_of_steps("16"), "outside"));
}

TEST_CASE("a manifest says by how much groups left out of a learner's fit were missed, beside null models") {
  // Errors of 0.01 and -0.03: 0.02 on average; null models are known for the second: 0.05 and -0.04.
  const LearnerPlace place;
  const auto manifest = [&] {
    CHECK(place.paceline({"run", "scenario.yaml", "-o", "out", "--force"}).exit_code == 0);
    return read_file(place.path() / "out" / "manifest.json");
  };
  CHECK(contains(manifest(), "no recorded runs were left out of it, so its error is not known"));
  std::string learner = test::assumed_learner;
  learner.insert(learner.rfind('}'),
                 R"(, "left_out": [{"error": 0.01},
                    {"error": -0.03, "error_first_protocol": 0.05, "error_linear": -0.04},
                    {"error": null}])");
  place.write("learner.json", learner);
  const std::string text = manifest();
  CHECK(contains(text,
                 "final accuracies of 2 groups of recorded runs left out are missed by 0.0200 on average"));
  CHECK(contains(text,
                 "of the 1 of them that null models predict, by 0.0300; what the first policy reaches misses "
                 "them by 0.0500, a mixture of the pure policies by 0.0400"));
  CHECK_FALSE(contains(text, "so its error is not known"));
}

TEST_CASE("another learner file makes other runs: their ids differ") {
  const LearnerPlace place;
  place.write("study.yaml", "study: s\nbase: scenario.yaml\nvary: [{key: seed, values: [1]}]\n");
  const auto first_id = [&] { return place.paceline({"study", "study.yaml", "--list"}).out.substr(0, 16); };
  const std::string before = first_id();
  CHECK(first_id() == before);
  std::string changed = test::assumed_learner;
  changed.replace(changed.find("\"staleness_max\": 3"), 18, "\"staleness_max\": 4");
  place.write("learner.json", changed);
  CHECK(first_id() != before);
}

TEST_CASE("an assumed model is not used as a fitted one, and a missing file is reported at its place") {
  const LearnerPlace place;
  const ProgramResult assumed =
      place.paceline({"run", "scenario.yaml", "-o", "out", "--set", "learner.kind=statistical"});
  CHECK(assumed.exit_code == 2);
  CHECK(contains(assumed.err, "no recorded runs stand behind"));
  CHECK(contains(assumed.err, "kind: assumed"));
  const ProgramResult missing =
      place.paceline({"run", "scenario.yaml", "-o", "out", "--set", "learner.model=none.json"});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "there is no learner"));
}

TEST_CASE("a learner of another network or data set is refused, and as an assumed one named in the results") {
  const LearnerPlace place;
  std::string recorded = test::assumed_learner;
  const auto put = [&](const std::string& from, const std::string& to) {
    recorded.replace(recorded.find(from), from.size(), to);
  };
  put("\"version\": 3", "\"version\": 4");
  put("\"source\": \"assumed\", \"fitted_on\": []",
      "\"source\": \"recorded\", \"fitted_on\": [\"bsp\"], \"command\": \"paceline fit logs.yaml\"");
  put("\"classes\": 10",
      "\"network\": {\"name\": \"big\", \"parameter_count\": null}, \"dataset\": {\"name\": \"cifar10\", "
      "\"classes\": 10}");
  place.write("recorded.json", recorded);
  const auto check = [&](const std::string& kind, const std::string& dataset) {
    return place.paceline({"check", "scenario.yaml", "--set",
                           "learner={kind: " + kind + ", model: recorded.json}", "--set",
                           "job.dataset={train_samples: 4096" + dataset + "}"});
  };
  const ProgramResult same = check("statistical", ", name: cifar10");
  INFO(same.err);
  CHECK(same.exit_code == 0);
  const ProgramResult unnamed = check("statistical", "");
  CHECK(unnamed.exit_code == 2);
  CHECK(contains(unnamed.err, "nothing says which data set this is"));
  for (const char* other : {", name: cifar100", ", name: cifar10-halves, classes: 5"}) {
    CAPTURE(other);
    const ProgramResult refused = check("statistical", other);
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err,
                   "the learner recorded.json is of big on cifar10 (10 classes), the job trains big"));
    CHECK(contains(refused.err, "kind: assumed"));
    const ProgramResult assumed = check("assumed", other);
    CHECK(assumed.exit_code == 0);
    CHECK(
        contains(assumed.err, "the learner recorded.json is borrowed: it is of big on cifar10 (10 classes)"));
  }
}

TEST_CASE("use outside the ranges of the learner is noted before and after the runs") {
  const LearnerPlace place;
  const ProgramResult run =
      place.paceline({"run", "scenario.yaml", "-o", "out", "--set", "cluster.workers=[{cores: 1, repeat: 6}]",
                      "--set", "batching.initial=16"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  // 6 of 2 to 4 workers is beyond by a factor of 1.5, 16 of 32 to 128 samples by 2.
  for (const char* part : {"validity", "workers", "near", "update (samples)", "outside", "learner.json"})
    CHECK(contains(run.out, part));
  CHECK(contains(run.err, "were staler than the 3 updates learner.json is assumed to hold for"));
  const std::string summary = read_file(place.path() / "out" / "summary.json");
  CHECK(contains(summary, "\"quantity\": \"workers\""));
  CHECK(contains(summary, "\"validity\": \"near\""));
}

TEST_CASE("in a comparison a note about stale gradients is there once, with the number of runs it is about") {
  const LearnerPlace place;
  const std::string workers =
      "cluster.workers: [{cores: 1}, {cores: 1}, {cores: 1}, {cores: 1}, {cores: 1}, "
      "{cores: 1}]";
  place.write("study.yaml", "study: two\nbase: scenario.yaml\nvariants:\n  - {name: all wait, set: {" +
                                workers +
                                ", synchronization: [{policy: bsp, transport: ring}]}}\n"
                                "  - {name: nobody waits, set: {" +
                                workers + "}}\n");
  const ProgramResult study = place.paceline({"study", "study.yaml", "-o", "out"});
  INFO(study.err);
  CHECK(study.exit_code == 0);
  // Two replications of two variants; those that wait for all have no stale gradients.
  CHECK(contains(study.err,
                 "were staler than the 3 updates learner.json is assumed to hold for (2 of 4 runs)"));
}

TEST_CASE(
    "a learning rate and a momentum the learner was not fitted on are said before the runs, also by check") {
  const LearnerPlace place;
  const std::vector<std::string> set{"--set", "job.optimizer.momentum=0.5", "--set",
                                     "job.optimizer.learning_rate=0.3"};
  for (std::vector<std::string> command : {std::vector<std::string>{"run", "scenario.yaml", "-o", "out"},
                                           std::vector<std::string>{"check", "scenario.yaml"}}) {
    INFO(command.front());
    command.insert(command.end(), set.begin(), set.end());
    const ProgramResult result = place.paceline(command);
    CHECK(result.exit_code == 0);
    for (const char* part : {"momentum", "learning rate", "0 - 0.2", "0 - 0.3", "near", "outside"})
      CHECK(contains(result.out, part));
  }
}

TEST_CASE("fit refuses defective logs with their places and goes on when asked to") {
  const LearnerPlace place;
  std::string curve = "updates,accuracy\n";
  for (int i = 1; i <= 20; ++i)
    curve += std::to_string(10 * i) + "," + std::to_string(0.9 - 4.0 / (5.0 + i)) + "\n";
  place.write("good.csv", curve);
  place.write("bad.csv", curve + "210,nan\n");
  const auto logs = [](const std::string& file) {
    return "name: small\nnetwork: big\ndataset: cifar10\nclasses: 10\ncolumns: {step: updates, accuracy: "
           "accuracy}\ngroups:\n"
           "  - {name: bsp, workers: 2, batch: 32, learning_rate: 0.1, momentum: 0.9, workload: 400,\n"
           "     phases: [{policy: bsp, share: 100 %}], step: updates, runs: [{accuracy: " +
           file + "}]}\n";
  };
  place.write("logs.yaml", logs("bad.csv"));
  const std::vector<std::string> fit{"fit", "logs.yaml",    "--form", "power-law",  "--bootstrap",
                                     "0",   "--no-figures", "-o",     "fitted.json"};
  const ProgramResult refused = place.paceline(fit);
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "bad.csv:22:5: the value is nan"));
  CHECK(contains(refused.err, "--skip-bad"));
  CHECK_FALSE(fs::exists(place.path() / "fitted.json"));
  std::vector<std::string> skipping = fit;
  skipping.insert(skipping.end(), {"--skip-bad"});
  const ProgramResult skipped = place.paceline(skipping);
  INFO(skipped.err);
  CHECK(skipped.exit_code == 0);
  CHECK(contains(skipped.err, "skipped: "));
  CHECK(fs::exists(place.path() / "fitted.json"));
  CHECK(fs::exists(place.path() / "fitted-residuals.csv"));
  CHECK(place.paceline(skipping).exit_code == 2);  // nothing is replaced without --force
}

TEST_CASE("validate recorded names what is missing in a folder of another layout") {
  const LearnerPlace place;
  const ProgramResult validated = place.paceline({"validate", "recorded", "."});
  CHECK(validated.exit_code == 2);
  CHECK(contains(validated.err, "runs.csv"));
  CHECK_FALSE(fs::exists(place.path() / "results" / "validation-recorded"));
  CHECK(place.paceline({"validate", "nothing"}).exit_code == 2);
}

TEST_CASE("validate learner compares two studies of the same policies, and names one that is missing") {
  const LearnerPlace place;
  place.write("study.yaml",
              "study: two\nbase: scenario.yaml\nvariants:\n  - {name: asp, set: {}}\n"
              "  - {name: bsp, set: {synchronization: [{policy: bsp, transport: ring}]}}\n");
  CHECK(place.paceline({"study", "study.yaml", "-o", "trained"}).exit_code == 0);
  CHECK(place.paceline({"run", "scenario.yaml", "-o", "other"}).exit_code == 0);
  const ProgramResult same = place.paceline({"validate", "learner", "trained", "trained"});
  INFO(same.err);
  CHECK(same.exit_code == 0);
  CHECK(contains(same.out, "mean absolute error 0.0000, largest 0.0000"));
  const ProgramResult missing = place.paceline({"validate", "learner", "trained", "other"});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "has no policy `asp"));
}

TEST_CASE("a learning rate far beyond what the learner was fitted on is refused at its place") {
  // fitted up to 0.2: 0.8 is at the limit of 4 times, 0.81 beyond
  const LearnerPlace place;
  CHECK(place.paceline({"run", "scenario.yaml", "--set", "job.optimizer.learning_rate=0.8", "-o", "a"})
            .exit_code == 0);
  const ProgramResult refused =
      place.paceline({"run", "scenario.yaml", "--set", "job.optimizer.learning_rate=0.81", "-o", "b"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("at which rate training breaks down is not known") != std::string::npos);
  CHECK_FALSE(fs::exists(place.path() / "b"));
}
