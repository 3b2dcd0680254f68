// What the sections of the description say besides keys and kinds: defaults in words, and keys that have a meaning only
// under another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {

// What is used when a key is absent, in words.
struct Absent {
  std::string_view meaning;
};
template <class T>
struct SameAs {
  std::string_view key;  // described before this one
  const T& value;
};

// A key of the same section, described before, that has one of these values.
struct OnlyIf {
  std::string_view key;
  std::vector<std::string_view> values;  // as written
  bool holds = false;

  [[nodiscard]] std::string text() const { return fmt::format("{}: {}", key, fmt::join(values, " or ")); }
};

inline constexpr std::size_t maximum_workers = 1U << 24U;  // a random stream's entity has 24 bits

}  // namespace paceline
