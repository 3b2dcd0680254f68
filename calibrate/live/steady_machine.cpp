#include "calibrate/live/steady_machine.hpp"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace paceline::live {
namespace {

std::string last_error() {
  return std::generic_category().message(errno);
}

}  // namespace

AwakeProcessors::AwakeProcessors(const IdleControl& control) {
  std::string driver;
  std::ifstream(control.driver) >> driver;
  if (driver.empty() || driver == "none") {
    why_not_ = fmt::format("no driver for idle processors in {}", control.driver.string());
    return;
  }
  constexpr std::int32_t longest_wake_up_us = 0;
  const int file = open(control.request.c_str(), O_WRONLY | O_CLOEXEC);
  if (file >= 0) request_ = file;
  if (!request_ || write(file, &longest_wake_up_us, sizeof longest_wake_up_us) !=
                       static_cast<ssize_t>(sizeof longest_wake_up_us))
    why_not_ = fmt::format("{}: {}", control.request.string(), last_error());
}

AwakeProcessors::~AwakeProcessors() {
  if (request_) close(*request_);
}

FirstInLine::FirstInLine() {
  constexpr Seconds shortest_slice{1e-4};
  if (!adopt({highest_usual_priority, shortest_slice})) why_not_ = "priority: " + last_error();
}

FirstInLine::~FirstInLine() {
  if (why_not_.empty()) static_cast<void>(adopt(usual_));
}

SteadyMachine::SteadyMachine(bool as_it_is) {
  if (as_it_is) return;
  processors_.emplace();
  server_.emplace();
}

std::string SteadyMachine::text() const {
  if (!processors_) return "the machine as it is (--as-it-is)";
  const auto part = [](const std::string& granted, const std::string& otherwise, const std::string& why_not) {
    return why_not.empty() ? granted : fmt::format("{} ({})", otherwise, why_not);
  };
  return part("processors kept from idling", "processors that may idle", processors_->why_not()) + ", " +
         part("the server first in line", "the server in line with workers", server_->why_not());
}

bool SteadyMachine::is_as_asked() const {
  return !processors_ || (processors_->why_not().empty() && server_->why_not().empty());
}

}  // namespace paceline::live
