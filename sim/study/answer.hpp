// The answer to a study's question in a sentence, with its probability.
#pragma once

#include <string>
#include <vector>

#include "sim/study/findings.hpp"

namespace paceline {

[[nodiscard]] std::string answer_of(const Findings& found);
// One sentence for each case.
[[nodiscard]] std::vector<std::string> answers_by_case(const Findings& found);

}  // namespace paceline
