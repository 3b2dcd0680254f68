// Gradients that are summed in buckets, from a profile to results.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/throughput_workplace.hpp"

using namespace paceline;
using paceline::test::ProgramResult;
using paceline::test::ThroughputWorkplace;
using namespace std::string_literals;

namespace {

// Iterations of 4 ms for 30 samples of a network of two variables of 22,324 bytes each.
std::string profile_with_ready_gradients(const char* ready) {
  nlohmann::json profile = nlohmann::json::parse(test::throughput_profile);
  profile["network"]["variable_bytes"] = {22324, 22324};
  profile["network"]["variable_ready"] = nlohmann::json::parse(ready);
  return profile.dump();
}

// Seconds that 100 updates of two equal workers take, on links that carry a variable in 1 ms.
double seconds(const ThroughputWorkplace& place, const std::string& buckets) {
  std::vector<std::string> arguments = {"run", "scenario.yaml", "-o", "out", "--force"};
  for (const std::string& setting : {
           "replications=1"s,
           "job.dataset.train_samples=6000"s,
           "cluster.workers=[{cores: 1}, {cores: 1}]"s,
           "cluster.network={topology: star, bandwidth: 178.592 Mbit/s, latency: 0 us}"s,
           "synchronization=[{policy: bsp, transport: ring" + buckets + "}]",
           "batching={controller: uniform, initial: 30}"s,
           "jitter={run: 0 %, worker: 0 %, iteration: 0 %}"s,
           "evaluation={every: 6000 samples, who_pays: free}"s,
           "stop={epochs: 1}"s,
       })
    arguments.insert(arguments.end(), {"--set", setting});
  const ProgramResult run = place.paceline(arguments);
  REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  return nlohmann::json::parse(read_file(place.path() / "out" / "summary.json")).at("horizon_s");
}

}  // namespace

TEST_CASE("a bucket is summed from when the profile says that its gradients are computed") {
  // At once: 4 ms of computing, 2 ms of sums and 0.01 ms of the optimizer's step.
  const ThroughputWorkplace place;
  place.write("profile.json", profile_with_ready_gradients("[1.0, 0.5]"));
  CHECK(seconds(place, "") == doctest::Approx(0.601).epsilon(1e-9));
  // The later variable's from 2 to 3 ms, the other's from 4 to 5 ms.
  const std::string each_by_itself = ", buckets: {first: 1 B, size: 1 B}";
  CHECK(seconds(place, each_by_itself) == doctest::Approx(0.501).epsilon(1e-9));
  // From 1 to 2 ms, and from 2 to 3 ms: all before the iteration has ended.
  place.write("profile.json", profile_with_ready_gradients("[0.5, 0.25]"));
  CHECK(seconds(place, each_by_itself) == doctest::Approx(0.401).epsilon(1e-9));
  // In one bucket both wait for the later gradient: from 2 to 4 ms.
  CHECK(seconds(place, ", buckets: {}") == doctest::Approx(0.401).epsilon(1e-9));
}
