// What is said of a learner after a run.
#include <doctest/doctest.h>

#include "sim/study/checks_before_running.hpp"

using namespace paceline;

TEST_CASE("staleness is remarked on from the first update beyond the range on") {
  StatisticalModel model;
  model.path = "learner.json";
  model.validity.staleness_max = 4.0;
  RunResult run;
  run.staleness[{0, 4}] = 10;
  CHECK(staleness_notes(model, run).empty());
  run.staleness[{1, 5}] = 1;
  CHECK(staleness_notes(model, run).size() == 1);
}

namespace {

PhaseEntry phase(const char* policy) {
  PhaseEntry entry;
  entry.config.policy = policy;
  return entry;
}

// Four workers that begin with batches of 32, between 8 and 64; 2 epochs of 1,000 samples.
Scenario scenario_of(std::vector<PhaseEntry> phases) {
  Scenario scenario;
  scenario.cluster.workers.resize(4);
  scenario.batching = {
      .controller = "static", .initial_samples = 32, .minimum_samples = 8, .maximum_samples = 64};
  scenario.synchronization = std::move(phases);
  scenario.stop.epochs = 2.0;
  scenario.job.dataset.train_samples = 1000;
  scenario.job.optimizer.learning_rate = 0.1;
  scenario.job.optimizer.momentum = 0.8;
  scenario.job.optimizer.worker_scaling = RateScaling::linear;
  scenario.job.optimizer.momentum_at_switch = {MomentumRule::staged, Count{10.0, CountUnit::updates}};
  return scenario;
}

ValueRange used(const Scenario& scenario, std::string_view quantity) {
  for (const ValidityRow& row : learner_validity(scenario, StatisticalModel{}))
    if (row.quantity == quantity) return row.used;
  FAIL("no row for " << quantity);
  return {};
}

}  // namespace

TEST_CASE("a job uses updates of its smallest to its largest batches, one or all workers' at once") {
  // BSP: 4 · 8 to 4 · 64 samples; ASP: 8 to 64; of both, in either order, 8 to 256.
  const ValueRange both{8.0, 256.0};
  CHECK(used(scenario_of({phase("bsp")}), "update (samples)") == ValueRange{32.0, 256.0});
  CHECK(used(scenario_of({phase("asp")}), "update (samples)") == ValueRange{8.0, 64.0});
  CHECK(used(scenario_of({phase("bsp"), phase("asp")}), "update (samples)") == both);
  CHECK(used(scenario_of({phase("asp"), phase("bsp")}), "update (samples)") == both);
  Scenario uniform = scenario_of({phase("bsp")});
  uniform.batching.controller = "uniform";
  CHECK(used(uniform, "update (samples)") == ValueRange{128.0, 128.0});
}

TEST_CASE("a job uses its workers, its workload, its rates, its momentum and the staleness of the others") {
  const Scenario bsp = scenario_of({phase("bsp")});
  const Scenario asp = scenario_of({phase("asp")});
  const Scenario switched = scenario_of({phase("bsp"), phase("asp")});
  CHECK(used(bsp, "workers") == ValueRange{4.0, 4.0});
  CHECK(used(bsp, "workload (samples)").most == 2000.0);
  // Linear in the gradients of an update: four times 0.1.
  CHECK(used(bsp, "learning rate").most == doctest::Approx(0.4));
  CHECK(used(asp, "learning rate").most == doctest::Approx(0.1));
  CHECK(used(switched, "learning rate").most == doctest::Approx(0.4));
  CHECK(used(bsp, staleness_quantity).most == 0.0);
  CHECK(used(asp, staleness_quantity).most == 3.0);
  CHECK(used(switched, staleness_quantity).most == 3.0);
  // After a switch to ASP the rule begins with a quarter of it; a first phase has no switch before it.
  CHECK(used(asp, "momentum") == ValueRange{0.8, 0.8});
  CHECK(used(switched, "momentum").least == doctest::Approx(0.2));
  CHECK(used(switched, "momentum").most == 0.8);
  CHECK(used(scenario_of({phase("asp"), phase("bsp")}), "momentum").least == 0.8);
}
