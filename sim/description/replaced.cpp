#include "sim/description/replaced.hpp"

#include <array>

namespace paceline {
namespace {

struct Replaced {
  std::string_view path;  // without list indices
  std::string_view word;
  std::string_view hint;
};

constexpr std::array replaced{
    Replaced{"batching.controller", "released", "it is now called `omnilearn-code`"},
    Replaced{"vary.range", "step", "a range is given by its ends and the number of `points`"},
};

// "vary.0.range" as "vary.range".
std::string without_indices(std::string_view path) {
  std::string plain;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part.find_first_not_of("0123456789") == part.npos) continue;
    plain += plain.empty() ? "" : ".";
    plain += part;
  }
  return plain;
}

}  // namespace

std::string replacement_of(std::string_view path, std::string_view word) {
  const std::string plain = without_indices(path);
  for (const Replaced& one : replaced)
    if (one.path == plain && one.word == word) return std::string(one.hint);
  return {};
}

}  // namespace paceline
