// The command lines of `paceline calibrate`.
#pragma once

#include <variant>

#include "calibrate/cli/commands.hpp"

namespace paceline::calibrate {

using Arguments = std::variant<CalibrateArguments, ShowArguments, CheckArguments, NoiseArguments,
                               NetworkArguments, FromLogArguments>;

// Nothing when help was asked for, and printed. Throws UserError.
[[nodiscard]] std::optional<Arguments> parse_command_line(std::vector<std::string> words);

}  // namespace paceline::calibrate
