// Runs gnuplot, found on the PATH, on a script.
#pragma once

#include <filesystem>
#include <string>

namespace paceline::plots {

// `gnuplot script` inside `folder`; start-up files of the user are not read, so that figures are equal
// everywhere. Throws UserError with what gnuplot printed when it is missing or fails.
void run_gnuplot(const std::filesystem::path& folder, const std::string& script);

}  // namespace paceline::plots
