#include "sim/base/diagnostic.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/utf8.hpp"

namespace paceline {
namespace {

// Edits to turn one word into another: insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back;
  std::vector<std::size_t> previous(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> current(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], two_back[j - 2] + 1);
    }
    two_back = std::move(previous);
    previous = std::move(current);
  }
  return previous.back();
}

// Files are data: their control characters (escape sequences above all) must not reach the terminal.
std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    const bool control = static_cast<unsigned char>(c) < 0x20U || c == 0x7F;
    if (control && c != '\t') c = '?';
  }
  return shown;
}

// Moves the caret under the given column. Tabs are kept, so that it lines up in any terminal.
std::string caret_padding(std::string_view line, int column) {
  std::string padding;
  for (const char c : line) {
    if (continues_character(c)) continue;
    if (--column <= 0) break;
    padding += c == '\t' ? '\t' : ' ';
  }
  return padding + std::string(static_cast<std::size_t>(std::max(0, column - 1)), ' ');
}

}  // namespace

std::string to_text(const Place& place) {
  const std::string source = printable(place.source);
  return place.line > 0 ? fmt::format("{}:{}:{}", source, place.line, place.column) : source;
}

std::string render(const Diagnostic& diagnostic, std::string_view source_line) {
  const char* severity = diagnostic.severity == Severity::error ? "error" : "warning";
  const Place& place = diagnostic.place;
  std::string text = fmt::format("{}: {}: {}\n", to_text(place), severity, printable(diagnostic.message));
  if (place.line > 0 && !source_line.empty()) {
    const std::string number = std::to_string(place.line);
    text += fmt::format("  {} | {}\n  {:>{}} | {}^\n", number, printable(source_line), "", number.size(),
                        caret_padding(source_line, place.column));
  }
  if (!diagnostic.hint.empty()) text += fmt::format("hint: {}\n", printable(diagnostic.hint));
  return text;
}

UserError::UserError(std::string_view message, std::string_view hint)
    : std::runtime_error(hint.empty() ? fmt::format("error: {}\n", message)
                                      : fmt::format("error: {}\nhint: {}\n", message, hint)) {}

void UserErrors::add(const std::string& rendered) {
  if (std::ranges::find(rendered_, rendered) == rendered_.end()) rendered_.push_back(rendered);
}

void UserErrors::throw_if_any() const {
  if (rendered_.empty()) return;
  std::string all;
  for (const std::string& one : rendered_) all += one;
  throw UserError(all);
}

std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace paceline
