// A recorded setting as files that anyone can run again: a profile of its worker and a scenario of its job.
//
// Models:      equal workers on a network that costs nothing (transfers are inside the recorded iteration),
//              the costs of recorded_costs.hpp, the plan of the recorded runs, a learner file.
// Equation:    compute time of a batch b = iteration · b / recorded batch; coordination per worker = serial
//              part.
// Units:       as the files say.
// Assumptions: evaluations are spaced as the median of the recorded ones, and free; one epoch is the
//              workload.
// Not modelled: start-up, ramp-up and the pause at a switch, which recorded training times leave out.
#pragma once

#include <cstdint>
#include <string>

#include "calibrate/learning/recorded_costs.hpp"
#include "calibrate/learning/training_run.hpp"

namespace paceline {

struct Delay {
  int workers = 0;  // delayed, from the start to the end
  double seconds = 0.0;
};

struct RecordedSetting {
  std::string name;
  TrainingPlan plan;
  std::string profile;  // paths, relative to the scenario file
  std::string learner;  // empty: times only
  double evaluate_every_minibatches = 0.0;
  Delay delay{};
  int replications = 1;
};

[[nodiscard]] std::string profile_text(const RecordedCosts& costs, double batch_samples,
                                       const std::string& source);
// `costs` must know the serial part when the plan has synchronous phases.
[[nodiscard]] std::string scenario_text(const RecordedSetting& setting, const RecordedCosts& costs);

// The median spacing of the recorded evaluations, or a 32nd of the workload where there is no curve.
[[nodiscard]] double evaluation_spacing(const RunGroup& group);

// As a file name: letters, digits and dots; everything else becomes one dash.
[[nodiscard]] std::string file_name_of(const std::string& text);

}  // namespace paceline
