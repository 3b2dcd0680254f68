// Messages on a terminal: `error:`, `warning:`, `note:` and `hint:` in colour, so that they are found in long
// output. Without a terminal, with NO_COLOR (no-color.org) or TERM=dumb they stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace paceline {

[[nodiscard]] std::string in_colour(std::string_view messages);
// Onto stderr, in colour where that is wanted.
void print_messages(std::string_view messages);

}  // namespace paceline
