// Relations between two jobs that must give the same result: workers in another order, everything twice as
// fast, workers that are all alike.
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/learning/statistical_learner.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

using Order = std::vector<std::uint64_t>;  // at each place, who stands there

constexpr const char* adjusting[] = {"dynamic", "omnilearn-code", "proportional-repair", "lb-bsp"};
constexpr const char* protocols[] = {"bsp", "asp"};

// Whatever may differ between workers does: speeds, a level, a straggler; and every source of randomness is
//                                           on.
TestJob uneven_job(const char* controller, const char* policy) {
  TestJob job;
  job.workers.clear();
  for (const double speed : {9.0, 8.0, 6.0, 25.0}) job.workers.push_back({.speed = speed});
  job.workers[1].quota = CpuQuota{.cores = 0.8, .period = Seconds{0.5}};
  job.phases = {{.policy = policy, .transport = Transport::server}};
  job.batching = {.controller = controller,
                  .initial_samples = 32,
                  .minimum_samples = 1,
                  .maximum_samples = 200,
                  .adjustment_cost = Seconds{2.0}};
  job.costs.adjustment = Seconds{2.0};
  job.optimizer.learning_rate = 0.1;
  job.optimizer.batch_scaling = RateScaling::linear;
  job.dataset_samples = 1280;
  job.total_samples = 4 * 1280;
  job.evaluate_every = {640.0, EveryUnit::samples};
  job.network = {BytesPerSecond{4096.0}, Seconds{0.05}, BytesPerSecond{4096.0}};
  job.server_rate = BytesPerSecond{16384.0};
  job.intercept = Seconds{0.25};
  job.jitter = {.run_cv = 0.03, .worker_cv = 0.1, .iteration_cv = 0.1};
  job.heterogeneity.schedule = {{.at = AtEpoch{2.0}, .speeds = {1.0, 0.7, 1.3, 0.4}}};
  job.heterogeneity.stragglers = {
      {.worker = 2, .from = Seconds{30.0}, .duration = Seconds{10.0}, .slowdown = 3.0}};
  job.heterogeneity.random_stragglers = {.probability = 0.1, .window = Seconds{20.0}, .slowdown = 2.0};
  return job;
}

TestJob reordered(const TestJob& job, const Order& order) {
  TestJob other = job;
  Level& level = other.heterogeneity.schedule.front();
  for (std::size_t place = 0; place < order.size(); ++place) {
    other.workers[place] = job.workers[order[place]];
    level.speeds[place] = job.heterogeneity.schedule.front().speeds[order[place]];
    if (job.heterogeneity.stragglers.front().worker == order[place])
      other.heterogeneity.stragglers.front().worker = place;
  }
  return other;
}

TestJob with_own_streams(TestJob job) {
  for (std::uint32_t w = 0; w < job.workers.size(); ++w) job.workers[w].random_stream = 10 + w;
  return job;
}

// When each worker began which batch: the workers by their place in `order`'s numbering.
using Starts = std::vector<std::pair<double, std::int64_t>>;
std::vector<Starts> starts_by_worker(const TestJob::Result& result, const Order& order) {
  std::vector<Starts> starts(order.size());
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    starts[order[start.worker.value]].emplace_back(time.value(), start.batch_samples);
  return starts;
}

void check_same(const std::vector<Starts>& one, const std::vector<Starts>& other) {
  for (std::size_t w = 0; w < one.size(); ++w) {
    REQUIRE(one[w].size() == other[w].size());
    for (std::size_t i = 0; i < one[w].size(); ++i) {
      CHECK(one[w][i].first == doctest::Approx(other[w][i].first).epsilon(1e-12));
      CHECK(one[w][i].second == other[w][i].second);
    }
  }
}

StatisticalModel noisy_model() {
  StatisticalModel model;
  model.name = "noisy";
  model.form = find_form("relaxation");
  for (const FormParameter& parameter : model.form->parameters) model.values.push_back(parameter.initial);
  model.classes = 10;
  model.spread = {0.01, 0.3, 0.2};
  model.noise = {0.5, 1.0, 0.001};
  return model;
}

TestJob::Result trained(const TestJob& job) {
  StatisticalLearner learner(noisy_model(), static_cast<std::uint32_t>(job.workers.size()), 1, job.seed);
  return job.run_ideal(learner);
}

std::vector<std::pair<double, Evaluation>> evaluations_of(const TestJob::Result& result) {
  std::vector<std::pair<double, Evaluation>> evaluations;
  for (const auto& [time, event] : result.recording.events)
    if (const auto* evaluated = std::get_if<Evaluated>(&event))
      evaluations.emplace_back(time.value(), evaluated->evaluation.value());
  return evaluations;
}

void check_same(const std::vector<std::pair<double, Evaluation>>& one,
                const std::vector<std::pair<double, Evaluation>>& other) {
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].first == doctest::Approx(other[i].first).epsilon(1e-12));
    CHECK(one[i].second.loss == doctest::Approx(other[i].second.loss).epsilon(1e-9));
    CHECK(one[i].second.accuracy == doctest::Approx(other[i].second.accuracy).epsilon(1e-9));
  }
}

std::size_t adjustments_of(const TestJob::Result& result) {
  return result.recording.all<AdoptBatches>().size() - 1;  // the first is the start
}

}  // namespace

TEST_CASE("relabelling the workers together with their random streams gives the same job") {
  // Every worker keeps its machine and its random numbers and has another place: it begins the same batches
  //                                                                              at the same
  // times, and the learner, which sees the same updates, draws the same curve. Times may differ in the last
  // digit, because means over workers are summed in another order. What is tied goes to the lower place: here
  // no two workers are alike, so that only beginnings together are (at the start, and after everybody
  // waited), which commute.
  const Order as_written{0, 1, 2, 3};
  for (const char* controller : adjusting) {
    for (const char* policy : protocols) {
      CAPTURE(controller);
      CAPTURE(policy);
      const TestJob job = with_own_streams(uneven_job(controller, policy));
      const TestJob::Result result = trained(job);
      CHECK(adjustments_of(result) >= 1);
      for (const Order& order : {Order{2, 0, 3, 1}, Order{3, 2, 1, 0}}) {
        const TestJob::Result other = trained(reordered(job, order));
        check_same(starts_by_worker(result, as_written), starts_by_worker(other, order));
        check_same(evaluations_of(result), evaluations_of(other));
      }
    }
  }
}

TEST_CASE("without streams of their own random numbers stay with the places") {
  // What the case above would not notice: the same relabelling, with the machines alone.
  const TestJob job = uneven_job("proportional-repair", "asp");
  const TestJob::Result result = job.run_ideal();
  const TestJob::Result other = reordered(job, {2, 0, 3, 1}).run_ideal();
  CHECK(result.end.value() != doctest::Approx(other.end.value()).epsilon(1e-6));
}

TEST_CASE("scaling every rate and every timed event by two halves every time") {
  // Half the seconds for a sample, for messages (twice the bandwidth, half the latency), for the server, for
  // pauses, quotas, stragglers, their windows and the dates of levels; with jitter, which has no unit. The
  // same decisions at half the times.
  for (const char* controller : adjusting) {
    for (const char* policy : protocols) {
      CAPTURE(controller);
      CAPTURE(policy);
      const TestJob job = uneven_job(controller, policy);
      TestJob twice = job;
      twice.intercept = job.intercept / 2.0;
      twice.slope_per_sample = job.slope_per_sample / 2.0;
      twice.workers[1].quota->period = job.workers[1].quota->period / 2.0;
      twice.network = {BytesPerSecond{8192.0}, Seconds{0.025}, BytesPerSecond{8192.0}};
      twice.server_rate = BytesPerSecond{32768.0};
      twice.batching.adjustment_cost = twice.costs.adjustment = job.costs.adjustment / 2.0;
      twice.heterogeneity.stragglers.front().from = Seconds{15.0};
      twice.heterogeneity.stragglers.front().duration = Seconds{5.0};
      twice.heterogeneity.random_stragglers->window = job.heterogeneity.random_stragglers->window / 2.0;
      const TestJob::Result slow = job.run_ideal();
      const TestJob::Result fast = twice.run_ideal();
      CHECK(adjustments_of(slow) >= 1);
      REQUIRE(slow.recording.events.size() == fast.recording.events.size());
      for (std::size_t i = 0; i < slow.recording.events.size(); ++i) {
        CHECK(2.0 * fast.recording.events[i].time.value() ==
              doctest::Approx(slow.recording.events[i].time.value()).epsilon(1e-12));
        CHECK(order_among_equals(fast.recording.events[i].event) ==
              order_among_equals(slow.recording.events[i].event));
      }
      CHECK(batches_of(slow.recording.all<AdoptBatches>().back().second.allocation) ==
            batches_of(fast.recording.all<AdoptBatches>().back().second.allocation));
    }
  }
}

TEST_CASE("equal workers without jitter keep their batches under every controller and protocol") {
  for (const char* controller :
       {"uniform", "static", "dynamic", "omnilearn-code", "proportional-repair", "lb-bsp"}) {
    for (const char* policy : protocols) {
      TestJob job = uneven_job(controller, policy);
      for (Worker& worker : job.workers) worker = {.speed = 9.0};
      job.jitter = {};
      job.heterogeneity = {};
      const TestJob::Result result = job.run_ideal();
      CHECK(result.applied_samples >= job.total_samples);
      CHECK(adjustments_of(result) == 0);
      for (const auto& [time, start] : result.recording.all<StartIteration>())
        CHECK(start.batch_samples == 32);
    }
  }
}
