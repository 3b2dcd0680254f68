// `paceline calibrate`: measures a network on this machine and writes a profile. The `paceline` program starts this
// one with the same arguments, so that simulations need not load LibTorch.
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/fit.hpp"
#include "calibrate/machine.hpp"
#include "calibrate/measure.hpp"
#include "calibrate/measure_child.hpp"
#include "calibrate/options.hpp"
#include "calibrate/other_load.hpp"
#include "calibrate/profile_writer.hpp"
#include "calibrate/summary.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline::calibrate {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_signal_base = 128;  // as shells report a program ended by a signal

int calibrate(const std::vector<std::string>& arguments) {
  catch_interrupts();
  const Machine machine = read_machine();
  const std::optional<Options> options = parse_options(arguments, machine);
  if (!options) return 0;

  Calibration calibration;
  calibration.network = kernels::network_facts(options->plan.network);
  calibration.machine = machine;
  calibration.software = kernels::kernel_software();
  calibration.plan = options->plan;
  calibration.command = options->command;
  calibration.date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
  const int most_cores = options->plan.cores.back();
  const OtherLoad load({machine.core_order.begin(), machine.core_order.begin() + most_cores});
  calibration.samples = measure(options->plan, machine, std::filesystem::read_symlink("/proc/self/exe"));
  calibration.other_load = load.share();
  calibration.fits = fit_profile(calibration.samples, parameter_bytes(calibration.network));
  throw_if_interrupted();
  write_file_atomically(options->output, profile_text(calibration));

  for (const std::string& warning : warnings_about(calibration)) fmt::print(stderr, "warning: {}\n", warning);
  if (options->json)
    fmt::print("{}", summary_json(calibration, options->output.string()));
  else
    fmt::print("{}wrote {}\n", summary_table(calibration), options->output.string());
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  try {
    if (arguments.size() == 2 && arguments[0] == measure_child_flag) {
      run_measure_child(parse_request(arguments[1]), std::cout);
      return 0;
    }
    return calibrate(arguments);
  } catch (const UserError& error) {
    fmt::print(stderr, "{}", error.what());  // already rendered
    return exit_usage;
  } catch (const Interrupted& interrupt) {
    fmt::print(stderr, "{}\n", interrupt.what());
    return exit_signal_base + interrupt.signal_number();
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return exit_failed;
  }
}

}  // namespace
}  // namespace paceline::calibrate

int main(int argc, char** argv) {
  return paceline::calibrate::run({argv + 1, argv + argc});
}
