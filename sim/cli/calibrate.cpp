// calibrate, handed over to the program that links LibTorch.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/commands.hpp"

namespace paceline {

// Programs of paceline sit beside this one in the build folder, or under libexec once installed.
void exec_calibrate(char** argv) {
  namespace fs = std::filesystem;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const std::vector<fs::path> places = {here / "paceline-calibrate",
                                        here / "../libexec/paceline/paceline-calibrate"};
  for (const fs::path& place : places)
    if (fs::exists(place)) {
      execv(place.c_str(), argv);
      throw UserError(fmt::format("cannot start {}: {}", place.string(), std::strerror(errno)), "");
    }
  throw UserError("the calibration program paceline-calibrate is not installed beside paceline",
                  "build it with -DPACELINE_KERNELS=ON (the default)");
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
