#include "calibrate/measure/planning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/fit/batch_law.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

const std::vector<std::int64_t> usual_batches = {4, 8, 16, 32, 64, 128, 256};
constexpr std::size_t fewest_batches = 3;
constexpr std::size_t fewest_core_counts = 2;
constexpr double warm_up_factor = 1.2;

// Each step of being content with less: a shorter time and fewer iterations for each point.
struct Effort {
  double seconds_per_point;
  int minimum_iterations;
};
constexpr Effort less_effort = {0.1, 5};
constexpr Effort least_effort = {0.0, 3};

double planned_seconds(const MeasurementPlan& plan, const Probe& probe) {
  return plan.processes * pass_seconds(plan, probe);
}

std::string gigabytes(Bytes bytes) {
  return fmt::format("{:.2g} GB", bytes.value() / 1e9);
}

void keep_what_fits_in_memory(MeasurementPlan& plan, const Probe& probe, const Limits& limits) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t batch : plan.batches) {
    if (probe.memory(batch) <= limits.memory)
      fitting.push_back(batch);
    else
      plan.dropped.push_back(fmt::format("batch {}: it needs about {}, of {} that may be used", batch,
                                         gigabytes(probe.memory(batch)), gigabytes(limits.memory)));
  }
  plan.batches = std::move(fitting);
}

void refuse_what_does_not_fit(const MeasurementPlan& plan, const Probe& probe, const Limits& limits) {
  for (const std::int64_t batch : plan.batches)
    if (probe.memory(batch) > limits.memory)
      throw UserError(fmt::format("--batches: batch {} needs about {}, but {} may be used", batch,
                                  gigabytes(probe.memory(batch)), gigabytes(limits.memory)),
                      "leave it out, end other programs, or raise the limit with --memory");
}

void reduce_effort(MeasurementPlan& plan, const Probe& probe, double budget_s) {
  for (const Effort& effort : {less_effort, least_effort}) {
    if (planned_seconds(plan, probe) <= budget_s) return;
    plan.seconds_per_point = std::min(plan.seconds_per_point, effort.seconds_per_point);
    plan.minimum_iterations = std::min(plan.minimum_iterations, effort.minimum_iterations);
  }
}

void drop_large_batches(MeasurementPlan& plan, const Probe& probe, double budget_s) {
  while (plan.batches.size() > fewest_batches && planned_seconds(plan, probe) > budget_s) {
    plan.dropped.push_back(
        fmt::format("batch {}: with it, {} passes would take about {:.0f} s; {:.0f} s are left",
                    plan.batches.back(), plan.processes, planned_seconds(plan, probe), budget_s));
    plan.batches.pop_back();
  }
}

// Small ones cost little: six batches let a knee show.
void add_small_batches(MeasurementPlan& plan, const Probe& probe, double budget_s) {
  for (const std::int64_t batch : {2, 1}) {
    if (plan.batches.size() >= minimum_batches_for_knee) return;
    // A user's network may normalize over the batch after pooling, which one sample does not allow.
    if (batch == 1 && !plan.input_shape.empty()) return;
    std::vector<std::int64_t> extended = {batch};
    extended.insert(extended.end(), plan.batches.begin(), plan.batches.end());
    plan.batches = std::move(extended);
    drop_large_batches(plan, probe, budget_s);
  }
}

void drop_middle_core_counts(MeasurementPlan& plan, const Probe& probe, double budget_s) {
  while (plan.cores.size() > fewest_core_counts && planned_seconds(plan, probe) > budget_s) {
    const auto middle = plan.cores.begin() + static_cast<std::ptrdiff_t>(plan.cores.size() / 2);
    plan.dropped.push_back(fmt::format("{} cores: out of time", *middle));
    plan.cores.erase(middle);
  }
}

// Three batches and two core counts are the least a profile can be made of.
void say_when_over_budget(MeasurementPlan& plan, const Probe& probe, double budget_s) {
  if (planned_seconds(plan, probe) > budget_s)
    plan.dropped.push_back(
        fmt::format("nothing more: this smallest plan takes about {:.0f} s, longer than the {:.0f} s left",
                    planned_seconds(plan, probe), budget_s));
}

}  // namespace

double Probe::iteration_s(std::int64_t batch) const {
  const auto span = static_cast<double>(large.batch - small.batch);
  const double slope = std::max(0.0, (large.iteration_s - small.iteration_s) / span);
  return std::max(small.iteration_s, large.iteration_s + slope * static_cast<double>(batch - large.batch));
}

Bytes Probe::memory(std::int64_t batch) const {
  const auto span = static_cast<double>(large.batch - small.batch);
  const double slope = std::max(0.0, (large.peak_memory_bytes - small.peak_memory_bytes) / span);
  return Bytes{std::max(small.peak_memory_bytes,
                        large.peak_memory_bytes + slope * static_cast<double>(batch - large.batch))};
}

double pass_seconds(const MeasurementPlan& plan, const Probe& probe) {
  const int warm_up = std::clamp(plan.minimum_iterations / 3, 1, 3);
  double of_process = probe.start_s;
  for (const std::int64_t batch : plan.batches)
    of_process += std::max(warm_up_factor * plan.seconds_per_point,
                           (plan.minimum_iterations + warm_up) * probe.iteration_s(batch));
  return static_cast<double>(plan.cores.size()) * of_process;
}

MeasurementPlan fitting_plan(const MeasurementPlan& wanted, const Probe& probe, const Limits& limits) {
  check(probe.large.batch > probe.small.batch, "the probe has two batches");
  MeasurementPlan plan = wanted;
  if (!plan.batches.empty()) {
    refuse_what_does_not_fit(plan, probe, limits);
    return plan;
  }
  plan.batches = usual_batches;
  keep_what_fits_in_memory(plan, probe, limits);
  reduce_effort(plan, probe, limits.budget_s);
  drop_large_batches(plan, probe, limits.budget_s);
  add_small_batches(plan, probe, limits.budget_s);
  drop_middle_core_counts(plan, probe, limits.budget_s);
  say_when_over_budget(plan, probe, limits.budget_s);
  if (plan.batches.size() < fewest_batches)
    throw UserError(fmt::format("{}: only the batches {} fit into {}", plan.network,
                                fmt::join(plan.batches, ", "), gigabytes(limits.memory)),
                    "end other programs, or raise the limit with --memory");
  return plan;
}

}  // namespace paceline::calibrate
