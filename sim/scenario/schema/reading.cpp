#include "sim/scenario/schema/reading.hpp"

#include "sim/base/check.hpp"

namespace paceline {
namespace {

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? std::string{} : path.substr(0, dot);
}

}  // namespace

std::string join_path(std::string_view parent, std::string_view key) {
  std::string path(parent);
  if (!path.empty()) path += '.';
  return path += key;
}

bool Reading::is_sound(const std::string& path) const {
  for (std::string holder = path;; holder = parent_of(holder)) {
    if (failed_.contains(holder)) return false;
    if (holder.empty()) break;
  }
  if (path.empty()) return failed_.empty();
  const auto first_part = failed_.lower_bound(path + ".");
  return first_part == failed_.end() || !first_part->starts_with(path + ".");
}

Spot Reading::spot(std::string path) const {
  for (;; path = parent_of(path)) {
    if (const auto found = spots_.find(path); found != spots_.end()) return found->second;
    check(!path.empty(), "the root of a reading has no place");
  }
}

std::string Reading::origin(const std::string& path) const {
  if (const auto found = spots_.find(path); found != spots_.end()) return to_text(found->second.place());
  const auto fallback = defaults_.find(path);
  return fallback == defaults_.end() ? "default" : fallback->second;
}

}  // namespace paceline
