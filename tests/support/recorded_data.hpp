// Where the recorded training runs are, for tests that use them and skip without them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

namespace paceline {

// A folder of recorded runs, that of the Sync-Switch curves unless another is named: in the environment
// variable PACELINE_RECORDED_DATA, or beside the checkout.
inline std::optional<std::filesystem::path> recorded_data(const char* name = "sync-switch") {
  const char* given = std::getenv("PACELINE_RECORDED_DATA");
  std::vector<std::filesystem::path> candidates;
  if (given != nullptr)
    candidates = {std::filesystem::path(given) / name, std::filesystem::path(given)};
  else
    candidates = {std::filesystem::path(PACELINE_SOURCE_DIR) / ".." / "shared" / "data" / name};
  for (const std::filesystem::path& candidate : candidates)
    if (std::filesystem::exists(candidate / "runs.csv")) return candidate;
  MESSAGE("skipped: no recorded runs; PACELINE_RECORDED_DATA names their folder");
  return std::nullopt;
}

}  // namespace paceline
