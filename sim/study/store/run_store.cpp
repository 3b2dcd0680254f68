#include "sim/study/store/run_store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/report/output/build_info.hpp"
#include "sim/report/output/columns.hpp"
#include "sim/study/store/content_hash.hpp"
#include "sim/study/store/run_store_sql.hpp"

namespace paceline {
namespace {

using sqlite::quoted_name;
using sqlite::Statement;
using sqlite::Transaction;

constexpr int first_metric = 4;  // of the columns of `runs`: run, status, message, build before it

RunStatus status_of(const Statement& row, int column) {
  if (row.is_null(column)) return RunStatus::missing;
  return row.text(column) == "done" ? RunStatus::done : RunStatus::failed;
}

}  // namespace

std::size_t PlannedStudy::run_count() const {
  std::size_t count = 0;
  for (const PlannedPoint& point : points) count += static_cast<std::size_t>(point.replications);
  return count;
}

std::string run_id(const std::string& point_digest, std::uint32_t replication) {
  return content_hash(fmt::format("{}/{}", point_digest, replication));
}

std::string_view to_text(RunStatus status) {
  switch (status) {
    case RunStatus::done:
      return "done";
    case RunStatus::failed:
      return "failed";
    case RunStatus::missing:
      break;
  }
  return "missing";
}

const std::vector<std::string>& run_metric_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string& column : columns_of("summary.csv"))
      if (column != "replication" && column != "seed") all.push_back(column);
    all.insert(all.end(), {"evaluation_interval_s", "core_hours"});
    return all;
  }();
  return names;
}

RunStore::RunStore(const std::filesystem::path& file, StoreAccess access) : file_(file) {
  database_.emplace(file);
  if (access == StoreAccess::read) return;
  // In this order: an exclusive lock before the log is first used needs no shared memory, and works on network folders.
  database_->execute("PRAGMA locking_mode = EXCLUSIVE");
  database_->execute("PRAGMA journal_mode = WAL");
  database_->execute("PRAGMA synchronous = NORMAL");
  create_tables();
}

void RunStore::create_tables() {
  Transaction transaction(*database_);
  database_->execute(
      "CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
      "CREATE TABLE IF NOT EXISTS plan (point INTEGER, replication INTEGER, run TEXT, PRIMARY KEY (point, "
      "replication)) "
      "WITHOUT ROWID;");
  std::string metrics;
  for (const std::string& name : run_metric_names()) metrics += fmt::format(", {}", quoted_name(name));
  database_->execute(
      fmt::format("CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, status TEXT NOT NULL, message "
                  "TEXT, build TEXT{}, packed "
                  "BLOB, packed_by TEXT) WITHOUT ROWID",
                  metrics));
  // A store of an older version may lack a metric: its runs then have none.
  std::set<std::string> present;
  Statement columns(*database_, "SELECT name FROM pragma_table_info('runs')");
  while (columns.next()) present.insert(columns.text(0));
  for (const std::string& name : run_metric_names())
    if (!present.contains(name))
      database_->execute(fmt::format("ALTER TABLE runs ADD COLUMN {}", quoted_name(name)));
  transaction.commit();
}

void RunStore::record(const FinishedRun& run) {
  std::string places;
  for (std::size_t i = 0; i < run_metric_names().size(); ++i) places += ", ?";
  Transaction transaction(*database_);
  Statement put(
      *database_,
      fmt::format("INSERT OR REPLACE INTO runs (run, status, message, build, {}, packed, packed_by) "
                  "VALUES (?, ?, ?, ?{}, ?, ?)",
                  metric_list(), places));
  put.bind(1, run.id)
      .bind(2, std::string(to_text(run.status)))
      .bind(3, run.message)
      .bind(4, build_info().commit);
  for (std::size_t m = 0; m < run.metrics.size(); ++m)
    put.bind(first_metric + 1 + static_cast<int>(m), run.metrics[m]);
  const int packed = first_metric + 1 + static_cast<int>(run_metric_names().size());
  if (!run.packed.empty()) put.bind_blob(packed, run.packed).bind(packed + 1, run.packed_by);
  put.run();
  transaction.commit();
}

std::set<std::string> RunStore::done(const std::optional<std::string>& packed_by) {
  Statement query(*database_, packed_by ? "SELECT run FROM runs WHERE status = 'done' AND packed_by = ?"
                                        : "SELECT run FROM runs WHERE status = 'done'");
  if (packed_by) query.bind(1, *packed_by);
  std::set<std::string> ids;
  while (query.next()) ids.insert(ids.end(), query.text(0));
  return ids;
}

std::set<std::string> RunStore::recorded() {
  Statement query(*database_, "SELECT run FROM runs");
  std::set<std::string> ids;
  while (query.next()) ids.insert(ids.end(), query.text(0));
  return ids;
}

void RunStore::for_each_run(const std::function<void(const StoredRun&)>& visit) {
  const int metrics = static_cast<int>(run_metric_names().size());
  Statement rows(
      *database_,
      fmt::format("SELECT plan.point, plan.replication, plan.run, runs.status, runs.message, {} FROM "
                  "plan LEFT JOIN runs USING (run) ORDER BY plan.point, plan.replication",
                  metric_list("runs.")));
  StoredRun run;
  while (rows.next()) {
    run.point = static_cast<std::size_t>(rows.whole(0));
    run.replication = static_cast<std::uint32_t>(rows.whole(1));
    run.id = rows.text(2);
    run.status = status_of(rows, 3);
    run.message = rows.text(4);
    run.metrics.clear();
    for (int m = 0; m < metrics; ++m) run.metrics.push_back(rows.cell(5 + m));
    visit(run);
  }
}

std::optional<StoredRun> RunStore::find(const std::string& id) {
  Statement query(*database_,
                  fmt::format("SELECT status, message, {} FROM runs WHERE run = ?", metric_list()));
  query.bind(1, id);
  if (!query.next()) return std::nullopt;
  StoredRun run{.point = 0,
                .replication = 0,
                .id = id,
                .status = status_of(query, 0),
                .message = query.text(1),
                .metrics = {}};
  for (int m = 0; m < static_cast<int>(run_metric_names().size()); ++m)
    run.metrics.push_back(query.cell(2 + m));
  return run;
}

std::string RunStore::packed(const std::string& id) {
  Statement query(*database_, "SELECT packed FROM runs WHERE run = ?");
  query.bind(1, id);
  return query.next() ? query.text(0) : std::string();
}

RunCounts RunStore::counts() {
  Statement query(*database_,
                  "SELECT COUNT(*), SUM(COALESCE(status = 'done', 0)), SUM(COALESCE(status = 'failed', 0)) "
                  "FROM plan LEFT "
                  "JOIN runs USING (run)");
  if (!query.next()) return {};
  return {static_cast<std::size_t>(query.whole(0)), static_cast<std::size_t>(query.whole(1)),
          static_cast<std::size_t>(query.whole(2))};
}

std::size_t RunStore::done_by_other_builds() {
  Statement query(*database_,
                  "SELECT COUNT(*) FROM plan JOIN runs USING (run) WHERE status = 'done' AND build <> ?");
  query.bind(1, build_info().commit);
  return query.next() ? static_cast<std::size_t>(query.whole(0)) : 0;
}

std::size_t RunStore::merge(const std::filesystem::path& other) {
  // Opened for writing: what a process that died left in its log belongs to it.
  const std::set<std::string> finished = done();
  const std::set<std::string> known = recorded();
  RunStore source(other);
  const std::string columns =
      fmt::format("run, status, message, build, {}, packed_by, packed", metric_list());
  std::string places;
  const int count = first_metric + static_cast<int>(run_metric_names().size()) + 2;
  for (int i = 0; i < count; ++i) places += i == 0 ? "?" : ", ?";
  std::size_t taken = 0;
  Transaction transaction(*database_);
  Statement put(*database_, fmt::format("INSERT OR REPLACE INTO runs ({}) VALUES ({})", columns, places));
  Statement rows(*source.database_, fmt::format("SELECT {} FROM runs ORDER BY run", columns));
  while (rows.next()) {
    // A run that is done replaces one that failed, never the other way round.
    if ((rows.text(1) == "done" ? finished : known).contains(rows.text(0))) continue;
    for (int c = 0; c + 1 < count; ++c) put.bind(c + 1, rows.cell(c));
    if (rows.is_null(count - 1)) {
      put.bind(count, {});
    } else {
      put.bind_blob(count, rows.text(count - 1));
    }
    put.run();
    ++taken;
  }
  transaction.commit();
  return taken;
}

void RunStore::compact() {
  const std::filesystem::path fresh = fmt::format("{}.partial", file_.string());
  std::error_code ignored;
  std::filesystem::remove(fresh, ignored);
  // The order of what was written, and how often, leaves traces in the file: a copy has none.
  database_->execute(fmt::format("VACUUM INTO {}", sqlite::quoted_text(fresh.string())));
  database_.reset();
  // How often tables were made over is counted in the file as well.
  sqlite::Database(fresh).execute("PRAGMA schema_version = 1");
  std::filesystem::rename(fresh, file_);
}

}  // namespace paceline
