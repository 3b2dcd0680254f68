// Study files: one base scenario and named variants of it, each a set of overrides.
//
//   study: quickstart
//   question: Which policy reaches 80 % first on an uneven cluster?
//   base: base.yaml                                  # relative to this file
//   variants:
//     - name: BSP, uniform batches
//       set: {batching.controller: uniform}          # key path: value, as with `--set`
//
// A mistake in a `set` is reported at its line of the study file; one that all variants share is reported
// once.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/reader.hpp"

namespace paceline {

struct StudyVariant {
  std::string name;  // also the name of its scenario
  LoadedScenario loaded;
};

struct Study {
  std::string name;
  std::string question;
  std::filesystem::path file;
  std::vector<StudyVariant> variants;  // in the order of the file; names and folder names differ
};

// `overrides` apply to every variant, after the variant's own. Throws UserError.
[[nodiscard]] Study load_study(const std::filesystem::path& file, std::span<const std::string> overrides);

// Whether a file is meant as a study (it has a top-level key `study` or `variants`) rather than as a scenario.
// Throws UserError when it cannot be read.
[[nodiscard]] bool is_study_file(const std::filesystem::path& file);

// A name as a folder: lower-case letters, digits and single hyphens, never empty.
[[nodiscard]] std::string folder_name(std::string_view name);

// The JSON schema (draft-7) of a study file, for editors.
[[nodiscard]] std::string study_schema();

}  // namespace paceline
