// UTF-8: its characters, what counts as text, and how many columns a text takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paceline {

struct Utf8Character {
  std::string_view bytes;  // empty: not valid UTF-8
  std::uint32_t code = 0;
};

// Of a text that is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text);

// Bytes that continue a character take no column of their own.
[[nodiscard]] constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Characters in valid UTF-8.
[[nodiscard]] std::size_t count_characters(std::string_view utf8);

// Offset of the first byte that is not part of a text: malformed UTF-8, or a control character other than tab
// and line breaks.
[[nodiscard]] std::optional<std::size_t> find_not_text(std::string_view bytes);

}  // namespace paceline
