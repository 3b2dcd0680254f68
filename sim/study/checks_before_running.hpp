// What can be known to be wrong with a scenario, or is worth a note, before its first run; and what its runs
// ask of a statistical learner and of the workers' memory.
//
// Models:      OmniLearn's memory safeguard: a cap on each worker's batch, whatever the controller.
// Equation:    base + batch · per_sample ≤ memory of the worker (MemoryFit of its profile).
// Units:       samples, bytes.
// Assumptions: a worker without `memory` has no cap. What a cap cut, and when, is in batches.csv
//              (`limited_by`). An asynchronous gradient is expected to meet the updates of all other workers.
// Not modelled: memory that other programs take; paging.
// Source:      OmniLearn 2025 (named in its abstract only); the model is this project's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/learning/statistical_model.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {

// A user's mistake at the key of a scenario that makes it.
[[noreturn]] void fail_at(const LoadedScenario& loaded, const std::string& key, const std::string& message,
                          const std::string& hint);

// What the job trains, as far as its scenario says it.
[[nodiscard]] Identity identity_of(const LoadedScenario& loaded);

[[nodiscard]] Profiles read_profiles(const LoadedScenario& loaded, InputFiles& files);

// Sentences about defaults used, measured ranges left, poor fits and drawn profiles, for the manifest and the
// terminal. Throws UserError for all mistakes together, each at its place: what a profile cannot tell
// (another network or data set, cores that were not measured, the uncertainty of its fits), a learner of
// another network or data set, and data that is not there.
[[nodiscard]] std::vector<std::string> check_before_running(const LoadedScenario& loaded, InputFiles& files,
                                                            ProfileUse use = ProfileUse::as_fitted);

// Of a scenario with mistakes elsewhere: whether the files it names are there and of its job.
void check_files(const LoadedScenario& loaded, InputFiles& files);

// What the job asks of its profiles and its learner beside what these were fitted on, of a scenario that
// passed the checks.
[[nodiscard]] std::vector<ValidityRow> validity_of(const LoadedScenario& loaded, InputFiles& files);

// Absent: no limit is known. At least 0.
[[nodiscard]] std::optional<std::int64_t> largest_batch_in_memory(const Worker& worker,
                                                                  const Profile& profile);
// One sentence for each worker whose memory may bind. Throws UserError, at its place, for a profile without a
// memory model, for memory below the smallest batch, and for bounds that cannot hold a global batch that is
// to be kept.
[[nodiscard]] std::vector<std::string> check_memory(const LoadedScenario& loaded, const Profiles& profiles);

// How many times the learner `network` holds something as large as the parameters.
[[nodiscard]] std::int64_t parameter_sets(const Scenario& scenario);
// A sentence about that for local training. Throws UserError where they take more than there is.
[[nodiscard]] std::vector<std::string> check_network_memory(const LoadedScenario& loaded,
                                                            const Profiles& profiles, double available_mib);

[[nodiscard]] bool uses_model(const Scenario& scenario);
// Where the scenario leaves the runs that the learner was fitted on. Throws UserError for a rate far beyond
// them: what a learner knows of a rate is how fast it learns, not from which one on training breaks down.
// `profiles`: null where they cannot be read.
[[nodiscard]] std::vector<ValidityRow> learner_validity(const Scenario& scenario,
                                                        const StatisticalModel& model);
[[nodiscard]] const StatisticalModel& read_learner(const LoadedScenario& loaded, InputFiles& files);
// A learner knows what its own network did on its own data set: another one is refused, or if it is assumed
// named in the note that is returned.
[[nodiscard]] std::string check_learner_identity(const LoadedScenario& loaded, const StatisticalModel& model,
                                                 const Profiles* profiles);
[[nodiscard]] std::vector<std::string> check_learner(const LoadedScenario& loaded, InputFiles& files,
                                                     const Profiles* profiles);
// After a run: that gradients were staler than those the learner was fitted on.
[[nodiscard]] std::vector<std::string> staleness_notes(const StatisticalModel& model, const RunResult& run);

}  // namespace paceline
