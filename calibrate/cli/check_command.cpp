// `paceline calibrate check PROFILE`: does the profile still hold on this machine?
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/time_option.hpp"
#include "calibrate/fit/held_out.hpp"
#include "calibrate/fit/summary.hpp"
#include "calibrate/measure/core_states.hpp"
#include "calibrate/measure/machine.hpp"
#include "calibrate/measure/measure.hpp"
#include "calibrate/measure/other_load.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

constexpr int default_check_processes = 3;
constexpr double default_check_budget_s = 60.0;

struct CheckOptions {
  std::string path;
  int processes = default_check_processes;
  double budget_s = default_check_budget_s;
  bool json = false;
};

// The states of the cores that the profile describes.
std::map<int, double> described_states(const MeasuredProfile& measured) {
  std::vector<Sample> samples = measured.samples;
  std::map<int, double> round_trips;
  for (const CoreStates& of_cores : set_states_apart(samples))
    if (of_cores.main.points > 0) round_trips[of_cores.cores] = of_cores.main.round_trip_s;
  return round_trips;
}

MeasurementPlan plan_of(const MeasuredProfile& measured, const CheckOptions& options,
                        const Machine& machine) {
  MeasurementPlan plan = measured.plan;
  plan.processes = options.processes;
  plan.budget_s = options.budget_s;
  plan.data.reset();
  plan.wanted_round_trip_s = described_states(measured);
  plan.cores = held_out_cores(measured.profile, cores_within_quota(machine));
  plan.batches = held_out_batches(measured.plan.batches);
  if (plan.cores.empty())
    throw UserError(fmt::format("{} was measured with {} cores and more, this process may use {}",
                                options.path, measured.profile.compute.front().cores, machine.logical_cores),
                    "a profile can only be checked on a machine that has the cores");
  if (plan.batches.empty())
    throw UserError(fmt::format("{}: no batch lies between the measured ones ({})", options.path,
                                fmt::join(measured.plan.batches, ", ")),
                    "calibrate with batches further apart");
  const auto available = Bytes{static_cast<double>(machine.available_memory_bytes)};
  if (measured.profile.memory && measured.profile.memory->of(plan.batches.back()) > available)
    throw UserError(
        fmt::format("{}: batch {} needs {:.2g} GB, {:.2g} GB are available", options.path,
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
  const std::string here = fmt::format("LibTorch {}, {}", software.libtorch, software.blas);
  if (here != measured.software)
    notes.push_back(fmt::format("the profile is of other software: {}, here {}", measured.software, here));
  return notes;
}

CheckOptions parse(const std::vector<std::string>& arguments, bool& help) {
  CheckOptions options;
  CLI::App app(
      "Measures batches that a profile's fits have never seen, and says whether the profile holds here: mean "
      "error at "
      "most 5 %, 95 % of the errors at most 10 %. Exit code 3 where it does not.",
      "paceline calibrate check");
  app.add_option("PROFILE", options.path, "A file written by `paceline calibrate`")->required();
  app.add_option("--processes", options.processes, "Fewest measuring processes for each core count")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_time_option(
      app, "--budget", options.budget_s,
      "More processes are measured until every mean is known to ± 2 %, or for so long (default: 1 min)");
  app.add_flag("--json", options.json, "Print for machines");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    help = true;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "`paceline calibrate check --help`");
  }
  return options;
}

void print_json(const std::vector<PointError>& errors, const ErrorSummary& summary,
                const std::vector<std::string>& notes) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const PointError& error : errors)
    points.push_back({{"cores", error.cores},
                      {"batch", error.batch},
                      {"measured_s", error.measured_s},
                      {"predicted_s", error.predicted_s},
                      {"relative_error", error.relative()}});
  const nlohmann::ordered_json json = {{"holds", holds(summary)},
                                       {"mean_absolute_error", summary.mean_absolute},
                                       {"percentile_95", summary.percentile_95},
                                       {"points", points},
                                       {"notes", notes}};
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  bool help = false;
  const CheckOptions options = parse(arguments, help);
  if (help) return exit_done;
  const MeasuredProfile measured = read_measured_profile(options.path);
  if (measured.profile.is_derived)
    throw UserError(fmt::format("{} is derived from publications, not measured", options.path),
                    "only a measured profile can be measured again");
  const Machine machine = read_machine();
  const MeasurementPlan plan = plan_of(measured, options, machine);
  std::vector<std::string> notes = differences(measured, machine);
  const OtherLoad load({machine.core_order.begin(), machine.core_order.begin() + plan.cores.back()});
  std::vector<Sample> samples = measure(plan, machine, std::filesystem::read_symlink("/proc/self/exe"));
  const std::vector<CoreStates> states = set_states_apart(samples, plan.wanted_round_trip_s);
  const std::vector<PointError> errors = point_errors(measured.profile, samples);
  std::ranges::move(notes_about(states, plan.wanted_round_trip_s), std::back_inserter(notes));
  if (const std::optional<double> share = load.share(); share && *share > disturbing_load)
    notes.push_back(
        fmt::format("other programs took {:.0f} % of the measured cores: what does not hold may be their "
                    "doing",
                    100.0 * *share));
  const ErrorSummary summary = summarize(errors);
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  if (options.json) {
    print_json(errors, summary, notes);
  } else {
    fmt::print("{}\nheld-out points: mean error {:.1f} %, 95 % below {:.1f} %: {} {}\n", point_table(errors),
               100.0 * summary.mean_absolute, 100.0 * summary.percentile_95, options.path,
               holds(summary) ? "holds on this machine"
                              : "does not hold on this machine (5 % and 10 % are allowed); calibrate again");
  }
  return holds(summary) ? exit_done : exit_does_not_hold;
}

}  // namespace paceline::calibrate
