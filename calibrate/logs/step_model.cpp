#include "calibrate/logs/step_model.hpp"

#include <set>

#include <fmt/format.h>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {

double RecordedRuns::step_s() const {
  std::vector<double> steps;
  for (const StepTimes& run : runs) steps.push_back(run.step_s);
  return median(std::move(steps));
}

double RecordedRuns::pause_s() const {
  std::vector<double> pauses;
  for (const StepTimes& run : runs) pauses.insert(pauses.end(), run.pauses_s.begin(), run.pauses_s.end());
  return pauses.empty() ? 0.0 : median(std::move(pauses));
}

double RecordedRuns::steps_between_pauses() const {
  std::vector<double> steps;
  for (const StepTimes& run : runs)
    if (!run.pauses_s.empty()) steps.push_back(run.steps / static_cast<double>(run.pauses_s.size()));
  return steps.empty() ? 0.0 : median(std::move(steps));
}

StepModel fit_step_model(const RecordedRuns& asp, const std::vector<RecordedRuns>& bsp) {
  check(!bsp.empty(), "a step model needs synchronous runs");
  StepModel model;
  model.parallel_s = asp.workers * asp.step_s();
  std::set<int> counts;
  std::vector<LinearEquation> equations;
  for (const RecordedRuns& group : bsp) {
    const double serial_s = group.step_s() - model.parallel_s;
    if (serial_s <= 0.0)
      throw UserError(
          fmt::format("a BSP step of {} workers takes {:.3g} s, no longer than an ASP iteration of one "
                      "worker ({:.3g} s)",
                      group.workers, group.step_s(), model.parallel_s),
          "are the worker counts right, and is the ASP step the step of the whole cluster?");
    counts.insert(group.workers);
    equations.push_back({serial_s, {1.0, static_cast<double>(group.workers)}});
  }
  if (counts.size() == 1) {
    double sum = 0.0;
    for (const RecordedRuns& group : bsp) sum += (group.step_s() - model.parallel_s) / group.workers;
    model.serial_per_worker_s = sum / static_cast<double>(bsp.size());
    return model;
  }
  const std::vector<double> x = relative_least_squares(equations).unknowns;
  model.serial_fixed_s = x[0];
  model.serial_per_worker_s = x[1];
  return model;
}

double ring_null_step_s(const StepModel& model, const RecordedRuns& bsp, int workers) {
  const auto share = [](int count) { return static_cast<double>(count - 1) / count; };
  return model.parallel_s + (bsp.step_s() - model.parallel_s) * share(workers) / share(bsp.workers);
}

}  // namespace paceline::calibrate
