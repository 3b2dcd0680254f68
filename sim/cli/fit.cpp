// fit: a statistical learner from recorded curves.
#include <fmt/format.h>

#include "sim/cli/commands.hpp"

namespace paceline {

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

}  // namespace paceline
