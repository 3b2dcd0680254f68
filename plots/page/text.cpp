#include "plots/page/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/utf8.hpp"

namespace paceline::plots {
namespace {

// Advance widths of the ASCII characters from space to tilde, in 1/1000 of the font size.
constexpr std::array<int, 95> advance_widths{
    278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,  // space … /
    556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,  // 0 … ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,  // @ … O
    667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,  // P … _
    333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,  // ` … o
    556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};      // p … ~

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

double width_in(const Utf8Character& character, double font_size_pt) {
  double thousandths = character.code < 0x600 ? 600 : 1000;
  if (character.code >= 0x20 && character.code < 0x7F) thousandths = advance_widths[character.code - 0x20];
  return thousandths / 1000.0 * font_size_pt / 72.0;
}

// How many bytes of `text` fit into the width; at least one character, so that wrapping always advances.
std::size_t bytes_that_fit(std::string_view text, double font_size_pt, double available_in) {
  std::size_t bytes = 0;
  double used_in = 0.0;
  while (bytes < text.size()) {
    const Utf8Character next = first_character(text.substr(bytes));
    used_in += width_in(next, font_size_pt);
    if (used_in > available_in && bytes > 0) break;
    bytes += next.bytes.size();
  }
  return bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const bool control = next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0);
    if (next.bytes.empty()) {
      shown += replacement;
    } else if (next.code == '\n') {
      shown += "\\n";
    } else if (control) {
      shown += fmt::format("\\x{:02X}", next.code);
    } else {
      shown += next.bytes;
    }
    text.remove_prefix(next.bytes.empty() ? 1 : next.bytes.size());
  }
  return shown;
}

std::string gnuplot_string(std::string_view text) {
  constexpr std::string_view harmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 -_.,:;/()+=";
  std::string quoted = "\"";
  bool was_escaped = false;
  for (const char c : printable(text)) {
    const auto byte = static_cast<unsigned char>(c);
    // gnuplot takes a digit behind an escape for a part of it.
    const bool continues_escape = was_escaped && c >= '0' && c <= '9';
    was_escaped = byte < 0x80 && (continues_escape || harmless.find(c) == std::string_view::npos);
    if (was_escaped)
      quoted += fmt::format("\\{:03o}", byte);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string without_absolute_paths(std::string_view command) {
  std::string shown;
  char quote = 0;
  for (std::size_t at = 0; at < command.size();) {
    const char c = command[at];
    const bool begins_word =
        at == 0 || std::string_view(" ='\":,").find(command[at - 1]) != std::string::npos;
    if (c == '/' && begins_word) {
      const std::size_t end = std::min(command.find(quote != 0 ? quote : ' ', at), command.size());
      std::string_view path = command.substr(at, end - at);
      while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
      shown += path.substr(path.rfind('/') + 1);
      at = end;
      continue;
    }
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    }
    shown += c;
    ++at;
  }
  return shown;
}

double text_width_in(std::string_view text, double font_size_pt) {
  const std::string shown = printable(text);
  double width = 0.0;
  for (std::string_view rest = shown; !rest.empty();) {
    const Utf8Character next = first_character(rest);
    width += width_in(next, font_size_pt);
    rest.remove_prefix(next.bytes.size());
  }
  return width;
}

std::vector<std::string> wrapped(std::string_view text, double font_size_pt, double width_in,
                                 std::size_t lines_max) {
  const std::string shown = printable(text);
  std::string_view rest = shown;
  std::vector<std::string> lines;
  while (lines.size() + 1 < lines_max && text_width_in(rest, font_size_pt) > width_in) {
    const std::size_t fitting = bytes_that_fit(rest, font_size_pt, width_in);
    const std::size_t space = rest.substr(0, fitting + 1).rfind(' ');
    const std::size_t joint = rest.substr(0, fitting).find_last_of(",;:)/_-");
    std::size_t end = fitting;
    std::size_t next = fitting;
    if (space != std::string_view::npos && space > 0) {
      end = space;
      next = space + 1;
    } else if (joint != std::string_view::npos && joint > fitting / 2) {
      end = next = joint + 1;
    }
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(next);
  }
  if (text_width_in(rest, font_size_pt) > width_in) {
    const double dots_in = text_width_in("…", font_size_pt);
    lines.push_back(std::string(rest.substr(0, bytes_that_fit(rest, font_size_pt, width_in - dots_in))) +
                    "…");
  } else {
    lines.emplace_back(rest);
  }
  return lines;
}

}  // namespace paceline::plots
