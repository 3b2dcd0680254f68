// A study that is running or was killed, as a folder that figures can be drawn of. Private to sim/cli.
#pragma once

#include <filesystem>
#include <string>

namespace paceline {

class DrawableFolder {
 public:
  // Of any folder or file. What a study's store holds beyond its tables goes into a folder of its own.
  explicit DrawableFolder(const std::filesystem::path& folder);
  DrawableFolder(const DrawableFolder&) = delete;
  DrawableFolder& operator=(const DrawableFolder&) = delete;
  ~DrawableFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // "3 of 60 runs are not done"; empty when all are.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path own_;  // gone with this; empty: none was needed
  std::string missing_;
};

}  // namespace paceline
