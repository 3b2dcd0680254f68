// `paceline timing` as a person at a terminal meets it.
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

constexpr const char* recurring_scenario = R"(name: recurring
job:
  network: big
  profile: profile.json
  dataset: {train_samples: 4096}
  optimizer: {learning_rate: 0.05, momentum: 0.9}
cluster:
  workers: [{cores: 1}, {cores: 1}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: bsp, transport: server, share: 50 %}, {policy: asp, transport: server}]
coordination: {per_step: 1 s}
batching: {controller: uniform, initial: 32}
learner: {kind: assumed, model: learner.json}
evaluation: {every: 4096 samples, who_pays: free}
stop: {epochs: 4}
)";

struct TimingPlace : test::Workplace {
  TimingPlace()
      : test::Workplace(PACELINE_PROGRAM, {{"profile.json", test::round_profile("big")},
                                           {"scenario.yaml", recurring_scenario},
                                           {"learner.json", test::assumed_learner}}) {}
  [[nodiscard]] ProgramResult timing(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"timing", "scenario.yaml", "--no-figures", "--runs", "2",
                                         "--settings", "3", "--fresh", "4"});
    return paceline(arguments);
  }
};

}  // namespace

TEST_CASE("timing tries shares, runs the chosen one again, and says what the search cost") {
  const TimingPlace place;
  const ProgramResult run = place.timing({"--tolerance", "0.5", "-o", "out"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.out, "chosen: 12.5 %"));  // everything is within 0.5
  CHECK(contains(run.out, "12.5 % on 4 fresh seeds"));
  CHECK(contains(run.out, "Assumed learner: no recorded runs stand behind its accuracies"));
  CHECK(contains(run.out, "cost of the search: 8 runs"));
  CHECK(contains(run.out, "it pays off with the"));
  const auto json = nlohmann::json::parse(read_file(place.path() / "out" / "timing.json"));
  CHECK(json.at("chosen") == 0.125);
  CHECK(json.at("tried").size() == 3);
  CHECK(json.at("fresh").at(0).at("within_tolerance") == 4);
  // The same command gives the same file, whatever the number of jobs.
  CHECK(place.timing({"--tolerance", "0.5", "-o", "again", "-j", "1"}).exit_code == 0);
  CHECK(read_file(place.path() / "out" / "timing.json") == read_file(place.path() / "again" / "timing.json"));
  CHECK(place.timing({"-o", "out"}).exit_code == 2);
}

// Under ASP the gradient of one of two workers usually meets one update of the other; a learner that was
// fitted on fresh gradients only says nothing about those.
TEST_CASE("timing prints the notes that its runs make, such as gradients staler than the learner knows") {
  const TimingPlace place;
  std::string fresh_only = test::assumed_learner;
  fresh_only.replace(fresh_only.find("\"staleness_max\": 3"), 18, "\"staleness_max\": 0");
  write_file_atomically(place.path() / "learner.json", fresh_only);
  const ProgramResult run = place.timing({"--tolerance", "0.5"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "gradients were staler than the 0 updates"));
}

TEST_CASE("a target above what BSP reaches is refused, with what it does reach") {
  const TimingPlace place;
  const ProgramResult run = place.timing({"--target", "0.99"});
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "the target 0.99 is above what BSP alone reaches: 0."));
  CHECK_FALSE(fs::exists(place.path() / "results" / "recurring-timing" / "timing.json"));
}

TEST_CASE("a job without a share to search for is refused at its place, before the first run") {
  const TimingPlace place;
  ProgramResult run = place.timing({"--set", "synchronization=[{policy: bsp, transport: server}]"});
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "a share is searched for in a job of two phases"));
  run = place.timing({"--set", "stop.accuracy=0.5"});
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "a job that ends at its target shows no converged accuracy"));
}
