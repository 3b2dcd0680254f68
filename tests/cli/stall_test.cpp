// A cluster that loses its last worker, as a person at a terminal meets it.
#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
namespace fs = std::filesystem;

namespace {

// 1 ms + 0.1 ms a sample.
constexpr const char* profile_text = R"({
  "format": "paceline-profile", "version": 1,
  "network": {"name": "small-cnn", "parameter_count": 11162, "parameter_bytes": 44648},
  "machine": {"cpu_model": "test", "logical_cores": 1, "memory_bytes": 1000000000, "governor": "none", "cpu_flags": []},
  "software": {"paceline": "test", "libtorch": "test", "blas": "test", "compiler": "test"},
  "measurement": {"command": "test", "processes": 3, "batches": [8, 128], "cores": [1]},
  "samples": [],
  "fits": {"compute": [{"cores": 1, "intercept_s": 0.001, "slope_s_per_sample": 0.0001, "leave_one_out_error": 0.01,
                        "batch_min": 8, "batch_max": 128}],
           "optimizer_step": [{"cores": 1, "seconds": 1e-05}],
           "server_accumulate_bytes_per_s": 1e10, "server_step_bytes_per_s": 1e10},
  "jitter": {"iteration_cv": 0.05, "run_cv": 0.01, "processes": 3}
})";

constexpr const char* scenario_text = R"(name: deserted
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
  const test::TemporaryFolder place;
  write_file_atomically(place.path() / "profile.json", profile_text);
  write_file_atomically(place.path() / "scenario.yaml", scenario_text);
  const auto paceline = [&](const std::vector<std::string>& arguments) {
    return test::run_program(PACELINE_PROGRAM, arguments, place.path());
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const test::ProgramResult result = paceline({"run", "scenario.yaml", "-o", "out"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK(has(result.err, "the job stalled at 0.080"));
  CHECK(has(result.err, "every worker has left the job"));
  CHECK(has(result.err, "worker 0 is not there\nworker 1 is not there\n"));
  CHECK(has(read_file(place.path() / "out/summary.csv"), "stalled"));
  // With one of them back in time the job is done.
  const test::ProgramResult back = paceline({"run", "scenario.yaml", "-o", "back", "--set",
                                             "heterogeneity.membership=[{at: 50 ms, worker: 0, event: "
                                             "leaves}, {at: 80 ms, worker: 0, event: joins}]"});
  CAPTURE(back.err);
  CHECK(back.exit_code == 0);
}
