// What each form of `paceline calibrate` does. Each returns the exit code; a user's mistake is thrown as UserError.
#pragma once

#include <string>
#include <vector>

namespace paceline::calibrate {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_does_not_hold = 3;
inline constexpr int exit_signal_base = 128;  // as shells report a program ended by a signal

// Arguments are those after the command's own word.
int calibrate_command(const std::vector<std::string>& arguments);
int show_command(const std::vector<std::string>& arguments);
int check_command(const std::vector<std::string>& arguments);
int from_log_command(const std::vector<std::string>& arguments);
int network_command(const std::vector<std::string>& arguments);
int noise_command(const std::vector<std::string>& arguments);

}  // namespace paceline::calibrate
