// The options of each command, with their help.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/cli/commands.hpp"

namespace CLI {
class App;
}

namespace paceline::calibrate {

// One line for each network that can be measured.
[[nodiscard]] std::string networks(std::string_view indent);

// profile_options.cpp
void declare(CLI::App& app, CalibrateArguments& arguments);
void declare(CLI::App& app, ShowArguments& arguments);
void declare(CLI::App& app, CheckArguments& arguments);
// message_options.cpp
void declare(CLI::App& app, NetworkArguments& arguments);
void declare(CLI::App& app, ServerArguments& arguments);
void declare(CLI::App& app, CollectiveArguments& arguments);
// log_options.cpp
void declare(CLI::App& app, OwnArguments& arguments);
void declare(CLI::App& app, FromLogArguments& arguments);
void declare(CLI::App& app, JobLogArguments& arguments);

}  // namespace paceline::calibrate
