// Runs gnuplot on a script, without a shell.
//
// Models:      one child process, reading nothing, with a small environment of its own.
// Units:       none.
// Assumptions: gnuplot is on the PATH; the script writes into its working folder.
// Not modelled: a time limit; the scripts are paceline's own and end.
// Source:      none.
#pragma once

#include <filesystem>
#include <string>

namespace paceline::plots {

// Runs `gnuplot script` inside `folder`; start-up files of the user are not read, so that figures are equal
// everywhere. Throws UserError with what gnuplot printed when it is missing or fails.
void run_gnuplot(const std::filesystem::path& folder, const std::string& script);

}  // namespace paceline::plots
