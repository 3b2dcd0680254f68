// `paceline calibrate`: measures a network on this machine and writes a profile. The `paceline` program
// starts this one with the same arguments, so that simulations need not load LibTorch.
#include <exception>
#include <iostream>
#include <new>

#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/collective/ring_timing.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/live/worker/worker_process.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/process.hpp"

namespace paceline::calibrate {

int run(const ShowArguments& arguments) {
  const MeasuredProfile measured = read_measured_profile(arguments.profile);
  fmt::print("{}", arguments.json ? profile_report_json(measured) : profile_report(measured));
  return exit_done;
}

namespace {

int dispatch(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == measure_child_flag) {
    run_measure_child(parse_request(words[1]), std::cout);
    return exit_done;
  }
  if (words.size() == 3 && words[0] == ring_member_flag) {
    run_ring_member({words[1], words[2]});
    return exit_done;
  }
  if (!words.empty() && words[0] == live::worker_flag)
    return live::run_worker_process({words.begin() + 1, words.end()});
  catch_interrupts();
  const std::optional<Arguments> parsed = parse_command_line(words);
  if (!parsed) return exit_done;
  return std::visit([](const auto& arguments) { return run(arguments); }, *parsed);
}

int exit_code_of(const std::vector<std::string>& words) {
  try {
    return dispatch(words);
  } catch (const UserError& error) {
    fmt::print(stderr, "{}", error.what());  // already rendered
    return exit_usage;
  } catch (const Interrupted& interrupt) {
    fmt::print(stderr, "{}\n", interrupt.what());
    return status_signal_base + interrupt.signal_number();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: not enough memory\n");
    return exit_failed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return exit_failed;
  }
}

}  // namespace
}  // namespace paceline::calibrate

int main(int argc, char** argv) {
  return paceline::calibrate::exit_code_of({argv + 1, argv + argc});
}
