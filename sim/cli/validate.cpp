// validate: predictions beside recorded runs, a statistical learner beside real training.
#include <fmt/format.h>

#include "sim/cli/commands.hpp"

namespace paceline {

int validate_learner_command(const CompareLearnerArguments& arguments) {
  validate_learner(arguments);
  return exit_done;
}

int validate_recorded_command(const ValidateArguments& arguments) {
  validate_recorded_folder(arguments,
                           fmt::format("paceline validate recorded {}", shell_quoted(arguments.folder)));
  return exit_done;
}

}  // namespace paceline
