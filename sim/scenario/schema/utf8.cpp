#include "sim/scenario/schema/utf8.hpp"

#include <algorithm>

namespace paceline {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

bool continues(unsigned byte) {
  return (byte & 0xC0U) == 0x80U;
}

// Bytes of the character that starts here, 0 when none does.
std::size_t character_length(std::string_view bytes, std::size_t start) {
  const unsigned lead = byte_at(bytes, start);
  if (lead < 0x80U)
    return lead >= 0x20U && lead != 0x7FU ? 1 : (lead == '\t' || lead == '\n' || lead == '\r');
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || start + length > bytes.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(byte_at(bytes, start + i))) return 0;
  // Overlong forms, surrogates and what lies past U+10FFFF are told by the second byte.
  const unsigned second = byte_at(bytes, start + 1);
  const bool overlong = (lead == 0xE0U && second < 0xA0U) || (lead == 0xF0U && second < 0x90U);
  const bool outside = (lead == 0xEDU && second > 0x9FU) || (lead == 0xF4U && second > 0x8FU);
  return overlong || outside ? 0 : length;
}

}  // namespace

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return !continues(static_cast<unsigned char>(c)); }));
}

std::optional<std::size_t> find_not_text(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_length(bytes, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace paceline
