// Measure, fit, write: the order of things.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/options.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/profile_writer.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/fit/summary.hpp"
#include "calibrate/measure/machine.hpp"
#include "calibrate/measure/measure.hpp"
#include "calibrate/measure/other_load.hpp"
#include "calibrate/measure/partial_file.hpp"
#include "calibrate/measure/planning.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline::calibrate {
namespace {

constexpr double usable_memory_share = 0.8;

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

// After the message that says where the measurements are.
struct MeasurementInterrupted {
  int signal_number;
};

PartialMeasurement begin_anew(const Options& options, const Machine& machine) {
  const double memory = options.memory_bytes.value_or(usable_memory_share *
                                                      static_cast<double>(machine.available_memory_bytes));
  const auto start = std::chrono::steady_clock::now();
  const Probe cost = probe(options.plan, machine, own_program());
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  MeasurementPlan wanted = options.plan;
  if (wanted.budget_s) *wanted.budget_s -= spent.count();
  const double budget_s = std::max(0.0, options.budget_s - spent.count());
  return {options.identity, options.command,
          fitting_plan(wanted, cost, {budget_s * share_of_time(machine), Bytes{memory}})};
}

// What an interrupted calibration of the same things left, or a new plan.
PartialMeasurement begin(const Options& options, const Machine& machine) {
  const std::filesystem::path path = partial_path(options.output);
  if (options.restart) return begin_anew(options, machine);
  std::optional<PartialMeasurement> kept = read_partial(path);
  if (!kept) return begin_anew(options, machine);
  if (kept->identity != options.identity)
    throw UserError(fmt::format("{} holds an interrupted calibration of something else", path.string()),
                    fmt::format("finish it with `{}`, or begin anew with --restart", kept->command));
  fmt::print(stderr, "going on with {} samples from {}\n", kept->samples.size(), path.string());
  return *kept;
}

// An interrupt, or a failing process, leaves what is measured so far on disk.
std::vector<Sample> measure_to_disk(const PartialMeasurement& beginning, const Options& options,
                                    const Machine& machine) {
  const std::filesystem::path path = partial_path(options.output);
  PartialFile file(path, beginning);
  try {
    std::vector<Sample> samples =
        measure(beginning.plan, machine, own_program(),
                {beginning.samples, [&](std::span<const Sample> of_process) { file.append(of_process); }});
    throw_if_interrupted();
    return samples;
  } catch (const Interrupted& interrupt) {
    fmt::print(stderr, "interrupted: what is measured is in {}; the same command goes on from there\n",
               path.string());
    throw MeasurementInterrupted{interrupt.signal_number()};
  }
}

int calibrate(const Options& options, const Machine& machine) {
  const PartialMeasurement beginning = begin(options, machine);
  for (const std::string& dropped : beginning.plan.dropped) fmt::print(stderr, "left out: {}\n", dropped);
  Calibration calibration;
  calibration.plan = beginning.plan;
  calibration.network = kernels::network_facts(
      {calibration.plan.network, calibration.plan.input_shape, calibration.plan.classes});
  calibration.machine = machine;
  calibration.software = kernels::kernel_software();
  calibration.command = options.command;
  calibration.date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
  const int most_cores = calibration.plan.cores.back();
  const OtherLoad load({machine.core_order.begin(), machine.core_order.begin() + most_cores});
  calibration.samples = measure_to_disk(beginning, options, machine);
  calibration.other_load = load.share();
  calibration.core_states = set_states_apart(calibration.samples);
  calibration.fits = fit_profile(calibration.samples, parameter_bytes(calibration.network));
  if (calibration.fits.loading) calibration.fits.loading->data = calibration.plan.data->kind;
  write_file_atomically(options.output, profile_text(calibration));
  std::error_code ignored;
  std::filesystem::remove(partial_path(options.output), ignored);

  for (const std::string& warning : warnings_about(calibration)) fmt::print(stderr, "warning: {}\n", warning);
  if (options.json)
    fmt::print("{}", summary_json(calibration, options.output.string()));
  else
    fmt::print("{}\nwrote {}\n", profile_report(read_measured_profile(options.output)),
               options.output.string());
  return exit_done;
}

}  // namespace

int calibrate_command(const std::vector<std::string>& arguments) {
  const Machine machine = read_machine();
  const std::optional<Options> options = parse_options(arguments, machine);
  if (!options) return exit_done;
  try {
    return calibrate(*options, machine);
  } catch (const MeasurementInterrupted& interrupt) {
    return exit_signal_base + interrupt.signal_number;
  }
}

}  // namespace paceline::calibrate
