#include "calibrate/validation/live_trial.hpp"

#include <fmt/format.h>

#include "calibrate/validation/live_validation.hpp"
#include "sim/base/csv.hpp"

namespace paceline {
namespace {

void add_observations(CsvTable& csv, const LiveTrial& trial, std::size_t run, const RunResult& result) {
  for (const Observation& observation : observations_of(result)) {
    csv.add(trial.loaded.scenario.name);
    csv.add(run);
    csv.add(observation.quantity);
    csv.add(observation.unit);
    csv.add(observation.value);
    csv.end_row();
  }
}

CsvTable observations_table() {
  return CsvTable({"scenario", "run", "quantity", "unit", "value"});
}

}  // namespace

std::string predictions_csv(const std::vector<LiveTrial>& trials) {
  CsvTable csv = observations_table();
  for (const LiveTrial& trial : trials)
    for (std::size_t r = 0; r < trial.predicted.size(); ++r)
      add_observations(csv, trial, r, trial.predicted[r]);
  return csv.text();
}

std::string measurements_csv(const std::vector<LiveTrial>& trials) {
  CsvTable csv = observations_table();
  for (const LiveTrial& trial : trials)
    for (std::size_t r = 0; r < trial.real.size(); ++r) add_observations(csv, trial, r, trial.real[r].result);
  return csv.text();
}

std::string machine_csv(const std::vector<LiveTrial>& trials) {
  CsvTable csv({"scenario", "run", "iteration_before_s", "iteration_after_s", "usual_iteration_s", "waited_s",
                "repeated", "other_load", "sitting", "began", "ended"});
  for (const LiveTrial& trial : trials)
    for (std::size_t r = 0; r < trial.real.size(); ++r) {
      const live::RealRun& run = trial.real[r];
      csv.add(trial.loaded.scenario.name);
      csv.add(r);
      csv.add(run.machine->before);
      csv.add(run.machine->after);
      csv.add(run.machine->usual);
      csv.add(run.machine->waited);
      csv.add(run.machine->repeated);
      csv.add(run.other_load);
      csv.add(run.sitting);
      csv.add(run.began);
      csv.add(run.ended);
      csv.end_row();
    }
  return csv.text();
}

std::string pace_text(const std::vector<LiveTrial>& trials) {
  std::size_t as_usual = 0;
  for (const LiveTrial& trial : trials)
    for (const live::RealRun& run : trial.real)
      if (run.machine && run.machine->is_as_usual()) ++as_usual;
  return fmt::format(
      "{} of {} runs met a machine as fast as before the prediction, within {:.0f} %, by what was looked at "
      "before and after each",
      as_usual, real_runs(trials), 100.0 * live::usual_within);
}

std::size_t real_runs(const std::vector<LiveTrial>& trials) {
  std::size_t runs = 0;
  for (const LiveTrial& trial : trials) runs += trial.real.size();
  return runs;
}

std::string sittings_note(const std::vector<LiveTrial>& trials) {
  std::vector<const live::RealRun*> runs;
  for (const LiveTrial& trial : trials)
    for (const live::RealRun& run : trial.real) runs.push_back(&run);
  return live::sittings_note(runs);
}

}  // namespace paceline
