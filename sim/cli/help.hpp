// help and completion: what the command line says about itself, from its own description.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace paceline {

// Of the command these words name. Throws UserError when there is none.
[[nodiscard]] std::string help_of(const CLI::App& app, const std::vector<std::string>& words);

// A script for bash that completes commands and options, and files where neither is meant.
[[nodiscard]] std::string bash_completion(const CLI::App& app);

}  // namespace paceline
