// Numbers as text, and texts without the blanks around them.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The whole text as a number, `nan` and `inf` included; nothing when it is none.
[[nodiscard]] inline std::optional<double> to_number(std::string_view text) {
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A number with what follows it, as labels of varied values are written: "10 Gbit/s" is 10 and " Gbit/s".
struct NumberText {
  double number = 0.0;
  std::string unit;
};

// Nothing when the text does not begin with a finite number.
[[nodiscard]] inline std::optional<NumberText> split_number(std::string_view text) {
  NumberText split;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), split.number);
  if (status != std::errc{} || !std::isfinite(split.number)) return std::nullopt;
  split.unit = std::string(end, text.data() + text.size());
  return split;
}

}  // namespace paceline
