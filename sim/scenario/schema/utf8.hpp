// UTF-8 as scenario files use it: what counts as text, and how many characters a byte range holds.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace paceline {

// Characters in valid UTF-8: every byte but the continuation bytes.
[[nodiscard]] std::size_t count_characters(std::string_view utf8);

// Offset of the first byte that is not part of a text: malformed UTF-8, or a control character other than tab
// and line breaks.
[[nodiscard]] std::optional<std::size_t> find_not_text(std::string_view bytes);

}  // namespace paceline
