// `paceline calibrate NETWORK`: measure, fit, write.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/output_file.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/measure/measure.hpp"
#include "calibrate/measure/partial_file.hpp"
#include "calibrate/measure/planning.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr double usable_memory_share = 0.8;
constexpr double default_budget_s = 300.0;

struct Effort {
  int processes = 3;  // the fewest that tell runs apart; more follow while there is time
  double seconds_per_point = 0.3;
  int minimum_iterations = 10;
};
constexpr Effort quick_effort = {3, 0.1, 5};
const std::vector<std::int64_t> quick_batches = {8, 32, 128};

std::vector<int> core_counts(const std::vector<int>& asked, const Machine& machine) {
  const int within_quota = cores_within_quota(machine);
  if (asked.empty()) return default_core_counts(std::min(machine.physical_cores, within_quota));
  if (asked.back() > machine.logical_cores)
    throw UserError(fmt::format("--cores: {} asked for, but this process may use {}", asked.back(),
                                machine.logical_cores),
                    "a core count can only be measured on a machine that has it");
  if (asked.back() > within_quota)
    throw UserError(
        fmt::format("--cores: {} asked for, but this process may use the time of {:g} cores only: "
                    "its pauses would be measured with the work",
                    asked.back(), machine.quota->cores),
        fmt::format("measure up to {}; a simulated worker has `quota` for the pauses", within_quota));
  return asked;
}

// Batches stay empty where they are to be chosen within time and memory (planning.hpp).
MeasurementPlan wanted_plan(const CalibrateArguments& arguments, const Machine& machine) {
  const kernels::NetworkChoice choice{arguments.network, arguments.input_shape, arguments.classes};
  if (!choice.is_file() && !choice.input_shape.empty())
    throw UserError("--input describes a TorchScript file; listed networks know theirs", "leave it out");
  const bool reads_text = kernels::network_facts(choice).input_shape.size() == 1;  // or throws
  if (arguments.data && reads_text != (arguments.data->kind == "built-in-text"))
    throw UserError(fmt::format("--data: {} reads {}", arguments.network, reads_text ? "text" : "images"),
                    reads_text ? "write --data built-in-text" : "write --data built-in-images, for example");
  const Effort effort = arguments.quick ? quick_effort : Effort{};
  MeasurementPlan plan;
  plan.network = arguments.network;
  plan.input_shape = arguments.input_shape;
  plan.classes = arguments.classes;
  plan.data = arguments.data;
  plan.cores = core_counts(arguments.cores, machine);
  plan.batches = arguments.batches.empty() && arguments.quick ? quick_batches : arguments.batches;
  if (!plan.batches.empty() && plan.batches.size() < 3)
    throw UserError("--batches: at least 3 are needed: two for a line, one left out to test it",
                    "for example --batches 8,32,128");
  plan.processes = arguments.processes.value_or(effort.processes);
  plan.seconds_per_point = arguments.seconds_per_point.value_or(effort.seconds_per_point);
  plan.minimum_iterations = effort.minimum_iterations;
  if (!arguments.processes && !arguments.quick) plan.budget_s = arguments.budget_s.value_or(default_budget_s);
  return plan;
}

// "AMD EPYC 9554 64-Core" -> "amd-epyc-9554-64-core"
std::string as_file_name(const std::string& text) {
  std::string name;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 && byte < 128)
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name.ends_with('-') ? name.substr(0, name.size() - 1) : name;
}

// Measuring takes long enough for a mistake to be found before it.
fs::path checked_output(const CalibrateArguments& arguments, const Machine& machine) {
  const std::string network = fs::path(arguments.network).stem().string();
  const fs::path output =
      arguments.output.value_or(fmt::format("{}-{}.json", network, as_file_name(machine.cpu_model)));
  check_output_file(output, arguments.force);
  return output;
}

// Everything that decides what is measured: a calibration may go on only where all of it agrees.
std::string identity_of(const MeasurementPlan& wanted, const CalibrateArguments& arguments,
                        const Machine& machine) {
  const kernels::KernelSoftware software = kernels::kernel_software();
  return fmt::format("{}; {}; memory {}; {}", machine.cpu_model,
                     software_text(software.libtorch, software.blas), arguments.memory_bytes.value_or(0.0),
                     to_line(MeasureRequest{.plan = wanted}));
}

std::string own_program() {
  return fs::read_symlink("/proc/self/exe");
}

// What an interrupted calibration of the same things left, or a new plan.
PartialMeasurement begin(const CalibrateArguments& arguments, const Machine& machine,
                         const fs::path& partial) {
  MeasurementPlan wanted = wanted_plan(arguments, machine);
  const std::string identity = identity_of(wanted, arguments, machine);
  if (std::optional<PartialMeasurement> kept = arguments.restart ? std::nullopt : read_partial(partial)) {
    if (kept->identity != identity)
      throw UserError(fmt::format("{} holds an interrupted calibration of something else", partial.string()),
                      fmt::format("finish it with `{}`, or begin anew with --restart", kept->command));
    fmt::print(stderr, "going on with {} samples from {}\n", kept->samples.size(), partial.string());
    return *kept;
  }
  const double memory = arguments.memory_bytes.value_or(usable_memory_share *
                                                        static_cast<double>(machine.available_memory_bytes));
  const auto start = std::chrono::steady_clock::now();
  Probe cost = probe(wanted, machine, own_program());
  cost.bytes_per_sample = sizeof(float);
  for (const std::int64_t values :
       kernels::network_facts({wanted.network, wanted.input_shape, wanted.classes}).input_shape)
    cost.bytes_per_sample *= static_cast<double>(values);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (wanted.budget_s) *wanted.budget_s -= spent.count();
  const double budget_s = std::max(0.0, arguments.budget_s.value_or(default_budget_s) - spent.count());
  return {identity, arguments.command,
          fitting_plan(wanted, cost, {budget_s * share_of_time(machine), Bytes{memory}})};
}

// An interrupt, or a failing process, leaves what is measured so far on disk.
std::vector<Sample> measure_to_disk(const PartialMeasurement& beginning, const Machine& machine,
                                    const fs::path& partial) {
  PartialFile file(partial, beginning);
  try {
    std::vector<Sample> samples =
        measure(beginning.plan, machine, own_program(),
                {beginning.samples, [&](std::span<const Sample> of_process) { file.append(of_process); }});
    throw_if_interrupted();
    return samples;
  } catch (const Interrupted& interrupt) {
    throw Interrupted(
        interrupt.signal_number(),
        fmt::format("interrupted: what is measured is in {}; the same command goes on from there",
                    partial.string()));
  }
}

}  // namespace

int run(const CalibrateArguments& arguments) {
  const Machine machine = read_machine();
  const fs::path output = checked_output(arguments, machine);
  const fs::path partial = partial_path(output);
  const PartialMeasurement beginning = begin(arguments, machine, partial);
  for (const std::string& dropped : beginning.plan.dropped) fmt::print(stderr, "left out: {}\n", dropped);
  Calibration calibration;
  calibration.plan = beginning.plan;
  calibration.network = kernels::network_facts(
      {calibration.plan.network, calibration.plan.input_shape, calibration.plan.classes});
  calibration.machine = machine;
  calibration.software = kernels::kernel_software();
  calibration.command = arguments.command;
  calibration.date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
  const int most_cores = calibration.plan.cores.back();
  const OtherLoad load({machine.core_order.begin(), machine.core_order.begin() + most_cores});
  calibration.samples = measure_to_disk(beginning, machine, partial);
  calibration.other_load = load.share();
  calibration.core_states = set_states_apart(calibration.samples);
  calibration.fits = fit_profile(calibration.samples, parameter_bytes(calibration.network));
  if (calibration.fits.loading) calibration.fits.loading->data = calibration.plan.data->kind;
  write_file_atomically(output, profile_text(calibration));
  std::error_code ignored;
  fs::remove(partial, ignored);

  const std::vector<std::string> warnings = warnings_about(calibration);
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  const MeasuredProfile measured = read_measured_profile(output);
  fmt::print("{}", arguments.json ? profile_report_json(measured, warnings)
                                  : fmt::format("{}\nwrote {}\n", profile_report(measured), output.string()));
  return exit_done;
}

}  // namespace paceline::calibrate
