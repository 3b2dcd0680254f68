// `--set key.path=value`: what it changes, and that its mistakes are its own.
#include <doctest/doctest.h>

#include "sim/description/assignment.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

const Scenario& base() {
  static const Scenario scenario = load_text(good_example).scenario;
  return scenario;
}

TEST_CASE("a value is replaced, and only that one, the origin is the override") {
  const LoadedScenario loaded = load_text(good_example, {"cluster.workers.2.speed=0.75"});
  CHECK(loaded.scenario.cluster.workers[2] == Worker{1, 0.75});
  CHECK(loaded.scenario.cluster.workers[1] == base().cluster.workers[1]);
  CHECK(loaded.scenario.cluster.workers[3] == base().cluster.workers[3]);
  CHECK(value_of(loaded, "cluster.workers.2.speed").origin == "--set cluster.workers.2.speed=0.75");
  CHECK(value_of(loaded, "cluster.workers.2.cores").origin.ends_with("scenario.yaml:13:45"));
}

TEST_CASE("a list index is written with dots or brackets") {
  CHECK(load_text(good_example, {"cluster.workers[2].speed=0.75"}).scenario.cluster.workers[2].speed == 0.75);
}

TEST_CASE("a key that the file leaves out is added, with its section") {
  const std::string without = replaced(good_example, "jitter: {run: 1 %, worker: 0 %, iteration: 4 %}\n", "");
  const Scenario scenario =
      load_text(without, {"jitter.iteration=7 %", "cluster.workers.0.speed=2"}).scenario;
  CHECK(scenario.jitter.iteration_cv == 0.07);
  CHECK_FALSE(scenario.jitter.run_cv.has_value());
  CHECK(scenario.cluster.workers[0].speed == 2.0);
}

TEST_CASE("the value is YAML: maps and lists replace whole sections") {
  const Scenario scenario = load_text(good_example, {"synchronization=[{policy: asp, transport: server}]",
                                                     "evaluation={every: 1 epochs}"})
                                .scenario;
  REQUIRE(scenario.synchronization.size() == 1);
  CHECK(scenario.synchronization[0].config.policy == "asp");
  CHECK(scenario.evaluation.every.unit == CountUnit::epochs);
}

TEST_CASE("of several overrides of one key the last one counts") {
  CHECK(load_text(good_example, {"seed=2", "seed=3"}).scenario.seed == 3);
}

TEST_CASE("an override may mend what the file gets wrong") {
  CHECK(load_text(replaced(good_example, "seed: 1", "seed: x"), {"seed=9"}).scenario.seed == 9);
}

TEST_CASE("an unknown key path is reported at the override, with a suggestion") {
  CHECK(complaint(good_example, {"batching.inital=8"}) ==
        "--set batching.inital=8: error: unknown key `inital` in `batching`\n"
        "hint: did you mean `initial`?\n"
        "1 error in scenario.yaml\n");
  CHECK(complaint(good_example, {"cluster.nework.latency=1 us"}) ==
        "--set cluster.nework.latency=1 us: error: unknown key `nework` in `cluster`\n"
        "hint: did you mean `network`?\n"
        "1 error in scenario.yaml\n");
}

TEST_CASE("a bad value is reported at the override, not at the file") {
  CHECK(
      complaint(good_example, {"cluster.network.latency=5"})
          .starts_with(
              "--set cluster.network.latency=5: error: `cluster.network.latency`: `5` has no unit\nhint: "));
  CHECK(complaint(good_example, {"batching.minimum=64"})
            .starts_with("--set batching.minimum=64: error: `minimum` (64) is above `initial` (32)\n"));
  CHECK(complaint(good_example, {"evaluation={evry: 1 epochs}"})
            .starts_with("--set evaluation={evry: 1 epochs}: error: "));
}

TEST_CASE("a list has the items it has") {
  CHECK(complaint(good_example, {"cluster.workers.4.speed=1"})
            .starts_with(
                "--set cluster.workers.4.speed=1: error: `cluster.workers` has 4 items, and `4` is none of "
                "them\n"));
  CHECK(complaint(good_example, {"cluster.workers.x.speed=1"}).find("and `x` is none of them") !=
        std::string::npos);
}

TEST_CASE("a single value has no parts") {
  CHECK(complaint(good_example, {"seed.x=1"})
            .starts_with("--set seed.x=1: error: `seed` is a single value, it has no `x`\n"));
}

TEST_CASE("what is not of the form key.path=value is refused") {
  CHECK(complaint(good_example, {"seed"})
            .starts_with("--set seed: error: there is no `=`\nhint: write `--set "));
  CHECK(complaint(good_example, {"=1"}).starts_with("--set =1: error: the key is missing\n"));
  for (const char* path : {".seed", "seed.", "a..b", "a[", "a[]", "a[1]b", "[0]x"}) {
    CAPTURE(path);
    CHECK(complaint(good_example, {std::string(path) + "=1"}).find("is not a key path") != std::string::npos);
  }
  CHECK(complaint(good_example, {"name={"}).starts_with("--set name={: error: not valid YAML: "));
  CHECK(complaint(good_example, {"name='a"}).starts_with("--set name='a: error: not valid YAML: "));
  CHECK(complaint(good_example, {"seed="}).starts_with("--set seed=: error: `seed` is empty\n"));
  CHECK(complaint(good_example, {"seed=&a 1"}).starts_with("--set seed=&a 1: error: anchors"));
}

TEST_CASE("all mistakes of all overrides are reported, with those of the file") {
  const std::string said =
      complaint(replaced(good_example, "replications: 5", "replications: 0"), {"seed=x", "nam=a", "stop"});
  CHECK(said.ends_with("\n4 errors in scenario.yaml\n"));
}

// Whoever types a path on a command line means it from where they are.
TEST_CASE(
    "a relative path starts at the file it is written in, and in an override at the working directory") {
  const LoadedScenario loaded = load_text(good_example, {"job.profile=other/../p.json"});
  CHECK(loaded.scenario.job.profile == "p.json");
  CHECK(base().job.profile == base().file.parent_path() / "profiles/this.json");
  CHECK(load_text(good_example, {"job.profile=/abs/p.json"}).scenario.job.profile == "/abs/p.json");
}

}  // namespace
}  // namespace paceline::test
