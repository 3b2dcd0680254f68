#include "sim/base/markup.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/utf8.hpp"

namespace paceline {
namespace {

// Western letters that the oldest fonts of TeX can put together: without eth and thorn.
bool is_in_every_latex(char32_t code) {
  return code >= 0xC0 && code <= 0xFF && (code & 0xDFU) != 0xD0 && (code & 0xDFU) != 0xDE && code != 0xF7;
}

}  // namespace

std::string tex_text(std::string_view text) {
  static const std::map<char32_t, std::string_view> commands{{U'\\', "$\\backslash$"},
                                                             {U'{', "\\{"},
                                                             {U'}', "\\}"},
                                                             {U'$', "\\$"},
                                                             {U'&', "\\&"},
                                                             {U'#', "\\#"},
                                                             {U'%', "\\%"},
                                                             {U'_', "\\_"},
                                                             {U'~', "\\~{}"},
                                                             {U'^', "\\^{}"},
                                                             {U'`', "\\`{}"},
                                                             {U'<', "$<$"},
                                                             {U'>', "$>$"},
                                                             {U'|', "$|$"},
                                                             {U'-', "-{}"},
                                                             {U',', ",{}"},
                                                             {U'\'', "'{}"},
                                                             {U'…', "\\ldots{}"},
                                                             {U'–', "{--}"},
                                                             {U'—', "{---}"},
                                                             {U'±', "$\\pm$"},
                                                             {U'×', "$\\times$"},
                                                             {U'µ', "$\\mu$"},
                                                             {U'→', "$\\rightarrow$"},
                                                             {U'≤', "$\\leq$"},
                                                             {U'≥', "$\\geq$"},
                                                             {U'"', "{\\ttfamily\\char34}"}};
  std::string tex;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character next = first_character(rest);
    const auto code = static_cast<char32_t>(next.code);
    if (const auto known = commands.find(code); known != commands.end()) {
      tex += known->second;
    } else if (!next.bytes.empty() && ((code >= 0x20 && code < 0x7F) || is_in_every_latex(code))) {
      tex += next.bytes;
    } else {
      tex += fmt::format("[U+{:04X}]", next.bytes.empty() ? 0xFFFD : next.code);
    }
    rest.remove_prefix(std::max<std::size_t>(next.bytes.size(), 1));
  }
  return tex.starts_with('[') || tex.starts_with('{') ? "\\relax{}" + tex : tex;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view acted_on = "\\`*_{}[]<>#|~&$";
  std::string markdown;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character next = first_character(rest);
    if (next.bytes.empty()) {
      markdown += "\xEF\xBF\xBD";
    } else if (next.code < 0x20 || next.code == 0x7F) {
      markdown += ' ';
    } else {
      if (acted_on.find(next.bytes) != std::string_view::npos) markdown += '\\';
      markdown += next.bytes;
    }
    rest.remove_prefix(std::max<std::size_t>(next.bytes.size(), 1));
  }
  return markdown;
}

std::string html_text(std::string_view text) {
  std::string html;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character next = first_character(rest);
    if (next.bytes.empty()) {
      html += "\xEF\xBF\xBD";
    } else if (std::string_view("&<>\"'`").find(next.bytes) != std::string_view::npos) {
      html += fmt::format("&#{};", next.code);
    } else if (next.code == '\n' || next.code == '\t') {
      html += ' ';
    } else if (next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0)) {
      html += "\xEF\xBF\xBD";
    } else {
      html += next.bytes;
    }
    rest.remove_prefix(std::max<std::size_t>(next.bytes.size(), 1));
  }
  return html;
}

}  // namespace paceline
