// Random jobs on one network engine and the other, with shortcuts and without: the same events in one order.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/property/failure.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

// PACELINE_JOBS asks for more, by hand.
const std::uint32_t jobs_compared = [] {
  const char* const asked = std::getenv("PACELINE_JOBS");
  return asked == nullptr ? 250U : static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10));
}();

// With jitter: in round numbers many events fall on one date, and rounding says which of two dates is first.
// Uneven parts on links that carry all at once do that, too.
RandomJob jittered_job(std::uint32_t index) {
  RandomJob random = random_job(property_seed(), index);
  random.job.jitter.iteration_cv = std::max(random.job.jitter.iteration_cv, 0.05);
  NetworkConfig& network = random.job.network;
  if (random.job.split == ParameterSplit::whole_variables && network.bandwidth >= BytesPerSecond{1e30})
    network.bandwidth = network.server_bandwidth = BytesPerSecond{1e6};
  return random;
}

std::vector<Entry> fluid_entries(RandomJob random, Shortcuts shortcuts) {
  random.job.shortcuts = shortcuts;
  FluidTimeline timeline(random.job.cluster(), shortcuts);
  return run_and_check(random, timeline).entries;
}

// In a process of its own: SimGrid has one clock.
std::vector<Entry> simgrid_entries(RandomJob random, Shortcuts shortcuts) {
  random.job.shortcuts = shortcuts;
  std::array<int, 2> ends{};
  check(pipe(ends.data()) == 0, "a pipe can be made");
  const pid_t child = fork();
  check(child >= 0, "a process can be made");
  if (child == 0) {
    const auto timeline = make_simgrid_timeline(random.job.cluster(), shortcuts);
    const std::vector<Entry> entries = run_and_check(random, *timeline).entries;
    FILE* out = fdopen(ends[1], "w");
    const bool written = std::fwrite(entries.data(), sizeof(Entry), entries.size(), out) == entries.size();
    _exit(std::fclose(out) == 0 && written ? 0 : 1);
  }
  close(ends[1]);
  FILE* in = fdopen(ends[0], "r");
  std::vector<Entry> entries;
  for (Entry entry; std::fread(&entry, sizeof entry, 1, in) == 1;) entries.push_back(entry);
  std::fclose(in);
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0, "SimGrid's process ends well");
  return entries;
}

bool is_near(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(1.0, std::max(std::abs(a), std::abs(b)));
}

// The first entry in which they differ, times and other real numbers by more than 1e-9.
std::optional<std::size_t> first_difference(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const bool same_kind = a[i].is_event == b[i].is_event && a[i].kind == b[i].kind;
    if (!same_kind || !is_near(a[i].time.value(), b[i].time.value()) ||
        !std::ranges::equal(a[i].content, b[i].content, is_near))
      return i;
  }
  if (a.size() == b.size()) return std::nullopt;
  return std::min(a.size(), b.size());
}

using Jobs = std::function<RandomJob(std::uint32_t index)>;
using Run = std::function<std::vector<Entry>(const RandomJob&)>;

Run on_fluid(Shortcuts shortcuts) {
  return [=](const RandomJob& random) { return fluid_entries(random, shortcuts); };
}

Run on_simgrid(Shortcuts shortcuts) {
  return [=](const RandomJob& random) { return simgrid_entries(random, shortcuts); };
}

bool amplifies_rounding(const RandomJob& random, const std::vector<Entry>& entries, const Run& run) {
  for (const double nudge : {1.0 + 1e-13, 1.0 - 1e-13})
    for (int what = 0; what < 3; ++what) {
      RandomJob nudged = random;
      auto& network = nudged.job.network;
      if (what == 0) network.latency = network.latency * nudge;
      if (what == 1) network.bandwidth = network.bandwidth * nudge;
      if (what == 1) network.server_bandwidth = network.server_bandwidth * nudge;
      if (what == 2) nudged.job.slope_per_sample = nudged.job.slope_per_sample * nudge;
      if (first_difference(entries, run(nudged))) return true;
    }
  return false;
}

// In few jobs rounding decides what follows. Either two events fall on one date, by round numbers, and
// rounding says which is first. Or the job amplifies the smallest difference (whose gradient is late, who
// comes first into a full link, who is predicted to wait less): then it differs from itself when its latency,
// a bandwidth or the time of a sample changes by one part in 1e13.
void check_same(std::uint32_t count, const Jobs& jobs, const Run& one, const Run& other) {
  std::uint32_t decided_by_rounding = 0;
  for (std::uint32_t index = 0; index < count; ++index) {
    const RandomJob random = jobs(index);
    const std::vector<Entry> a = one(random);
    const std::vector<Entry> b = other(random);
    const std::optional<std::size_t> first = first_difference(a, b);
    if (!first) continue;
    ++decided_by_rounding;
    CAPTURE(index);
    CAPTURE(*first);
    REQUIRE(*first < std::min(a.size(), b.size()));
    if (is_near(a[*first].time.value(), b[*first].time.value())) continue;
    CHECK(amplifies_rounding(random, a, one));
  }
  CHECK(decided_by_rounding <= count / 20);
  MESSAGE(decided_by_rounding << " of " << count << " jobs are decided by rounding");
}

}  // namespace

TEST_CASE("what holds of every job holds on the fluid network") {
  const auto violates = [](const RandomJob& random) {
    FluidTimeline timeline(random.job.cluster());
    return !run_and_check(random, timeline).violations.empty();
  };
  for (const auto draw : {random_job, indivisible_local_job})
    for (std::uint32_t index = 0; index < 1000; ++index) {
      const std::string failure = failure_of(index, violates, draw);
      INFO(failure);
      REQUIRE(failure.empty());
    }
}

TEST_CASE("random jobs happen on the fluid network as under SimGrid") {
  check_same(jobs_compared, jittered_job, on_fluid(Shortcuts::on), on_simgrid(Shortcuts::on));
}

TEST_CASE("random jobs happen without shortcuts as with them, on both engines") {
  check_same(jobs_compared, jittered_job, on_fluid(Shortcuts::on), on_fluid(Shortcuts::off));
  check_same(jobs_compared, jittered_job, on_fluid(Shortcuts::on), on_simgrid(Shortcuts::off));
}

TEST_CASE("jobs that train locally for long happen step by step as they do stretch by stretch") {
  // A stretch of H steps is one event: with every step an event of its own the same things happen, at the
  // same dates to 1e-9, with jitter of iterations and without, under schedules, by speed, by the rate, in
  // fragments, with buffers and windows, on shared machines, with members that leave and join.
  const Jobs local_job = [](std::uint32_t index) { return random_local_job(property_seed(), index); };
  const std::uint32_t count = jobs_compared * 2 / 5;  // they take thirty times as long as the others
  check_same(count, local_job, on_fluid(Shortcuts::on), on_fluid(Shortcuts::off));
  check_same(count, local_job, on_simgrid(Shortcuts::on), on_simgrid(Shortcuts::off));
}
