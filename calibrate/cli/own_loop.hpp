// A user's own training loop, carried out or read from its log, and what is asked of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/live/steady_passes.hpp"
#include "calibrate/logs/own_steps.hpp"
#include "sim/base/quantity.hpp"

namespace paceline::calibrate {

struct OwnLoop {
  std::vector<OwnStep> steps;
  std::string source;          // for messages
  std::vector<double> read_s;  // of a command: when it said each
};

// Throws UserError where it cannot be read, or a line is wrong.
[[nodiscard]] OwnLoop read_log(const std::string& path);
// Throws UserError where it cannot be started or a line is wrong, std::runtime_error where it fails.
[[nodiscard]] OwnLoop run_command(
    const std::vector<std::string>& words, const std::function<void(pid_t)>& when_started = [](pid_t) {},
    const std::vector<int>& cores = {});  // that it may use, by number; empty: all
// The same, stopping it for these rests in turn. With all that it starts it is kept on one core, which `core`
// chooses from those that it may use: a process continued by a signal may be woken on another one.
inline constexpr Seconds between_stops{0.1};
[[nodiscard]] OwnLoop run_stopping(const std::vector<std::string>& words, const std::vector<Seconds>& rests,
                                   std::optional<std::size_t> core = std::nullopt);

// What workers compute in a measurement of messages, timed on each core again and again: as long as stated,
// or a step of the loop that does it. Throws UserError where both are given, and what CoreWatch throws.
[[nodiscard]] live::CoreWatch watch_of(const std::vector<std::string>& loop,
                                       std::optional<double> computing_s);
[[nodiscard]] Seconds computing_of(const live::CoreWatch& watch, std::optional<double> computing_s);

// How copies slow each other down, what a quota's stops cost, what rests cost.
int run_copies(const OwnArguments& arguments);
int run_quota(const OwnArguments& arguments);
int run_rests(const OwnArguments& arguments);

}  // namespace paceline::calibrate
