// `paceline calibrate`: measures a network on this machine and writes a profile. The `paceline` program starts this
// one with the same arguments, so that simulations need not load LibTorch.
#include <exception>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/measure_child.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline::calibrate {
namespace {

using Command = int (*)(const std::vector<std::string>&);

int dispatch(const std::vector<std::string>& arguments) {
  const std::map<std::string, Command> commands = {{"show", show_command},
                                                   {"check", check_command},
                                                   {"from-log", from_log_command},
                                                   {"network", network_command},
                                                   {"noise", noise_command}};
  if (arguments.size() == 2 && arguments[0] == measure_child_flag) {
    run_measure_child(parse_request(arguments[1]), std::cout);
    return exit_done;
  }
  catch_interrupts();
  if (!arguments.empty())
    if (const auto command = commands.find(arguments[0]); command != commands.end())
      return command->second({arguments.begin() + 1, arguments.end()});
  return calibrate_command(arguments);
}

int run(const std::vector<std::string>& arguments) {
  try {
    return dispatch(arguments);
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
