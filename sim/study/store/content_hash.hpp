// A short name for a content: FNV-1a, 64 bits, in hexadecimal.
//
// Assumptions: contents are not chosen to collide; among a million, two collide with probability 3e-8.
// Source:      Fowler, Noll, Vo; draft-eastlake-fnv.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace paceline {

class ContentHash {
 public:
  ContentHash& add(std::string_view text) {
    for (const char byte : text) step(static_cast<unsigned char>(byte));
    step(0xFF);  // in no UTF-8 text: "ab", "c" and "a", "bc" differ
    return *this;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  void step(unsigned char byte) {
    hash_ ^= byte;
    hash_ *= 0x100000001b3U;
  }
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

[[nodiscard]] inline std::string content_hash(std::string_view text) {
  return ContentHash().add(text).text();
}

}  // namespace paceline
