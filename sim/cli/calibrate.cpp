// fit and validate, carried out by calibrate/; calibrate, handed over to the program that links LibTorch.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/commands.hpp"

namespace paceline {

int predict_command(const PredictArguments& arguments) {
  predict_configurations(arguments);
  return exit_done;
}

int fit_command(const FitArguments& arguments) {
  std::string command = fmt::format("paceline fit {}", shell_quoted(arguments.logs));
  if (!arguments.campaign.empty()) command += fmt::format(" --campaign {}", shell_quoted(arguments.campaign));
  for (const std::string& policy : arguments.policies)
    command += fmt::format(" --policy {}", shell_quoted(policy));
  if (arguments.form != FitArguments{}.form)
    command += fmt::format(" --form {}", shell_quoted(arguments.form));
  command += fmt::format(" --bootstrap {}", arguments.bootstrap);
  if (arguments.skip_bad) command += " --skip-bad";
  fit_logs(arguments, command);
  return exit_done;
}

int validate_learner_command(const CompareLearnerArguments& arguments) {
  validate_learner(arguments);
  return exit_done;
}

int validate_recorded_command(const ValidateArguments& arguments) {
  validate_recorded_folder(arguments,
                           fmt::format("paceline validate recorded {}", shell_quoted(arguments.folder)));
  return exit_done;
}

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
  arguments.insert(arguments.begin(), "calibrate");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  exec_calibrate(argv.data());
}

}  // namespace paceline
