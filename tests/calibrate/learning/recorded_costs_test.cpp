// What recorded step times say about time, taken apart by hand.
#include "calibrate/learning/recorded_costs.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

// Runs of one phase of 800 mini-batches of 10 samples, each with its seconds per step.
RunGroup group_of(const std::string& name, bool synchronous, std::uint32_t workers,
                  const std::vector<double>& steps_s) {
  RunGroup group{name, {}};
  for (const double step_s : steps_s) {
    TrainingRun run;
    run.name = run.group = name;
    run.plan.workers = workers;
    run.plan.batch_samples = 10.0;
    run.plan.phases = {{synchronous, 800.0}};
    run.phases = {{synchronous, 800.0 / (synchronous ? workers : 1.0), step_s}};
    group.runs.push_back(run);
  }
  return group;
}

RunGroup delayed(RunGroup group, std::optional<double> added_latency_s) {
  for (TrainingRun& run : group.runs) {
    run.plan.delayed_workers = 1;
    run.plan.added_latency_s = added_latency_s;
  }
  return group;
}

std::vector<const RunGroup*> pointers(const std::vector<RunGroup>& groups) {
  std::vector<const RunGroup*> all;
  for (const RunGroup& group : groups) all.push_back(&group);
  return all;
}

}  // namespace

TEST_CASE("the larger of two log-normal factors is on average 2 Phi(sigma / sqrt 2), the only one is 1") {
  for (const double cv : {0.05, 0.1, 0.5}) {
    const double sigma = std::sqrt(std::log(1.0 + cv * cv));
    CHECK(expected_largest(1, cv) == doctest::Approx(1.0).epsilon(1e-3 * cv));
    CHECK(expected_largest(2, cv) == doctest::Approx(std::erfc(-sigma / 2.0)).epsilon(1e-3 * cv));
  }
  // Without variation, and with one that is none, the largest of any number is 1.
  CHECK(expected_largest(7, 0.0) == 1.0);
}

TEST_CASE("with synchronous phases alone an iteration is the step over the wait for the slowest") {
  // Median over runs of T / m(4), and nothing is serial beyond it but in the run that took longer: 0 at the
  // median.
  const std::vector<RunGroup> groups{group_of("net-4/bsp", true, 4, {1.0, 1.1, 1.4})};
  const RecordedCosts costs = *recorded_costs(pointers(groups));
  CHECK(costs.iteration_s == doctest::Approx(1.1 / expected_largest(4, 0.1)));
  CHECK(*costs.serial_per_worker_s == doctest::Approx(0.0));
  CHECK(costs.iteration_cv == 0.1);
}

TEST_CASE("runs of one protocol and worker count differ by the pooled relative deviation of their steps") {
  // Synchronous: 1.0 and 1.2: mean 1.1, sd² 0.02, 1 degree; asynchronous: 0.1, 0.2, 0.3: mean 0.2, sd² 0.01,
  // 2 degrees; of 8 workers: a single one, none.
  const std::vector<RunGroup> groups{group_of("net-4/bsp", true, 4, {1.0, 1.2}),
                                     group_of("net-4/asp", false, 4, {0.1, 0.2, 0.3}),
                                     group_of("net-8/asp", false, 8, {7.0})};
  const double pooled = std::sqrt((0.02 / 1.21 + 2.0 * 0.01 / 0.04) / 3.0);
  CHECK(recorded_costs(pointers(groups))->run_cv == doctest::Approx(pooled));
  const std::vector<RunGroup> single{group_of("net-4/bsp", true, 4, {1.0})};
  CHECK(recorded_costs(pointers(single))->run_cv == 0.0);
}

TEST_CASE("steps between pauses are used where a log tells them, and then nothing else") {
  std::vector<RunGroup> groups{group_of("net-4/asp", false, 4, {0.5, 0.5, 0.1})};
  groups[0].runs[2].phases[0].seconds_between_pauses = 0.08;
  CHECK(recorded_costs(pointers(groups))->iteration_s == doctest::Approx(4.0 * 0.08));
}

TEST_CASE("checkpoints come every so many samples, at the median pause, and steps take their part") {
  // Two runs of 800 mini-batches of 10 samples with three and one pauses: 16,000 / 4 = 4,000 samples. Of 3,
  // 4, 5 and 9 s the median is 4.5 s: 10 / 4,000 of it for each mini-batch, 0.01125 s.
  std::vector<RunGroup> groups{group_of("net-4/bsp", true, 4, {3.0, 3.0}),
                               group_of("net-4/asp", false, 4, {0.25})};
  groups[0].runs[0].phases[0].pauses_s = {3.0, 4.0, 5.0};
  groups[0].runs[1].phases[0].pauses_s = {9.0};
  const RecordedCosts costs = *recorded_costs(pointers(groups));
  REQUIRE(costs.checkpoints.has_value());
  CHECK(costs.checkpoints->every_samples == doctest::Approx(4000.0));
  CHECK(costs.checkpoints->pause_s == doctest::Approx(4.5));
  // An iteration is 4 · 0.25 = 1 s; a synchronous step 3 s = m(4) + 4 · serial.
  const ClockRates rates = rates_of(costs, 4, 10.0);
  CHECK(*rates.asynchronous_s_per_step == doctest::Approx((1.0 + 0.01125) / 4.0));
  CHECK(*rates.synchronous_s_per_step == doctest::Approx(3.0 + 4.0 * 0.01125));
  // Eight workers wait for the slowest of eight, and the coordinator serves each of them; with batches of 20
  // half as many mini-batches fit between two checkpoints.
  const double serial = (3.0 - expected_largest(4, 0.1)) / 4.0;
  const ClockRates eight = rates_of(costs, 8, 20.0);
  CHECK(*eight.asynchronous_s_per_step == doctest::Approx((1.0 + 0.0225) / 8.0));
  CHECK(*eight.synchronous_s_per_step == doctest::Approx(expected_largest(8, 0.1) + 8.0 * (serial + 0.0225)));
}

TEST_CASE("a typical step is the one below which half of the mini-batches lie") {
  // Asynchronous: 800 mini-batches at 0.1 s and as many at 0.3 s: between the two.
  const std::vector<RunGroup> two{group_of("net-4/asp", false, 4, {0.3, 0.1})};
  CHECK(*typical_rates(pointers(two), 4).asynchronous_s_per_step == doctest::Approx(0.2));
  CHECK_FALSE(typical_rates(pointers(two), 4).synchronous_s_per_step.has_value());
  // With a third run the middle one.
  const std::vector<RunGroup> three{group_of("net-4/asp", false, 4, {0.3, 0.1, 0.4})};
  CHECK(*typical_rates(pointers(three), 4).asynchronous_s_per_step == doctest::Approx(0.3));
  // For twice the workers a mini-batch takes half, a synchronous step twice the time.
  const std::vector<RunGroup> both{group_of("net-4/asp", false, 4, {0.3}),
                                   group_of("net-4/bsp", true, 4, {1.0})};
  CHECK(*typical_rates(pointers(both), 8).asynchronous_s_per_step == doctest::Approx(0.15));
  CHECK(*typical_rates(pointers(both), 8).synchronous_s_per_step == doctest::Approx(2.0));
  // A synchronous step counts for the mini-batches of all its workers: 800 of each, though 200 steps are
  // fewer than 400.
  std::vector<RunGroup> synchronous{group_of("net-4/bsp", true, 4, {1.0}),
                                    group_of("net-2/bsp", true, 2, {2.0})};
  CHECK(*typical_rates(pointers(synchronous), 4).synchronous_s_per_step ==
        doctest::Approx((1.0 + 4.0) / 2.0));
  // Delayed workers are not typical.
  const std::vector<RunGroup> slow{group_of("net-4/asp", false, 4, {0.1}),
                                   delayed(group_of("net-4/asp-1straggler", false, 4, {0.9}), 0.01)};
  CHECK(*typical_rates(pointers(slow), 4).asynchronous_s_per_step == doctest::Approx(0.1));
  CHECK(undelayed_costs(pointers(slow))->iteration_s == doctest::Approx(0.4));
}

TEST_CASE(
    "what steps leave of the time of a job that turns asynchronous is added once, never less than none") {
  // 400 synchronous mini-batches of 4 workers: 100 steps of 1 s; 400 asynchronous ones at 0.25 s: 200 s.
  const auto job = [](double time_s) {
    RunGroup group = group_of("net-4/bsp50-asp50", true, 4, {1.0});
    TrainingRun& run = group.runs.front();
    run.plan.phases = {{true, 400.0}, {false, 400.0}};
    run.phases = {{true, 100.0, 1.0}, {false, 400.0, 0.25}};
    run.training_time_s = time_s;
    return group;
  };
  const auto added = [](const std::vector<RunGroup>& groups, std::uint32_t workers) {
    return typical_rates(pointers(groups), workers).to_asynchronous_s;
  };
  CHECK(added({job(207.0)}, 4) == doctest::Approx(7.0));
  CHECK(added({job(207.0), job(211.0), job(230.0)}, 4) == doctest::Approx(11.0));
  CHECK(added({job(190.0)}, 4) == 0.0);
  // Of other worker counts, and of delayed workers, nothing is known.
  CHECK(added({job(207.0)}, 8) == 0.0);
  CHECK(added({delayed(job(207.0), 0.01), job(203.0)}, 4) == doctest::Approx(3.0));
}

TEST_CASE("the delay of a worker is told by a job with one such worker, the same latency first") {
  // Four workers, 0.05 s a mini-batch: an iteration of 0.2 s. With one at 0.1 s more, 3 / 0.2 + 1 / 0.3
  // mini-batches a second; at 0.7 s more 3 / 0.2 + 1 / 0.9.
  const RunGroup plain = group_of("net-4/asp", false, 4, {0.05});
  const RunGroup by_10_ms = delayed(group_of("net-4/asp-10ms", false, 4, {1.0 / (15.0 + 1.0 / 0.3)}), 0.01);
  const RunGroup by_50_ms = delayed(group_of("net-4/asp-50ms", false, 4, {1.0 / (15.0 + 1.0 / 0.9)}), 0.05);
  const std::vector<RunGroup> all{by_10_ms, by_50_ms, plain};
  CHECK(*recorded_delay_s(pointers(all), 0.05) == doctest::Approx(0.7));
  CHECK(*recorded_delay_s(pointers(all), 0.01) == doctest::Approx(0.1));
  // Of 20 ms nothing is recorded: twice the delay of the first.
  CHECK(*recorded_delay_s(pointers(all), 0.02) == doctest::Approx(0.2));
  // Without a delayed job, or an undelayed one of its setup, or a synchronous one in its place: nothing.
  CHECK_FALSE(recorded_delay_s(pointers({plain}), 0.01).has_value());
  CHECK_FALSE(
      recorded_delay_s(pointers({by_10_ms, group_of("net-8/asp", false, 8, {0.05})}), 0.01).has_value());
  CHECK_FALSE(
      recorded_delay_s(pointers({by_10_ms, group_of("net-4/bsp", true, 4, {0.05})}), 0.01).has_value());
  // So slow that the others alone would have been faster: that is no delay of one worker.
  const RunGroup too_slow = delayed(group_of("net-4/asp-10ms", false, 4, {1.0 / 14.0}), 0.01);
  CHECK_FALSE(recorded_delay_s(pointers({too_slow, plain}), 0.01).has_value());
  // Faster than without: no delay, not a negative one.
  const RunGroup faster = delayed(group_of("net-4/asp-10ms", false, 4, {0.04}), 0.01);
  CHECK(*recorded_delay_s(pointers({faster, plain}), 0.01) == 0.0);
}
