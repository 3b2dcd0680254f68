// `paceline calibrate check PROFILE`: does the profile still hold on this machine?
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/measure/measure.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

// The states of the cores that the profile describes.
std::map<int, double> described_states(const MeasuredProfile& measured) {
  std::vector<Sample> samples = measured.samples;
  std::map<int, double> round_trips;
  for (const CoreStates& of_cores : set_states_apart(samples))
    if (of_cores.main.points > 0) round_trips[of_cores.cores] = of_cores.main.round_trip_s;
  return round_trips;
}

MeasurementPlan plan_of(const MeasuredProfile& measured, const CheckArguments& arguments,
                        const Machine& machine) {
  MeasurementPlan plan = measured.plan;
  plan.processes = arguments.processes;
  plan.budget_s = arguments.budget_s;
  plan.data.reset();
  plan.wanted_round_trip_s = described_states(measured);
  plan.cores = held_out_cores(measured.profile, cores_within_quota(machine));
  plan.batches = held_out_batches(measured.plan.batches);
  if (plan.cores.empty())
    throw UserError(
        fmt::format("{} was measured with {} cores and more, this process may use {}", arguments.profile,
                    measured.profile.compute.front().cores, machine.logical_cores),
        "a profile can only be checked on a machine that has the cores");
  if (plan.batches.empty())
    throw UserError(fmt::format("{}: no batch lies between the measured ones ({})", arguments.profile,
                                fmt::join(measured.plan.batches, ", ")),
                    "calibrate with batches further apart");
  const auto available = Bytes{static_cast<double>(machine.available_memory_bytes)};
  if (measured.profile.memory && measured.profile.memory->of(plan.batches.back()) > available)
    throw UserError(
        fmt::format("{}: batch {} needs {:.2g} GB, {:.2g} GB are available", arguments.profile,
                    plan.batches.back(), measured.profile.memory->of(plan.batches.back()).value() / 1e9,
                    available.value() / 1e9),
        "end other programs");
  return plan;
}

std::vector<std::string> notes_about(const std::vector<CoreStates>& states,
                                     const std::map<int, double>& described) {
  std::vector<std::string> notes;
  for (const CoreStates& of_cores : states)
    if (const auto wanted = described.find(of_cores.cores);
        wanted != described.end() && !of_cores.told_apart())
      notes.push_back(
          fmt::format("{} cores were as near each other as in the profile (a cache line took {:.0f} ns there "
                      "and back) less than twice at batch {}: there all points are compared",
                      of_cores.cores, 1e9 * wanted->second, fmt::join(of_cores.mixed_batches, ", ")));
  return notes;
}

std::vector<std::string> differences(const MeasuredProfile& measured, const Machine& machine) {
  std::vector<std::string> notes;
  if (machine.cpu_model != measured.profile.cpu_model)
    notes.push_back(fmt::format("the profile is of another processor: {}, here {}",
                                measured.profile.cpu_model, machine.cpu_model));
  const kernels::KernelSoftware software = kernels::kernel_software();
  const std::string here = software_text(software.libtorch, software.blas);
  if (here != measured.software)
    notes.push_back(fmt::format("the profile is of other software: {}, here {}", measured.software, here));
  return notes;
}

}  // namespace

int run(const CheckArguments& arguments) {
  const MeasuredProfile measured = read_measured_profile(arguments.profile);
  if (measured.profile.is_derived)
    throw UserError(fmt::format("{} is derived from publications, not measured", arguments.profile),
                    "only a measured profile can be measured again");
  const Machine machine = read_machine();
  const MeasurementPlan plan = plan_of(measured, arguments, machine);
  std::vector<std::string> notes = differences(measured, machine);
  const OtherLoad load({machine.core_order.begin(), machine.core_order.begin() + plan.cores.back()});
  std::vector<Sample> samples = measure(plan, machine, std::filesystem::read_symlink("/proc/self/exe"));
  const std::vector<CoreStates> states = set_states_apart(samples, plan.wanted_round_trip_s);
  const std::vector<PointError> errors = point_errors(measured.profile, samples);
  std::ranges::move(notes_about(states, plan.wanted_round_trip_s), std::back_inserter(notes));
  if (const std::optional<double> share = load.share(); share && *share > disturbing_load)
    notes.push_back(fmt::format(
        "other programs took {:.0f} % of the measured cores: what does not hold may be their doing",
        100.0 * *share));
  const ErrorSummary summary = summarize(errors);
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  if (arguments.json) {
    fmt::print("{}", check_json(errors, summary, notes));
  } else {
    fmt::print("{}\nheld-out points: mean error {:.1f} %, 95 % below {:.1f} %: {} {}\n", point_table(errors),
               100.0 * summary.mean_absolute, 100.0 * summary.percentile_95, arguments.profile,
               holds(summary) ? "holds on this machine"
                              : "does not hold on this machine (5 % and 10 % are allowed); calibrate again");
  }
  return holds(summary) ? exit_done : exit_does_not_hold;
}

}  // namespace paceline::calibrate
