// A study of 24 short runs, in a folder of its own.
#pragma once

#include <cstddef>

#include "tests/cli/round_profile.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/workplace.hpp"

namespace paceline::test {

// 2 variants x 3 speeds x 4 replications = 24 runs.
inline constexpr const char* study_text = R"(study: varied
question: Which, and from which speed on?
base: scenario.yaml
replications: 4
variants:
  - name: ASP
  - name: BSP
    set: {synchronization: [{policy: bsp, transport: ring}]}
vary:
  - {key: cluster.workers.1.speed, values: [1, 0.5, 0.25]}
)";
inline constexpr std::size_t run_count = 24;

struct StudyPlace : Workplace {
  StudyPlace()
      : Workplace(PACELINE_PROGRAM, {{"profile.json", round_profile("small-cnn")},
                                     {"scenario.yaml", throughput_scenario},
                                     {"study.yaml", study_text}}) {}
};

}  // namespace paceline::test
