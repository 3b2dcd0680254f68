#include "sim/report/staged_folder.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

bool holds_our_results(const fs::path& folder) {
  const fs::path manifest = folder / "manifest.json";
  if (!fs::exists(manifest)) return false;
  const auto content = nlohmann::json::parse(read_file(manifest), nullptr, false);
  return content.is_object() && content.value("format", "").starts_with("paceline-");
}

void refuse_to_replace(const fs::path& place, bool force) {
  if (!fs::exists(place)) return;
  if (!fs::is_directory(place))
    throw UserError(fmt::format("{} exists and is not a folder", place.string()),
                    "choose another folder with --output");
  if (fs::is_empty(place)) return;
  if (!holds_our_results(place))
    throw UserError(fmt::format("{} exists and does not hold paceline results", place.string()),
                    "choose another folder with --output; paceline replaces only its own results");
  if (!force)
    throw UserError(fmt::format("{} already holds results", place.string()),
                    "choose another folder with --output, or replace them with --force");
}

}  // namespace

StagedFolder::StagedFolder(fs::path place, bool force) : place_(fs::absolute(place).lexically_normal()) {
  if (place_.filename().empty()) place_ = place_.parent_path();
  refuse_to_replace(place_, force);
  staging_ = place_.parent_path() / fmt::format(".{}.partial", place_.filename().string());
  std::error_code failed;
  fs::remove_all(staging_, failed);
  if (!failed) fs::create_directories(staging_, failed);
  if (failed)
    throw UserError(fmt::format("cannot write to {}: {}", place_.parent_path().string(), failed.message()),
                    "choose another folder with --output");
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staging_, ignored);
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
