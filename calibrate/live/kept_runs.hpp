// Real runs as they ended, in a file until all that were asked for are there: whatever ends the process, the
// same command carries out the others.
//
// Models:      a store with what the work was begun with, as its owner says it, and each run when it has
//              ended.
// Assumptions: one process at a time, which the store sees to. Only the command and the programs that began
//              it go on with it, on a machine that grants what it did then.
// Not modelled: data sets whose files change between two sittings.
// Source:      sim/study/store/run_store.hpp for what a killed process leaves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/live/live_run.hpp"
#include "calibrate/live/machine_looks.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline::live {

[[nodiscard]] std::string utc_now();

struct RealRun {
  RunResult result{};
  std::optional<MachineLooks> machine{};
  double other_load = 0.0;
  CommunicationCost communication{};
  std::vector<Seconds> restarts{};  // how long workers took
  std::string began{};              // UTC
  std::string ended{};
  Seconds took{};
  double peak_memory_mib = 0.0;
  int sitting = 0;                      // from 0: a process carries out the runs of one
  std::vector<std::string> failures{};  // workers that were lost
  std::vector<std::string> notes{};
};

// run_live, and what is to be kept of it. An interruption that ended workers first is one.
[[nodiscard]] RealRun carry_out(const Scenario& scenario, const Profiles& profiles, std::uint32_t replication,
                                const LiveOptions& options);

// Times of a machine that was left and come back to may differ. Empty: nobody has.
[[nodiscard]] std::string sittings_note(const std::vector<const RealRun*>& runs);

// What work that goes on has to have in common with its beginning, beside its scenarios.
struct BegunBy {
  std::string command;
  std::string program;
  std::string machine;  // what its kernel has granted: SteadyMachine::text
};
// By this program, and that of the workers.
[[nodiscard]] BegunBy begun_by(const std::string& command, const std::string& machine);

class KeptRuns {
 public:
  // `holds`: the beginning of what is said where it cannot go on, "DIR holds an unfinished validation".
  KeptRuns(std::filesystem::path file, std::string holds);

  void begin(const std::string& with);
  // What it was begun with, JSON with `command`, `program` and `machine`; empty: nothing was begun.
  [[nodiscard]] std::string begun();
  // Throws UserError when they are others.
  void check_begun_by(const nlohmann::json& begun, const BegunBy& by) const;
  [[noreturn]] void refuse(const std::string& what) const;

  void keep(const std::string& scenario, const RealRun& run);
  // By replication, from the first on.
  [[nodiscard]] std::vector<RealRun> runs_of(const std::string& scenario);
  // Whatever else is to be there when it goes on; empty: it is not there.
  void put(const std::string& id, const std::string& packed);
  [[nodiscard]] std::string packed(const std::string& id) { return store_->packed(id); }

  // All is done: the file is no more.
  void finish();

 private:
  std::filesystem::path file_;
  std::string holds_;
  std::optional<RunStore> store_;
};

}  // namespace paceline::live
