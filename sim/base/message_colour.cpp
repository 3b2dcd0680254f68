#include "sim/base/message_colour.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace paceline {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> colours = {
    {{"error:", "1;31"}, {"warning:", "1;35"}, {"note:", "1;36"}, {"hint:", "1;32"}}};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool colour_is_wanted() {
  const char* terminal = std::getenv("TERM");
  return isatty(2) == 1 && !is_set("NO_COLOR") && terminal != nullptr && std::string_view(terminal) != "dumb";
}

// The word that says what kind of line it is: at its beginning, or behind its place "file:3:5: ".
std::string line_in_colour(std::string_view line) {
  for (const auto& [word, colour] : colours) {
    const std::size_t at = line.find(word);
    const bool is_kind = at != line.npos && (at == 0 || line.substr(0, at).ends_with(": "));
    if (is_kind)
      return fmt::format("{}\033[{}m{}\033[0m{}", line.substr(0, at), colour, word,
                         line.substr(at + word.size()));
  }
  return std::string(line);
}

}  // namespace

std::string in_colour(std::string_view messages) {
  std::string text;
  while (!messages.empty()) {
    const std::size_t end = messages.find('\n');
    text += line_in_colour(messages.substr(0, end));
    if (end == messages.npos) break;
    text += '\n';
    messages.remove_prefix(end + 1);
  }
  return text;
}

void print_messages(std::string_view messages) {
  fmt::print(stderr, "{}", colour_is_wanted() ? in_colour(messages) : std::string(messages));
}

}  // namespace paceline
