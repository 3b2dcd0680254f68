#include "sim/study/notes_after_runs.hpp"

#include "sim/report/recording/alarms.hpp"
#include "sim/study/learner_use.hpp"

namespace paceline {

std::vector<std::string> notes_after(const Scenario& scenario, const std::vector<RunResult>& runs,
                                     InputFiles& files) {
  std::vector<std::string> notes = alarm_notes(scenario, runs);
  if (!uses_model(scenario)) return notes;
  for (std::string& note : staleness_notes(scenario, files.learner(scenario.learner.model), runs))
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace paceline
