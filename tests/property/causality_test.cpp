// No future knowledge: what happens up to a time is the same whatever is scripted after it.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/property/failure.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

// Everything up to and at t.
std::vector<Entry> until(Seconds t, const std::vector<Entry>& entries) {
  std::vector<Entry> past;
  for (const Entry& entry : entries)
    if (entry.time <= t) past.push_back(entry);
  return past;
}

std::int64_t samples_applied(const std::vector<Entry>& entries) {
  // Every complete update is followed by the next evaluation or not; what is started is an upper bound that
  // is good enough to place something in the future.
  std::int64_t samples = 0;
  for (const Entry& entry : entries)
    if (!entry.is_event &&
        (entry.kind == Action(StartIteration{}).index() || entry.kind == Action(TrainOn{}).index()))
      samples += static_cast<std::int64_t>(entry.content[3] * entry.content[5]);
  return samples;
}

// The same job with other conditions strictly after t.
RandomJob with_another_future(RandomJob random, Seconds t, const std::vector<Entry>& past) {
  Heterogeneity& changes = random.job.heterogeneity;
  const Seconds soon{t.value() + 1e-6};
  const Seconds later{t.value() + 25.0};
  const double progress =
      static_cast<double>(samples_applied(past) + 1) / static_cast<double>(random.job.total_samples);
  changes.schedule.push_back({.at = soon, .workers = {0}, .speeds = {0.37}, .bandwidths = {0.11}});
  changes.schedule.push_back({.at = AtProgress{progress}, .workers = {0}, .speeds = {0.5}});
  changes.schedule.push_back({.at = AtEpoch{progress}, .workers = {0}, .bandwidths = {0.3}});
  changes.stragglers.push_back({.worker = random.job.workers.size() - 1,
                                .from = soon,
                                .duration = Seconds{40.0},
                                .slowdown = 3.0,
                                .added_latency = Seconds{2.0}});
  const std::uint64_t last = random.job.workers.size() - 1;
  const bool comes_and_goes = std::ranges::any_of(
      changes.membership, [&](const MembershipChange& change) { return change.worker == last; });
  if (random.job.servers == 1 && last > 0 && !comes_and_goes) {
    changes.membership.push_back({soon, last, MembershipEvent::leaves});
    changes.membership.push_back({later, last, MembershipEvent::joins});
  }
  return random;
}

}  // namespace

TEST_CASE("whatever is scripted after t, all events and actions up to t are the same") {
  std::size_t futures_that_differ = 0;
  for (std::uint32_t index = 0; index < 200; ++index) {
    const double fraction = 0.05 + 0.9 * static_cast<double>(index % 19) / 19.0;
    const auto foresees = [&](const RandomJob& random) {
      const Checked base = run_and_check(random);
      const Seconds t = fraction * base.end;
      const std::vector<Entry> past = until(t, base.entries);
      const Checked other = run_and_check(with_another_future(random, t, past));
      if (other.entries != base.entries) ++futures_that_differ;
      return !other.violations.empty() || until(t, other.entries) != past;
    };
    const std::string failure = failure_of(index, foresees);
    INFO(failure);
    REQUIRE(failure.empty());
  }
  // Not because nothing has any effect.
  CHECK(futures_that_differ > 150);
}
