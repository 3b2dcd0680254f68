#include "sim/report/output/staged_folder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/report/output/result_files.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* choose_another = "choose another folder with --output";
constexpr std::string_view staging_suffix = ".partial";

// The first file that the manifest's own list of files does not name. A killed process may have left the log
// of a store that it names.
std::optional<fs::path> first_unlisted(const fs::path& folder, const nlohmann::json& files) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string name = entry.path().lexically_relative(folder).string();
    if (name.ends_with(".sqlite-wal")) name.resize(name.rfind('-'));
    if (!entry.is_directory() && std::ranges::find(files, nlohmann::json(name)) == files.end())
      return entry.path();
  }
  return std::nullopt;
}

// The first thing in a results folder that paceline did not write; nothing when it may be replaced as a
// whole.
std::optional<fs::path> first_foreign(const fs::path& folder) {
  const nlohmann::json manifest = manifest_in(folder);
  if (!string_in(manifest, "format").starts_with("paceline-")) return folder;
  if (manifest.contains("files") && manifest["files"].is_array())
    return first_unlisted(folder, manifest["files"]);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) {
      if (auto foreign = first_foreign(entry.path())) return foreign;
    } else if (!is_result_file(entry.path().filename().string())) {
      return entry.path();
    }
  }
  return std::nullopt;
}

// An exclusive lock on a folder, for as long as the file descriptor is open; nothing when another process
// holds it.
std::optional<int> lock_folder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return std::nullopt;
}

// What dead processes left behind: a living one holds the lock of its own.
void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(staging_suffix)) continue;
    if (const std::optional<int> lock = lock_folder(entry.path())) {
      fs::remove_all(entry.path(), ignored);
      close(*lock);
    }
  }
}

}  // namespace

nlohmann::json manifest_in(const fs::path& folder) {
  std::error_code ignored;
  const fs::path file = folder / "manifest.json";
  if (!fs::is_regular_file(file, ignored)) return nullptr;
  nlohmann::json manifest = nlohmann::json::parse(read_file(file), nullptr, false);
  return manifest.is_object() ? manifest : nlohmann::json();
}

std::string string_in(const nlohmann::json& manifest, const char* key) {
  return manifest.contains(key) && manifest[key].is_string() ? manifest[key].get<std::string>() : "";
}

void refuse_to_replace(const fs::path& place, bool force) {
  std::error_code failed;
  const fs::file_status status = fs::status(place, failed);
  if (status.type() == fs::file_type::not_found) return;
  if (failed)
    throw UserError(fmt::format("cannot use {}: {}", place.string(), failed.message()), choose_another);
  if (!fs::is_directory(place))
    throw UserError(fmt::format("{} exists and is not a folder", place.string()), choose_another);
  if (fs::is_empty(place)) return;
  if (const auto foreign = first_foreign(place))
    throw UserError(
        fmt::format("{} holds something that paceline did not write: {}", place.string(), foreign->string()),
        "choose another folder with --output; paceline replaces only its own results");
  if (!force)
    throw UserError(fmt::format("{} already holds results", place.string()),
                    "choose another folder with --output, or replace them with --force");
}

StagedFolder::StagedFolder(const fs::path& place, bool force)
    : place_(fs::absolute(place).lexically_normal()) {
  if (place_.filename().empty()) place_ = place_.parent_path();
  refuse_to_replace(place_, force);
  const std::string prefix = fmt::format(".{}.", place_.filename().string());
  remove_abandoned(place_.parent_path(), prefix);
  staging_ = place_.parent_path() / fmt::format("{}{}{}", prefix, getpid(), staging_suffix);
  std::error_code failed;
  fs::create_directories(staging_, failed);
  if (failed)
    throw UserError(fmt::format("cannot write to {}: {}", place_.parent_path().string(), failed.message()),
                    choose_another);
  lock_ = lock_folder(staging_);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staging_, ignored);
  if (lock_) close(*lock_);
}

void StagedFolder::commit() {
  // The old results stay until the new ones are complete; between the two renames neither has the name.
  const fs::path replaced = place_.parent_path() / fmt::format(".{}.replaced", place_.filename().string());
  fs::remove_all(replaced);
  if (fs::exists(place_)) fs::rename(place_, replaced);
  fs::rename(staging_, place_);
  committed_ = true;
  fs::remove_all(replaced);
}

}  // namespace paceline
