// All files of a folder and of the folders in it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

namespace paceline::test {

// Relative to the folder, in order.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(std::filesystem::relative(entry.path(), folder));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace paceline::test
