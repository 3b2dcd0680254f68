// How far the files that a scenario predicts from were off where it could be checked, and whether runs draw
// what these do not know.
//
// Models:      one sentence for each profile and learner.
// Equation:    profile: mean |predicted / measured - 1| of batches left out one at a time, the worst of its
//              core counts, and of core counts left out. Learner: mean |predicted - recorded| final accuracy
//              of groups of runs left out of the fit; of the groups that null models predict too, the same
//              for these: what the first policy alone reaches, and a mixture of the pure policies in
//              proportion to their shares.
// Units:       fractions.
// Assumptions: what `paceline calibrate` and `paceline fit` wrote into the files.
// Not modelled: how errors of compute times and of learning add up in a time to accuracy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/scenario/reader.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {

using Evidence = std::map<std::string, std::string>;  // a sentence for each file

// Adds those of a scenario that passed the checks.
void add_evidence(const LoadedScenario& loaded, InputFiles& files, ProfileUse use, Evidence& evidence);
[[nodiscard]] std::vector<std::string> sentences_of(const Evidence& evidence);

}  // namespace paceline
