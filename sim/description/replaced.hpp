// Words that files once used, and what takes their place: an error says so instead of guessing.
#pragma once

#include <string>
#include <string_view>

namespace paceline {

// The hint for a key of the section at this path, or for a value at this path; empty when the word is none of
// old.
[[nodiscard]] std::string replacement_of(std::string_view path, std::string_view word);

}  // namespace paceline
