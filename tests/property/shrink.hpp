// From a job that fails a check to a smaller one that still fails it, for a person to read.
//
// Rule: as long as some single simplification (a phase, a worker, a server, a cost, a change of conditions
// less; half of
//       the work) keeps the failure, it is taken. What remains fails, and none of its simplifications does.
#pragma once

#include <functional>

#include "tests/property/random_job.hpp"

namespace paceline::test {

using Fails = std::function<bool(const RandomJob&)>;

[[nodiscard]] RandomJob shrink(RandomJob failing, const Fails& fails);

}  // namespace paceline::test
