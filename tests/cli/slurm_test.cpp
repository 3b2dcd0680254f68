// A study on a real Slurm of one node, started here on loopback.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;
using paceline::test::contains;
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

}  // namespace

TEST_CASE("a job array on a real Slurm carries out every part of a study, and merging makes it whole") {
  const Slurm slurm;
  if (slurm.started().exit_code == cannot_start) {
    MESSAGE("skipped: Slurm cannot start here: ", slurm.started().out);
    return;
  }
  REQUIRE(slurm.started().exit_code == 0);
  setenv("SLURM_CONF", slurm.configuration().c_str(), 1);
  const test::Workplace place(PACELINE_PROGRAM,
                              {{"profile.json", test::round_profile("small-cnn")},
                               {"scenario.yaml", test::throughput_scenario},
                               {"study.yaml",
                                "study: on a cluster\nbase: scenario.yaml\nreplications: 3\n"
                                "vary: [{key: cluster.workers.1.speed, values: [1, 0.5]}]\n"}});
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "here"}).exit_code == 0);
  const ProgramResult submitted =
      place.paceline({"study", "study.yaml", "-o", "there", "--submit", "slurm", "--tasks", "3"});
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
  const ProgramResult merged = place.paceline({"study", "merge", "there"});
  CAPTURE(merged.err);
  CHECK(merged.exit_code == 0);
  CHECK(place.text("there/runs.csv") == place.text("here/runs.csv"));
}
