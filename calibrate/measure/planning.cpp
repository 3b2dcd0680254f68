#include "calibrate/measure/planning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/fit/laws.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

const std::vector<std::int64_t> usual_batches = {4, 8, 16, 32, 64, 128, 256};
constexpr std::size_t fewest_batches = 3;
constexpr std::size_t fewest_core_counts = 2;
constexpr std::size_t most_held_out_batches = 4;
constexpr double warm_up_factor = 1.2;

// Through the probe's two points, and not below the smaller one's value.
double line_through(const Probe& probe, double ProbePoint::*value, std::int64_t batch) {
  const auto span = static_cast<double>(probe.large.batch - probe.small.batch);
  const double slope = std::max(0.0, (probe.large.*value - probe.small.*value) / span);
  return std::max(probe.small.*value,
                  probe.large.*value + slope * static_cast<double>(batch - probe.large.batch));
}

std::string gigabytes(Bytes bytes) {
  return fmt::format("{:.2g} GB", bytes.value() / 1e9);
}

// A plan that is cut down until it fits.
struct Cutting {
  MeasurementPlan plan;
  const Probe& probe;
  const Limits& limits;

  [[nodiscard]] double seconds() const { return plan.processes * pass_seconds(plan, probe); }
  [[nodiscard]] bool is_too_long() const { return seconds() > limits.budget_s; }

  void keep_what_fits_in_memory() {
    std::erase_if(plan.batches, [&](std::int64_t batch) {
      const Bytes needed = probe.memory(batch);
      if (needed <= limits.memory) return false;
      plan.dropped.push_back(fmt::format("batch {}: it needs about {}, of {} that may be used", batch,
                                         gigabytes(needed), gigabytes(limits.memory)));
      return true;
    });
  }

  // A shorter time and fewer iterations for each point.
  void reduce_effort(double seconds_per_point, int minimum_iterations) {
    if (!is_too_long()) return;
    plan.seconds_per_point = std::min(plan.seconds_per_point, seconds_per_point);
    plan.minimum_iterations = std::min(plan.minimum_iterations, minimum_iterations);
  }

  void drop_large_batches() {
    while (plan.batches.size() > fewest_batches && is_too_long()) {
      plan.dropped.push_back(
          fmt::format("batch {}: with it, {} passes would take about {:.0f} s; {:.0f} s are left",
                      plan.batches.back(), plan.processes, seconds(), limits.budget_s));
      plan.batches.pop_back();
    }
  }

  // Small ones cost little: six batches let a knee show.
  void add_small_batches() {
    for (const std::int64_t batch : {2, 1}) {
      // A user's network may normalize over the batch after pooling, which one sample does not allow.
      if (plan.batches.size() >= minimum_batches_for_knee || (batch == 1 && !plan.input_shape.empty()))
        return;
      std::vector<std::int64_t> extended{batch};
      extended.insert(extended.end(), plan.batches.begin(), plan.batches.end());
      plan.batches = std::move(extended);
      drop_large_batches();
    }
  }

  void drop_middle_core_counts() {
    while (plan.cores.size() > fewest_core_counts && is_too_long()) {
      const auto middle = plan.cores.begin() + static_cast<std::ptrdiff_t>(plan.cores.size() / 2);
      plan.dropped.push_back(fmt::format("{} cores: out of time", *middle));
      plan.cores.erase(middle);
    }
  }
};

std::int64_t between(std::int64_t low, std::int64_t high) {
  return std::llround(std::sqrt(static_cast<double>(low) * static_cast<double>(high)));
}

}  // namespace

double Probe::iteration_s(std::int64_t batch) const {
  return line_through(*this, &ProbePoint::iteration_s, batch);
}

Bytes Probe::memory(std::int64_t batch) const {
  const double of_inputs = bytes_per_sample * static_cast<double>(batch - small.batch);
  return Bytes{std::max(line_through(*this, &ProbePoint::peak_memory_bytes, batch),
                        small.peak_memory_bytes + of_inputs)};
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
  for (const std::int64_t batch : wanted.batches)
    if (probe.memory(batch) > limits.memory)
      throw UserError(fmt::format("--batches: batch {} needs about {}, but {} may be used", batch,
                                  gigabytes(probe.memory(batch)), gigabytes(limits.memory)),
                      "leave it out, end other programs, or raise the limit with --memory");
  if (!wanted.batches.empty()) return wanted;
  Cutting cut{wanted, probe, limits};
  MeasurementPlan& plan = cut.plan;
  plan.batches = usual_batches;
  cut.keep_what_fits_in_memory();
  cut.reduce_effort(0.1, 5);
  cut.reduce_effort(0.0, 3);
  cut.drop_large_batches();
  cut.add_small_batches();
  cut.drop_middle_core_counts();
  if (cut.is_too_long())
    plan.dropped.push_back(
        fmt::format("nothing more: this smallest plan takes about {:.0f} s, longer than the {:.0f} s left",
                    cut.seconds(), limits.budget_s));
  if (plan.batches.size() < fewest_batches)
    throw UserError(fmt::format("{}: only the batches {} fit into {}", plan.network,
                                fmt::join(plan.batches, ", "), gigabytes(limits.memory)),
                    "end other programs, or raise the limit with --memory");
  return plan;
}

std::vector<std::int64_t> held_out_batches(const std::vector<std::int64_t>& measured) {
  std::vector<std::int64_t> candidates;
  for (std::size_t i = 0; i + 1 < measured.size(); ++i) {
    const std::int64_t batch = between(measured[i], measured[i + 1]);
    if (batch != measured[i] && batch != measured[i + 1]) candidates.push_back(batch);
  }
  if (candidates.size() <= most_held_out_batches) return candidates;
  std::vector<std::int64_t> spread;
  for (std::size_t i = 0; i < most_held_out_batches; ++i)
    spread.push_back(candidates[i * (candidates.size() - 1) / (most_held_out_batches - 1)]);
  return spread;
}

std::vector<int> held_out_cores(const Profile& profile, int machine_cores) {
  std::vector<int> counts;
  for (const ComputeFit& fit : profile.compute)
    if (fit.cores <= machine_cores) counts.push_back(fit.cores);
  if (!profile.core_scaling || !profile.core_scaling->leave_one_out_error) return counts;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    const auto middle = static_cast<int>(between(counts[i], counts[i + 1]));
    if (middle == counts[i] || middle == counts[i + 1]) continue;
    counts.insert(counts.begin() + static_cast<std::ptrdiff_t>(i) + 1, middle);
    break;
  }
  return counts;
}

}  // namespace paceline::calibrate
