// Text inside notations that would act on it.
#pragma once

#include <string>
#include <string_view>

namespace paceline {

// TeX that any LaTeX sets as this text: what TeX would act on is written as commands, characters that not
// every LaTeX has, and what is no text, as [U+XXXX]. Does not begin with a bracket or a brace, which gnuplot
// would read as its own.
[[nodiscard]] std::string tex_text(std::string_view text);

// Markdown that shows this text, on one line and within one cell of a table; no HTML either.
[[nodiscard]] std::string markdown_text(std::string_view text);

// HTML that shows this text, in an element or in a quoted attribute.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace paceline
