#include "sim/report/output/text_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/utf8.hpp"

namespace paceline {
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = '?';
  return text;
}

std::string inner_probability(double p) {
  if (p < 0.005) return "<0.01";
  if (p > 0.995) return ">0.99";
  return fmt::format("{:.2f}", p);
}

std::string three_digits(double number) {
  constexpr double rounds_to_100 = 99.95;
  return std::abs(number) < rounds_to_100 ? fmt::format("{:#.3g}", number) : fmt::format("{:.0f}", number);
}

std::string format_time(Seconds time) {
  const double s = time.value();
  if (s < 100.0) return three_digits(s) + " s";
  if (s < 6000.0) return three_digits(s / 60.0) + " min";
  return three_digits(s / 3600.0) + " h";
}

std::string format_difference(double seconds) {
  return fmt::format("{}{}", seconds < 0.0 ? '-' : '+', format_time(Seconds{std::abs(seconds)}));
}

std::string time_or_never(const std::optional<Seconds>& time) {
  return time ? format_time(*time) : "never";
}

std::string AssumedLearners::marked(const std::string& name, bool is_assumed) const {
  return is_assumed && assumed_ < rows_ ? name + " (assumed learner)" : name;
}

std::string AssumedLearners::note() const {
  if (assumed_ == 0) return {};
  const std::string which = assumed_ == rows_ ? "" : fmt::format(" in {} of {}", assumed_, rows_);
  return fmt::format(
      "Assumed learner{}: no recorded runs stand behind its accuracies, nor behind the times to them.\n",
      which);
}

std::string text_table(TextRows rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (auto& row : rows) {
    row.front() = printable(row.front());
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], count_characters(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - count_characters(row[c]), ' ');
      // Names to the left, everything else to the right, so that numbers line up.
      line += c == 0 ? row[c] + padding : "  " + padding + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace paceline
