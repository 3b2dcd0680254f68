// What is wrong with a command line, said as every other mistake of a user: the command, what, and a hint.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/base/diagnostic.hpp"

namespace paceline {

// Of arguments that `app` did not accept. An option that nobody knows is named before whatever else is
// missed: it may be the same mistake.
[[nodiscard]] UserError usage_mistake(const CLI::App& app, const CLI::ParseError& error);

}  // namespace paceline
