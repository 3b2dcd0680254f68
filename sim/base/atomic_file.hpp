// Files that appear whole or not at all: written beside their place under another name, then renamed.
#pragma once

#include <filesystem>
#include <string_view>

namespace paceline {

// Replaces or creates `path`. Throws UserError (with the system's reason) when it cannot be written.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// The content of a file. Throws UserError naming it when it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace paceline
