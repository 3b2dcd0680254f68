// A study on a real Slurm of one node, started here on loopback.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
using paceline::test::ProgramResult;
namespace fs = std::filesystem;

namespace {

constexpr int cannot_start = 77;

// Its daemons end with the test.
class Slurm {
 public:
  Slurm() : started_(test::run_program(PACELINE_SLURM, {"start", folder_.path().string()}, folder_.path())) {}
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;
  ~Slurm() {
    static_cast<void>(test::run_program(PACELINE_SLURM, {"stop", folder_.path().string()}, folder_.path()));
  }

  [[nodiscard]] const ProgramResult& started() const { return started_; }
  [[nodiscard]] std::string configuration() const { return (folder_.path() / "slurm.conf").string(); }

 private:
  test::TemporaryFolder folder_;
  ProgramResult started_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job array on a real Slurm carries out every part of a study, and merging makes it whole") {
  const Slurm slurm;
  if (slurm.started().exit_code == cannot_start) {
    MESSAGE("skipped: Slurm cannot start here: ", slurm.started().out);
    return;
  }
  REQUIRE(slurm.started().exit_code == 0);
  setenv("SLURM_CONF", slurm.configuration().c_str(), 1);
  const test::TemporaryFolder place;
  write_file_atomically(place.path() / "profile.json", test::round_profile("small-cnn"));
  write_file_atomically(place.path() / "scenario.yaml", R"(name: throughput
job:
  network: small-cnn
  profile: profile.json
  dataset: {kind: built-in-images, train_samples: 4096, test_samples: 100}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}, {cores: 1, speed: 0.5}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: uniform, initial: 32}
learner: {kind: none}
evaluation: {every: 1024 samples, who_pays: free}
stop: {epochs: 1}
)");
  write_file_atomically(place.path() / "study.yaml",
                        "study: on a cluster\nbase: scenario.yaml\nreplications: 3\n"
                        "vary: [{key: cluster.workers.1.speed, values: [1, 0.5]}]\n");
  const auto paceline = [&](const std::vector<std::string>& arguments) {
    return test::run_program(PACELINE_PROGRAM, arguments, place.path());
  };
  REQUIRE(paceline({"study", "study.yaml", "-o", "here"}).exit_code == 0);
  const ProgramResult submitted =
      paceline({"study", "study.yaml", "-o", "there", "--submit", "slurm", "--tasks", "3"});
  CAPTURE(submitted.err);
  REQUIRE(submitted.exit_code == 0);
  CHECK(contains(submitted.out, "6 runs in 3 tasks"));
  // The scheduler's own pace: parts appear one by one. Each says at its end what became of it.
  bool done = false;
  for (int i = 0; i < 600 && !done; ++i) {
    usleep(100'000);
    done = true;
    for (const char* task : {"task-1.log", "task-2.log", "task-3.log"}) {
      const fs::path log = place.path() / "there" / task;
      done = done && fs::exists(log) && contains(read_file(log), "all runs are done");
    }
  }
  REQUIRE(done);
  const ProgramResult merged = paceline({"study", "merge", "there"});
  CAPTURE(merged.err);
  CHECK(merged.exit_code == 0);
  CHECK(read_file(place.path() / "there/runs.csv") == read_file(place.path() / "here/runs.csv"));
}
