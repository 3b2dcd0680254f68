// A folder that appears whole or not at all.
//
// Files are written into a hidden sibling; `commit` renames it into place. A process that dies leaves at most
// that sibling, which the next attempt removes; two processes that write to one place do not disturb each
// other. An existing folder is only replaced when asked to, and only if everything in it was written by
// paceline: --force must delete neither a home folder nor a user's notes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace paceline {

// The manifest of a folder of results; null where there is none, or it is no JSON object.
[[nodiscard]] nlohmann::json manifest_in(const std::filesystem::path& folder);
// Its text under a key; empty when there is none.
[[nodiscard]] std::string string_in(const nlohmann::json& manifest, const char* key);

// Throws UserError when there is something at `place` that may not be replaced.
void refuse_to_replace(const std::filesystem::path& place, bool force);

class StagedFolder {
 public:
  // Throws UserError when `place` exists and may not be replaced, or its parent cannot be written.
  StagedFolder(const std::filesystem::path& place, bool force);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  // Where to write until `commit`.
  [[nodiscard]] const std::filesystem::path& path() const { return staging_; }
  void commit();

 private:
  std::filesystem::path place_;
  std::filesystem::path staging_;
  bool committed_ = false;
  std::optional<int> lock_;  // file descriptor: says to other processes that this one lives
};

}  // namespace paceline
