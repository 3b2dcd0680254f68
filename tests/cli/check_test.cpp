// What is said of scenarios and studies before anything runs.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/files_below.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::files_below;
using paceline::test::ProgramResult;
using paceline::test::throughput_scenario;
using paceline::test::ThroughputWorkplace;
namespace fs = std::filesystem;

TEST_CASE("a mistake in a scenario points at its place and leaves no folder") {
  const ThroughputWorkplace place;
  std::string broken = throughput_scenario;
  broken.replace(broken.find("bandwidth"), 9, "bandwith");
  place.write("broken.yaml", broken);
  const ProgramResult result = place.paceline({"run", "broken.yaml", "-o", "out"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "broken.yaml:11:"));
  CHECK(contains(result.err, "bandwidth"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
}

TEST_CASE("a scenario that the profile does not cover is refused before anything runs") {
  const ThroughputWorkplace place;
  const ProgramResult cores = place.paceline({"run", "scenario.yaml", "--set", "cluster.workers.0.cores=3"});
  CHECK(cores.exit_code == 2);
  CHECK(contains(cores.err, "--set cluster.workers.0.cores=3: error: `cluster.workers.0.cores`"));
  const ProgramResult network = place.paceline({"run", "scenario.yaml", "--set", "job.network=resnet20"});
  CHECK(network.exit_code == 2);
  CHECK(contains(network.err, "small-cnn"));
  const ProgramResult missing = place.paceline({"run", "scenario.yaml", "--set", "job.profile=nowhere.json"});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "nowhere.json"));
}

TEST_CASE("buckets need a profile that says when each gradient is computed") {
  const ThroughputWorkplace place;
  const ProgramResult refused = place.paceline(
      {"run", "scenario.yaml", "--set", "synchronization=[{policy: bsp, transport: ring, buckets: {}}]"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "does not say when each gradient is computed"));
  CHECK(contains(refused.err, "hint: calibrate again with this version"));
}

TEST_CASE("a network that cannot read the data set is refused where training is asked for, with a hint") {
  const ThroughputWorkplace place;
  std::string training = throughput_scenario;
  training.replace(training.find("{kind: none}"), 12, "{kind: network}");
  place.write("images.yaml", training);
  place.write("gpt.json", paceline::test::round_profile("small-gpt"));
  const auto said = [&](const std::vector<std::string>& arguments) {
    const ProgramResult result = place.paceline(arguments);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const std::vector<std::string> of_text = {"--set", "job.dataset.kind=built-in-text"};
  const std::vector<std::string> of_gpt = {"--set", "job.network=small-gpt", "--set", "job.profile=gpt.json"};
  for (const char* command : {"check", "run"}) {
    const std::string text =
        said({command, "images.yaml", of_text[0], of_text[1], "--set", "replications=1"});
    CHECK(contains(text,
                   "images.yaml:14:17: error: network `small-cnn` cannot learn here: it takes images of "
                   "3x32x32, and the data set has texts of 64 tokens"));
    CHECK(contains(text, "hint: networks for CIFAR learn from images, `small-gpt` from `built-in-text`"));
    const std::string images =
        said({command, "images.yaml", of_gpt[0], of_gpt[1], of_gpt[2], of_gpt[3], "--set", "replications=1"});
    CHECK(contains(images,
                   "images.yaml:14:17: error: network `small-gpt` cannot learn here: it takes texts of "
                   "64 tokens, and the data set has images of 3x32x32"));
  }
}

TEST_CASE("check finds all that a run would refuse, in one round") {
  const ThroughputWorkplace place;
  const ProgramResult check =
      place.paceline({"check", "scenario.yaml", "--set", "job.network=resnet20", "--set",
                      "cluster.workers.0.cores=3", "--set", "heterogeneity={trace: nowhere.csv}", "--set",
                      "learner={kind: statistical, model: none.json}"});
  INFO(check.err);
  CHECK(check.exit_code == 2);
  for (const char* part :
       {"the job trains resnet20", "cluster.workers.0.cores", "nowhere.csv", "there is no learner"})
    CHECK(contains(check.err, part));
  // So do the combinations of a study, each mistake once.
  place.write("study.yaml",
              "study: s\nbase: scenario.yaml\n"
              "vary: [{key: cluster.workers.0.cores, values: [3, 5]}, {key: seed, values: [1, 2]}]\n");
  const ProgramResult study = place.paceline({"check", "study.yaml"});
  INFO(study.err);
  CHECK(study.exit_code == 2);
  CHECK(contains(study.err, "not with 3"));
  CHECK(contains(study.err, "not with 5"));
  CHECK(study.err.find("not with 5") == study.err.rfind("not with 5"));
}

TEST_CASE("a mistake in the file and one in what it names are found together") {
  const ThroughputWorkplace place;
  const ProgramResult check =
      place.paceline({"check", "scenario.yaml", "--set", "seeed=3", "--set", "job.profile=nowhere.json"});
  INFO(check.err);
  CHECK(check.exit_code == 2);
  CHECK(contains(check.err, "unknown key `seeed`"));
  CHECK(contains(check.err, "there is no profile nowhere.json"));
}

TEST_CASE("a file's other ending and a key given as an option are hinted at") {
  const ThroughputWorkplace place;
  CHECK(contains(place.paceline({"check", "scenario.yml"}).err, "did you mean scenario.yaml?"));
  CHECK(contains(place.paceline({"run", "scenario.yaml", "--replications", "5"}).err,
                 "did you mean `--set replications=5`?"));
  CHECK(contains(place.paceline({"run", "scenario.yaml", "--stop.epochs=5"}).err, "`--set stop.epochs=5`"));
}

TEST_CASE("what is varied without any effect on the runs is said by study and compare") {
  const ThroughputWorkplace place;
  place.write("study.yaml",
              "study: s\nbase: scenario.yaml\n"
              "vary: [{key: job.optimizer.weight_decay, values: [0, 0.1]}, {key: seed, values: [1, 2]}]\n");
  const ProgramResult study = place.paceline({"study", "study.yaml", "-o", "out"});
  CHECK(study.exit_code == 0);
  CHECK(contains(study.err, "`weight_decay` has no effect: each of its values gives the same runs"));
  CHECK_FALSE(contains(study.err, "`seed` has no effect"));
  CHECK(contains(place.paceline({"compare", "out"}).err, "`weight_decay` has no effect"));
}

TEST_CASE("check prints every value with its origin, for scenarios and studies") {
  const ThroughputWorkplace place;
  const ProgramResult scenario = place.paceline({"check", "scenario.yaml", "--set", "seed=9"});
  CHECK(scenario.exit_code == 0);
  CHECK(contains(scenario.out, "cluster.workers.1.speed"));
  CHECK(contains(scenario.out, "scenario.yaml:10:"));
  CHECK(contains(scenario.out, "default"));
  CHECK(contains(scenario.out, "--set seed=9"));
  const ProgramResult study = place.paceline({"check", "study.yaml"});
  CHECK(study.exit_code == 0);
  CHECK(contains(study.out, " combinations, "));
  CHECK(contains(study.out, " (1 of "));
  CHECK(place.paceline({"check", "study.yaml", "--json"}).out.front() == '[');
}

TEST_CASE("check prints a note on a study once, however many variants it holds for") {
  const ThroughputWorkplace place;
  std::string text = throughput_scenario;
  place.write("scenario.yaml",
              text.replace(text.find("{kind: none}"), 12, "{kind: none, model: unused.json}"));
  const ProgramResult check = place.paceline({"check", "study.yaml"});
  CHECK(check.exit_code == 0);
  const std::string said = "`model` has no effect";
  CHECK(contains(check.err, said));
  CHECK(check.err.find(said) == check.err.rfind(said));
}

TEST_CASE("the shipped schemas are the ones this program prints") {
  const ThroughputWorkplace place;
  const fs::path scenarios = PACELINE_SCENARIOS;
  CHECK(place.paceline({"schema"}).out == read_file(scenarios / "scenario.schema.json"));
  CHECK(place.paceline({"schema", "--study"}).out == read_file(scenarios / "study.schema.json"));
}

TEST_CASE("every shipped scenario and study passes the checks, without a warning") {
  const ThroughputWorkplace place;
  const fs::path scenarios = PACELINE_SCENARIOS;
  // These measure the machine they run on.
  const std::vector<std::string> without_profile = {"quickstart/base.yaml", "quickstart/study.yaml",
                                                    "sync-switch/real.yaml", "sync-switch/real-study.yaml",
                                                    "sync-switch/momentum.yaml"};
  std::size_t checked = 0;
  for (const fs::path& file : files_below(scenarios)) {
    if (file.extension() != ".yaml" || !contains(read_file(scenarios / file), "$schema=")) continue;
    CAPTURE(file.string());
    std::vector<std::string> arguments{"check", (scenarios / file).string()};
    if (std::ranges::count(without_profile, file.string()) > 0) {
      arguments.emplace_back("--set");
      arguments.push_back("job.profile=" + (place.path() / "profile.json").string());
    }
    if (file == "validation/asp-mnist.yaml") {  // of files that the user has
      arguments.emplace_back("--set");
      arguments.emplace_back("job.dataset={kind: built-in-images, train_samples: 20000, test_samples: 1000}");
    }
    const ProgramResult check = place.paceline(arguments);
    CAPTURE(check.err);
    CHECK(check.exit_code == 0);
    CHECK_FALSE(contains(check.err, "warning"));
    ++checked;
  }
  CHECK(checked > 30);
}
