// Batches and the workers' memory, as a person at a terminal meets them.
#include <sstream>

#include <doctest/doctest.h>

#include "tests/cli/round_profile.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;
using paceline::test::contains;

namespace {

constexpr const char* memory_scenario = R"(name: memory
job:
  network: small-cnn
  profile: profile.json
  dataset: {train_samples: 4096, partition: equal-shards}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}, {cores: 1, speed: 4, memory: 120 MB}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: bsp, transport: ring}]
batching: {controller: proportional-repair, initial: 32, minimum: 8, maximum: 128}
jitter: {run: 0 %, worker: 0 %, iteration: 0 %}
learner: {kind: none}
evaluation: {every: 1024 samples}
stop: {epochs: 1}
)";

// 1 ms + 0.1 ms a sample; 100 MB and half a MB for each sample: 120 MB hold 40.
constexpr const char* profile_with_memory = R"({
  "format": "paceline-profile", "version": 2, "origin": "derived", "sources": ["made up"],
  "network": {"name": "small-cnn", "parameter_count": 11162, "parameter_bytes": 44648},
  "machine": {"cpu_model": "test"},
  "fits": {"compute": [{"cores": 1, "law": "affine", "intercept_s": 0.001,
                        "slope_s_per_sample": 0.0001,
                        "knee": null, "leave_one_out_error": null, "relative_half_width": null,
                        "batch_min": 1, "batch_max": 128, "candidates": []}],
           "optimizer_step": [{"cores": 1, "seconds": 0.0}],
           "server_accumulate_bytes_per_s": 1e10, "server_step_bytes_per_s": 1e10, "core_scaling": null,
           "memory": {"base_bytes": 1e8, "bytes_per_sample": 5e5}, "ensemble": []},
  "jitter": {"iteration_cv": 0.05, "run_cv": null, "processes": 1, "process_cv": null, "run_cv_upper": null,
             "iteration_law": "log_normal", "iteration_quantiles": null}
})";

struct Place : test::Workplace {
  explicit Place(const std::string& profile)
      : test::Workplace(PACELINE_PROGRAM, {{"profile.json", profile}, {"scenario.yaml", memory_scenario}}) {}
  test::ProgramResult run(const std::vector<std::string>& settings) const {
    std::vector<std::string> arguments{"run", "scenario.yaml", "-o", "out", "--force"};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(setting);
    }
    return paceline(arguments);
  }
  std::string file(const std::string& name) const { return text("out/" + name); }
};

}  // namespace

TEST_CASE("a batch is capped by the worker's memory, and the results say what and why") {
  // Worker 1 is four times as fast; its memory holds 40 samples, so the other keeps 24 of the 64.
  const Place place(profile_with_memory);
  const test::ProgramResult result = place.run({});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err,
                 "note: memory: worker 1 holds at most 40 samples, less than `batching.maximum` (128)"));
  const std::string batches = place.file("batches.csv");
  CAPTURE(batches);
  CHECK(contains(batches, ",1,40,"));
  CHECK(contains(batches, ",memory\n"));
  CHECK(contains(batches, ",0,24,"));
  CHECK(contains(place.file("balance.csv"), ",adjustment,64,1,"));
}

TEST_CASE("uniform batches are capped too") {
  const Place place(profile_with_memory);
  CHECK(place.run({"batching.controller=uniform", "cluster.workers.1.memory=110 MB"}).exit_code == 0);
  CHECK(contains(place.file("batches.csv"), "0,0,0,1,20,32,memory\n"));
}

TEST_CASE("where bounds forbid balance the results say by how much, and which bound it is") {
  // Speeds 1 and 8, 1 ms + 0.1 ms a sample: at 32 each 4.2 and 0.525 ms. In proportion 64 samples would be
  // 7.1 and 56.9; of them `maximum` lets worker 1 have 40. 24 samples on worker 0 take 3.4 ms; with one it
  // would take 1.1 ms, and the other would have the time for its 63: an imbalance of 3.4/1.1 = 3.09.
  const Place place(test::round_profile("small-cnn"));
  CHECK(place.run({"batching.maximum=40", "cluster.workers=[{cores: 1}, {cores: 1, speed: 8}]"}).exit_code ==
        0);
  const std::string batches = place.file("batches.csv");
  CAPTURE(batches);
  CHECK(contains(batches, ",1,40,56.8"));
  CHECK(contains(batches, ",maximum\n"));
  const std::string balance = place.file("balance.csv");
  const std::string adjustment = ",adjustment,64,1,";
  const std::size_t at = balance.find(adjustment);
  REQUIRE(at != balance.npos);
  std::istringstream numbers(balance.substr(at + adjustment.size()));
  double slowest_s = 0.0;
  double balanced_s = 0.0;
  double imbalance = 0.0;
  char comma = 0;
  numbers >> slowest_s >> comma >> balanced_s >> comma >> imbalance;
  CHECK(slowest_s == doctest::Approx(0.0034));
  CHECK(balanced_s == doctest::Approx(0.0011));
  CHECK(imbalance == doctest::Approx(3.4 / 1.1));
}

TEST_CASE("memory that cannot hold the global batch is refused at its place") {
  const Place place(profile_with_memory);
  const test::ProgramResult result =
      place.run({"cluster.workers.0.memory=110 MB"});  // 20 and 40 samples, 64 to hold
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err,
                 "scenario.yaml:11:24: error: `batching.controller`: the workers' memory and `maximum` "
                 "hold 60 samples together"));
}

TEST_CASE("memory that holds the smallest batch and no more is enough") {
  const Place place(profile_with_memory);
  CHECK(place.run({"cluster.workers.1.memory=104 MB"}).exit_code == 0);  // 8 samples, the minimum
}

TEST_CASE("memory beyond the largest batch holds no more of the global batch than that") {
  // Of 64 samples worker 0 holds 20, worker 1 in its memory 200, by `maximum` 40.
  const Place place(profile_with_memory);
  const test::ProgramResult result = place.run(
      {"cluster.workers.0.memory=110 MB", "batching.maximum=40", "cluster.workers.1.memory=200 MB"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "hold 60 samples together"));
}

TEST_CASE("memory below the smallest batch, and a profile without a memory model, are refused") {
  const Place place(profile_with_memory);
  const test::ProgramResult small = place.run({"cluster.workers.1.memory=102 MB"});
  CHECK(small.exit_code == 2);
  CHECK(contains(small.err, "`cluster.workers.1.memory`: it holds 4 samples, and the smallest batch is 8"));
  const Place without(test::round_profile("small-cnn"));
  const test::ProgramResult unknown = without.run({});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "scenario.yaml:8:54: error: `cluster.workers.1.memory`"));
  CHECK(contains(unknown.err, "has no memory model"));
}

TEST_CASE("passes over an equal shard and over the whole data are in the results") {
  // Two workers, 4096 samples: shards of 2048. Fixed batches 32 and 32: one pass each in an epoch; of the
  // whole data half.
  const Place place(test::round_profile("small-cnn"));
  CHECK(place.run({"batching.controller=uniform", "cluster.workers=[{cores: 1}, {cores: 1}]"}).exit_code ==
        0);
  CHECK(contains(place.file("workers.csv"), "0,0,64,2048,2048,1,"));
  CHECK(place
            .run({"batching.controller=uniform", "cluster.workers=[{cores: 1}, {cores: 1}]",
                  "job.dataset.partition=whole"})
            .exit_code == 0);
  CHECK(contains(place.file("workers.csv"), "0,0,64,2048,4096,0.5,"));
}
