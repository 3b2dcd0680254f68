// calibrate, handed over to the program that links LibTorch.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "calibrate/live/live_run.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cli/commands.hpp"

namespace paceline {

void exec_calibrate(char** argv) {
  const std::filesystem::path program = live::worker_program();
  execv(program.c_str(), argv);
  throw UserError(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)), "");
}

void exec_calibrate(std::vector<std::string> arguments) {
  std::string program = "calibrate";
  std::vector<char*> argv{program.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  exec_calibrate(argv.data());
}

void add_calibrate(CLI::App& app) {
  app.add_subcommand("calibrate", "measure how long a network takes on this machine (see calibrate --help)");
}

}  // namespace paceline
