#include "sim/cost/machine_speed.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

MachineSpeed::MachineSpeed(int cores, std::vector<double> speeds)
    : cores_(cores), speeds_(std::move(speeds)) {
  check(cores >= 1, "a machine has a core");
  check(std::ranges::all_of(speeds_, [](double speed) { return speed > 0.0; }), "busy processes go forward");
}

double MachineSpeed::speed(int busy) const {
  check(busy >= 1, "the speed of a process that is busy");
  const auto measured = static_cast<int>(speeds_.size());
  const double slowed =
      speeds_.empty() ? 1.0 : speeds_[static_cast<std::size_t>(std::min(busy, measured)) - 1];
  return slowed * std::min(1.0, static_cast<double>(std::max(cores_, measured)) / busy);
}

double MachineSpeed::processor_share(int busy) const {
  return std::min(1.0, static_cast<double>(cores_) / busy);
}

}  // namespace paceline
