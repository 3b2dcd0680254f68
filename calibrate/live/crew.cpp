#include "calibrate/live/crew.hpp"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::live {

std::string reason_of(const Failed& failed) {
  if (!failed.is_users_mistake) return failed.reason;
  constexpr std::string_view before = "error: ";
  const std::string line = failed.reason.substr(0, failed.reason.find('\n'));
  const std::size_t place = line.find(before);
  return place == std::string::npos ? line : line.substr(place + before.size());
}

void throw_if_lost(const News& news) {
  if (const auto* lost = std::get_if<Lost>(&news))
    throw std::runtime_error(fmt::format("process {} of the job {}", lost->member, lost->reason));
  const auto* arrived = std::get_if<Arrived>(&news);
  const auto* failed = arrived == nullptr ? nullptr : std::get_if<Failed>(&arrived->message);
  if (failed == nullptr) return;
  if (failed->is_users_mistake) throw UserError(failed->reason);
  throw std::runtime_error(fmt::format("process {} of the job: {}", arrived->member, failed->reason));
}

}  // namespace paceline::live
