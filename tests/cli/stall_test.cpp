// A cluster that loses its last worker, as a person at a terminal meets it.
#include <doctest/doctest.h>

#include "tests/cli/round_profile.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;
using paceline::test::contains;

namespace {

constexpr const char* deserted_scenario = R"(name: deserted
question: What if everybody leaves?
job:
  network: small-cnn
  profile: profile.json
  dataset: {kind: built-in-images, train_samples: 4096, test_samples: 100}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}, {cores: 1}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: uniform, initial: 32, minimum: 8, maximum: 128}
heterogeneity:
  membership:
    - {at: 50 ms, worker: 0, event: leaves}
    - {at: 80 ms, worker: 1, event: leaves}
learner: {kind: none}
evaluation: {every: 1024 samples, who_pays: free}
stop: {epochs: 2}
)";

}  // namespace

TEST_CASE("a cluster that loses its last worker is exit code 1, with who waits for what, and results") {
  const test::Workplace place(PACELINE_PROGRAM, {{"profile.json", test::round_profile("small-cnn")},
                                                 {"scenario.yaml", deserted_scenario}});
  const test::ProgramResult result = place.paceline({"run", "scenario.yaml", "-o", "out"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "the job stalled at 0.080"));
  CHECK(contains(result.err, "every worker has left the job"));
  CHECK(contains(result.err, "worker 0 is not there\nworker 1 is not there\n"));
  CHECK(contains(place.text("out/summary.csv"), "stalled"));
  // With one of them back in time the job is done.
  const std::string away =
      "heterogeneity.membership="
      "[{at: 50 ms, worker: 0, event: leaves}, {at: 80 ms, worker: 0, event: joins}]";
  const test::ProgramResult back = place.paceline({"run", "scenario.yaml", "-o", "back", "--set", away});
  CAPTURE(back.err);
  CHECK(back.exit_code == 0);
}
