// A file that a command will write once it has measured: whether it can is checked before.
#pragma once

#include <filesystem>

namespace paceline::calibrate {

// Throws UserError where it is a folder, exists and may not be replaced, or its folder cannot be written.
void check_output_file(const std::filesystem::path& file, bool may_replace);

}  // namespace paceline::calibrate
