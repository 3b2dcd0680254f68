// OmniLearn's memory safeguard: which batches the workers' memory holds, and what follows from it.
//
// Models:      a cap on each worker's batch, whatever the controller.
// Equation:    base + batch · per_sample ≤ memory of the worker (MemoryFit of its profile).
// Units:       samples, bytes.
// Assumptions: a worker without `memory` has no cap. What a cap cut, and when, is in batches.csv
//              (`limited_by`).
// Not modelled: memory that other programs take; paging.
// Source:      OmniLearn 2025 (named in its abstract only); the model is this project's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/profile.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

// Absent: no limit is known. At least 0.
[[nodiscard]] std::optional<std::int64_t> largest_batch_in_memory(const Worker& worker,
                                                                  const Profile& profile);

// One sentence for each worker whose memory may bind. Throws UserError, at its place, for a profile without a
// memory model, for memory below the smallest batch, and for bounds that cannot hold a global batch that is
// to be kept.
[[nodiscard]] std::vector<std::string> check_memory(const LoadedScenario& loaded, const Profiles& profiles);

}  // namespace paceline
