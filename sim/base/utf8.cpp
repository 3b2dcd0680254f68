#include "sim/base/utf8.hpp"

#include <algorithm>

namespace paceline {
namespace {

bool is_control(std::uint32_t code) {
  return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || code == 0x7F;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const std::uint32_t lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {text.substr(0, 1), lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (const char byte : text.substr(1, length - 1)) {
    if (!continues_character(byte)) return {};
    code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {text.substr(0, length), code};
}

std::size_t count_characters(std::string_view utf8) {
  return utf8.size() - static_cast<std::size_t>(std::ranges::count_if(utf8, continues_character));
}

std::optional<std::size_t> find_not_text(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Utf8Character next = first_character(bytes.substr(at));
    if (next.bytes.empty() || is_control(next.code)) return at;
    at += next.bytes.size();
  }
  return std::nullopt;
}

}  // namespace paceline
