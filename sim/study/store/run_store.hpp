// All runs of a study in one SQLite file: what is to be run, and what has been.
//
// Models:      a plan (combinations × replications, each run with its id) and the finished runs. One
//              transaction for each finished run: whatever ends the process, a run is there whole or not at
//              all, and no id is there twice.
// Assumptions: one process writes at a time (another one is refused); runs with one id are one run, whoever
//              made it.
// Not modelled: power failure may lose the last runs, never the file.
// Source:      sqlite.org/wal.html (exclusive locking, synchronous NORMAL).
//
// Tables, for whoever asks in SQL:
//   study   key, value                       name, question, command, columns, conditions, figures (JSON)
//   points  point, name, digest, facts (JSON), and a column for each varied name with its label
//   plan    point, replication, run          what is to be run
//   runs    run, status (done, failed), message, build, numbers (summary_columns), packed, packed_by
//   results a view: what was varied, replication, run, status and numbers of every planned run
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/report/statistics/run_summary.hpp"

namespace SQLite {
class Database;
}

namespace paceline {

// A combination as results need it.
struct PlannedPoint : Comparable {
  std::vector<std::string> labels;  // by column of the plan
  std::string digest;               // of everything that determines its runs, but the replication
  int replications = 1;
  std::uint32_t seed = 0;
  std::string policy;  // of each phase in turn, for warnings
  double learning_rate = 0.0;
  double momentum = 0.0;
  bool learns = false;
};

struct PlannedStudy {
  std::string name;
  std::string question;
  std::string command;               // without what cannot change a result
  std::string figures;               // JSON, for `paceline plot`
  std::vector<std::string> columns;  // "variant" and the names of what is varied
  // Of these, what is met rather than chosen: cluster, network, task. The others compete within them.
  std::vector<std::string> conditions = {};
  std::vector<PlannedPoint> points;

  [[nodiscard]] std::size_t run_count() const;
  // Where nothing is chosen, nothing is a condition: all combinations compete.
  [[nodiscard]] bool is_condition(const std::string& column) const;
  // "BSP, batch 64": what these labels choose; or "network 10 Gbit/s, straggler none": the conditions they
  // meet.
  [[nodiscard]] std::string choice_text(const std::vector<std::string>& labels) const;
  [[nodiscard]] std::string conditions_text(const std::vector<std::string>& labels) const;
};

// The id of a run: the same for the same content, in every folder, shard and build.
[[nodiscard]] std::string run_id(const std::string& point_digest, std::uint32_t replication);

enum class RunStatus { missing, done, failed };
[[nodiscard]] std::string_view to_string(RunStatus status);

struct StoredRun {
  std::size_t point = 0;
  std::uint32_t replication = 0;
  std::string id;
  RunStatus status = RunStatus::missing;
  std::string message;                // why it failed or stalled, or remarks on it
  std::optional<RunSummary> summary;  // of a run that is done
};

struct RunCounts {
  std::size_t planned = 0;
  std::size_t done = 0;
  std::size_t failed = 0;
  [[nodiscard]] std::size_t missing() const { return planned - done - failed; }
};

enum class StoreAccess { write, read };

// A store that no file keeps, for runs that are wanted at once.
inline constexpr const char* in_memory = ":memory:";

class RunStore {
 public:
  // To write: creates the file when it is not there. Throws UserError when it cannot be written, somebody
  // else writes it, or another version of paceline made it.
  explicit RunStore(const std::filesystem::path& file, StoreAccess access = StoreAccess::write);
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;
  ~RunStore();

  // Replaces the plan; runs stay. Throws UserError when a varied name is also a column of the results.
  void write_plan(const PlannedStudy& study);
  [[nodiscard]] std::optional<PlannedStudy> plan();

  // `packed`: the whole result, if it is kept; `packed_by`: what can unpack it, a build and what it recorded.
  void record(const StoredRun& run, const std::string& packed = {}, const std::string& packed_by = {});
  // Ids of the runs that are done; with `packed_by`, only those whose whole result was packed by it.
  [[nodiscard]] std::set<std::string> done(const std::optional<std::string>& packed_by = std::nullopt);
  // Every planned run, by combination and replication.
  void for_each_run(const std::function<void(const StoredRun&)>& visit);
  // The point of such a run is not told: it may belong to several.
  [[nodiscard]] std::optional<StoredRun> find(const std::string& id);
  [[nodiscard]] std::string packed(const std::string& id);
  [[nodiscard]] RunCounts counts();
  // Finished runs that another commit made: kept, since ids do not know builds, but worth a note.
  [[nodiscard]] std::size_t done_by_other_builds();

  // Takes the runs of another store that are not done here. The plan stays. How many were taken.
  std::size_t merge(const std::filesystem::path& other);
  // Writes the whole content to another file, replacing it.
  void save(const std::filesystem::path& file);
  // Writes the whole content to a new file, the same bytes for the same content, and puts it in this one's
  // place.
  void compact();

 private:
  template <class Work>
  auto use(const Work& work);
  void check_version();
  void create_tables();

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace paceline
