// Study files: one base scenario, named variants of it, and values that are varied.
//
//   study: quickstart
//   question: Which policy reaches 80 % first on an uneven cluster?
//   base: base.yaml                                  # relative to this file
//   replications: 20                                 # of every combination
//   variants:
//     - name: BSP, uniform batches
//       set: {batching.controller: uniform}          # key path: value, as with `--set`
//   vary:                                            # every variant with every combination of these
//     - {key: cluster.network.bandwidth, values: [1 Gbit/s, 10 Gbit/s]}
//     - {key: job.optimizer.learning_rate, name: rate, range: {from: 0.01, to: 1, points: 5, scale: log}}
//     - {name: share, range: {from: 10 %, to: 90 %, points: 9}}        # used below as ${share}
//     - {name: level, cases: [{label: HL2, set: {cluster.workers: [{cores: 2}, {cores: 4}], seed: 3}}]}
//     - {zip: {batching.minimum: [8, 16], batching.maximum: [128, 256]}}
//   set:                                             # for every combination; values that depend on others
//     synchronization: [{policy: bsp, transport: ring, share: "${share}"}, {policy: asp, transport: server}]
//     stop.epochs: {lookup: level, in: {HL2: 30}}
//     cluster.workers: [{repeat: 4, of: {cores: 1}}]
//   exclude:
//     - {level: HL2, bandwidth: [1 Gbit/s]}
//
// What the parts mean: study_plan.hpp. A mistake is reported at its line of the study file; one that all
// combinations share is reported once.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {

struct StudyVariant {
  std::string name;  // also the name of its scenario
  LoadedScenario loaded;
};

struct Study {
  std::string name;
  std::string question;
  std::filesystem::path file;
  std::vector<StudyVariant> variants;  // the combinations, in their order; names differ
};

// All combinations of a study at once: for small ones. `overrides` apply to every combination, after its own.
// Throws UserError.
[[nodiscard]] Study load_study(const std::filesystem::path& file, std::span<const std::string> overrides);

// Whether a file is meant as a study (it has a top-level key `study`, `variants` or `vary`) rather than as a
// scenario. Throws UserError when it cannot be read.
[[nodiscard]] bool is_study_file(const std::filesystem::path& file);

// A name as a folder: lower-case letters, digits and single hyphens, never empty.
[[nodiscard]] std::string folder_name(std::string_view name);

// The JSON schema (draft-7) of a study file, for editors.
[[nodiscard]] std::string study_schema();
// Every key in Markdown; the example's base is scenario_example() in scenario.yaml.
[[nodiscard]] std::string study_reference();
[[nodiscard]] std::string_view study_example();

}  // namespace paceline
