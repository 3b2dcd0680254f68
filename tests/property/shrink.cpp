#include "tests/property/shrink.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace paceline::test {
namespace {

class Simplifications {
 public:
  explicit Simplifications(const RandomJob& random) : random_(random), job_(random.job) {}

  std::vector<RandomJob> all() {
    drop_phases();
    drop_workers();
    drop_changes();
    drop_costs();
    simplify_cluster();
    simplify_work();
    return std::move(simpler_);
  }

 private:
  template <class Change>
  void consider(bool makes_a_difference, const Change& change) {
    if (!makes_a_difference) return;
    RandomJob simpler = random_;
    change(simpler.job);
    simpler_.push_back(std::move(simpler));
  }

  void drop_phases() {
    for (std::size_t p = 0; p < job_.phases.size(); ++p)
      consider(job_.phases.size() > 1, [p](TestJob& job) {
        const auto place = static_cast<std::ptrdiff_t>(p);
        job.phases.erase(job.phases.begin() + place);
        if (p < job.costs.switching.size()) job.costs.switching.erase(job.costs.switching.begin() + place);
        job.phases.back().length = {};
      });
  }

  void drop_workers() {
    for (std::size_t w = 0; w < job_.workers.size(); ++w)
      consider(job_.workers.size() > 1, [w](TestJob& job) { drop_worker(job, w); });
  }

  static void drop_worker(TestJob& job, std::uint64_t gone) {
    job.workers.erase(job.workers.begin() + static_cast<std::ptrdiff_t>(gone));
    const auto forget = [gone](auto& items) {
      std::erase_if(items, [gone](const auto& item) { return item.worker == gone; });
      for (auto& item : items)
        if (item.worker > gone) --item.worker;
    };
    Heterogeneity& changes = job.heterogeneity;
    forget(changes.trace);
    forget(changes.stragglers);
    forget(changes.membership);
    std::erase_if(changes.schedule, [gone](const Level& level) { return level.workers.front() == gone; });
    for (Level& level : changes.schedule)
      if (level.workers.front() > gone) --level.workers.front();
    const auto workers = static_cast<std::int64_t>(job.workers.size());
    for (PhaseConfig& phase : job.phases) {
      while (const auto complaint = complaint_about(phase.policy, workers)) {
        Parameters& parameters = phase.policy.parameters();
        const std::int64_t value = std::get<std::int64_t>(*parameters.value(complaint->key));
        parameters.set(complaint->key, value - 1);
      }
    }
  }

  void drop_changes() {
    const auto drop_each = [this](auto member) {
      for (std::size_t i = 0; i < (job_.heterogeneity.*member).size(); ++i)
        consider(true, [member, i](TestJob& job) {
          auto& items = job.heterogeneity.*member;
          items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
        });
    };
    drop_each(&Heterogeneity::schedule);
    drop_each(&Heterogeneity::trace);
    drop_each(&Heterogeneity::stragglers);
    // A worker's comings and goings go together: what is left of them could begin with another presence.
    for (std::uint64_t w = 0; w < job_.workers.size(); ++w) {
      const auto is_of_worker = [w](const MembershipChange& change) { return change.worker == w; };
      consider(std::ranges::any_of(job_.heterogeneity.membership, is_of_worker),
               [&](TestJob& job) { std::erase_if(job.heterogeneity.membership, is_of_worker); });
      // … or lose the last of them.
      consider(std::ranges::count_if(job_.heterogeneity.membership, is_of_worker) > 1, [&](TestJob& job) {
        std::vector<MembershipChange>& changes = job.heterogeneity.membership;
        const auto last = std::find_if(changes.rbegin(), changes.rend(), is_of_worker);
        changes.erase(std::next(last).base());
      });
    }
    consider(job_.heterogeneity.random_stragglers.has_value(),
             [](TestJob& job) { job.heterogeneity.random_stragglers.reset(); });
  }

  void drop_costs() {
    const FixedCosts& costs = job_.costs;
    consider(costs.start_up.has_value(), [](TestJob& job) { job.costs.start_up.reset(); });
    for (std::size_t p = 0; p < job_.phases.size(); ++p)
      consider(job_.phases[p].buckets.has_value(), [p](TestJob& job) { job.phases[p].buckets.reset(); });
    consider(job_.reaction != "fixed", [](TestJob& job) { job.reaction = "fixed"; });
    consider(job_.checkpoint_every.has_value(), [](TestJob& job) { job.checkpoint_every.reset(); });
    consider(!costs.coordination.is_free(), [](TestJob& job) { job.costs.coordination = {}; });
    consider(costs.ramp_up.iterations > 0, [](TestJob& job) { job.costs.ramp_up = {}; });
    consider(costs.preparation > Seconds{}, [](TestJob& job) { job.costs.preparation = {}; });
    consider(!costs.resume.empty(), [](TestJob& job) { job.costs.resume = {}; });
    consider(costs.evaluation_payer != EvaluationPayer::free,
             [](TestJob& job) { job.costs.evaluation_payer = EvaluationPayer::free; });
    consider(job_.target_accuracy.has_value(), [](TestJob& job) { job.target_accuracy.reset(); });
    consider(job_.evaluate_every.amount < 1e9,
             [](TestJob& job) { job.evaluate_every = TestJob{}.evaluate_every; });
    for (std::size_t p = 0; p < costs.switching.size(); ++p)
      consider(costs.switching[p].time + costs.switching[p].per_worker > Seconds{},
               [p](TestJob& job) { job.costs.switching[p] = {}; });
  }

  void simplify_cluster() {
    consider(!job_.machines.empty(), [](TestJob& job) { job.machines.clear(); });
    consider(
        std::ranges::any_of(job_.machines, [](const Machine& machine) { return machine.turns.has_value(); }),
        [](TestJob& job) {
          for (Machine& machine : job.machines) machine.turns.reset();
        });
    consider(std::ranges::any_of(job_.workers, [](const Worker& worker) { return worker.quota.has_value(); }),
             [](TestJob& job) {
               for (Worker& worker : job.workers) worker.quota.reset();
             });
    consider(job_.servers > 1, [](TestJob& job) { job.servers = 1; });
    consider(!job_.variables.empty(), [](TestJob& job) {
      job.split = ParameterSplit::even;
      job.variables.clear();
    });
    consider(job_.network.latency > Seconds{} || job_.network.bandwidth < TestJob{}.network.bandwidth,
             [](TestJob& job) { job.network = TestJob{}.network; });
    consider(job_.server_rate < TestJob{}.server_rate,
             [](TestJob& job) { job.server_rate = TestJob{}.server_rate; });
    const Jitter& jitter = job_.jitter;
    consider(jitter.run_cv + jitter.worker_cv + jitter.iteration_cv > 0.0,
             [](TestJob& job) { job.jitter = {}; });
    consider(job_.message_delay > Seconds{}, [](TestJob& job) { job.message_delay = {}; });
    for (std::size_t w = 0; w < job_.workers.size(); ++w)
      consider(job_.workers[w].speed != 1.0, [w](TestJob& job) { job.workers[w].speed = 1.0; });
  }

  void simplify_work() {
    consider(job_.total_samples > 1, [](TestJob& job) { job.total_samples /= 2; });
    consider(job_.batching.controller != "uniform",
             [](TestJob& job) { job.batching.controller = "uniform"; });
    consider(job_.intercept > Seconds{}, [](TestJob& job) { job.intercept = {}; });
    consider(job_.optimizer_step > Seconds{}, [](TestJob& job) { job.optimizer_step = {}; });
  }

  const RandomJob& random_;
  const TestJob& job_;
  std::vector<RandomJob> simpler_;
};

}  // namespace

RandomJob shrink(RandomJob failing, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (RandomJob& candidate : Simplifications(failing).all()) {
      if (!fails(candidate)) continue;
      failing = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return failing;
}

}  // namespace paceline::test
