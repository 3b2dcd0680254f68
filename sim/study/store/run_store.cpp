#include "sim/study/store/run_store.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/output/build_info.hpp"
#include "sim/study/store/content_hash.hpp"
#include "sim/study/store/run_store_sql.hpp"

namespace paceline {
namespace {

constexpr int store_version = 3;
constexpr int wait_for_lock_ms = 200;

Cell cell_of(const SQLite::Column& column) {
  if (column.isNull()) return nullptr;
  if (column.isInteger()) return static_cast<std::int64_t>(column);
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

// In order: positions count from 1, as in SQL.
void bind_cells(SQLite::Statement& statement, const Cell& values) {
  int position = 0;
  for (const Cell& cell : values) {
    ++position;
    if (cell.is_null()) {
      statement.bind(position);
    } else if (cell.is_number_float()) {
      statement.bind(position, cell.get<double>());
    } else if (cell.is_number()) {
      statement.bind(position, cell.get<std::int64_t>());
    } else if (cell.is_binary()) {
      statement.bind(position, cell.get_binary().data(), static_cast<int>(cell.get_binary().size()));
    } else {
      statement.bind(position, cell.get<std::string>());
    }
  }
}

// From a row that begins at `first` with status, message and the numbers.
void read_run(SQLite::Statement& row, int first, StoredRun& run) {
  const std::string status = row.getColumn(first).getString();  // empty: there is no such run yet
  run.status = status == "done" ? RunStatus::done : status.empty() ? RunStatus::missing : RunStatus::failed;
  run.message = row.getColumn(first + 1).getString();
  run.summary.reset();
  if (run.status != RunStatus::done) return;
  run.summary.emplace();
  int number = first + 2;
  for (const Column<RunSummary>& column : summary_columns()) {
    if (column.set) column.set(*run.summary, cell_of(row.getColumn(number)));
    ++number;
  }
}

std::string labels_text(const PlannedStudy& study, const std::vector<std::string>& labels,
                        bool of_conditions) {
  std::string text;
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    const std::string& column = study.columns[c];
    if (study.is_condition(column) != of_conditions) continue;
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", column == "variant" ? "" : column + " ", labels[c]);
  }
  return text;
}

}  // namespace

SQLite::Statement prepared(SQLite::Database& database, const std::string& sql, const Cell& values) {
  SQLite::Statement statement(database, sql);
  bind_cells(statement, values);
  return statement;
}

void execute(SQLite::Statement& statement, const Cell& values) {
  bind_cells(statement, values);
  statement.exec();
  statement.reset();
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number_names(std::string_view table) {
  std::vector<std::string> names;
  for (const ColumnText& column : summary_columns())
    names.push_back(fmt::format("{}{}", table, quoted_name(column.name)));
  return fmt::format("{}", fmt::join(names, ", "));
}

// A user can mend most of it; a statement that does not fit the tables is our mistake.
void explain(const std::filesystem::path& file, const SQLite::Exception& error) {
  switch (error.getErrorCode() & 0xFF) {  // the primary code of an extended one
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw UserError(fmt::format("{} is in use by another process", file.string()),
                      "wait until it ends, or use another folder");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw UserError(fmt::format("cannot write {}: {}", file.string(), error.what()),
                      "free some space and give the same command again: finished runs are kept");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw UserError(fmt::format("cannot write {}: {}", file.string(), error.what()),
                      "check that the folder exists and is writable, or use another one");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw UserError(
          fmt::format("{} is damaged, or is not a store of runs: {}", file.string(), error.what()),
          "move it away, or start over with --force");
    default:
      throw std::runtime_error(fmt::format("{}: {}", file.string(), error.what()));
  }
}

bool PlannedStudy::is_condition(const std::string& column) const {
  return conditions.size() < columns.size() && std::ranges::count(conditions, column) > 0;
}

std::string PlannedStudy::choice_text(const std::vector<std::string>& labels) const {
  return labels_text(*this, labels, false);
}

std::string PlannedStudy::conditions_text(const std::vector<std::string>& labels) const {
  return labels_text(*this, labels, true);
}

std::size_t PlannedStudy::run_count() const {
  std::size_t count = 0;
  for (const PlannedPoint& point : points) count += static_cast<std::size_t>(point.replications);
  return count;
}

std::string run_id(const std::string& point_digest, std::uint32_t replication) {
  return content_hash(fmt::format("{}/{}", point_digest, replication));
}

std::string_view to_string(RunStatus status) {
  constexpr std::string_view names[] = {"missing", "done", "failed"};
  return names[static_cast<std::size_t>(status)];
}

RunStore::RunStore(const std::filesystem::path& file, StoreAccess access) : file_(file) {
  try {
    database_ = std::make_unique<SQLite::Database>(
        file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, wait_for_lock_ms);
    if (access == StoreAccess::write) {
      // In this order: an exclusive lock before the log is first used needs no shared memory, and works on
      // network folders.
      database_->exec("PRAGMA locking_mode = EXCLUSIVE");
      database_->exec("PRAGMA journal_mode = WAL");
      database_->exec("PRAGMA synchronous = NORMAL");
    }
    check_version();
    if (access == StoreAccess::write) create_tables();
  } catch (const SQLite::Exception& error) {
    explain(file_, error);
  }
}

RunStore::~RunStore() = default;

void RunStore::check_version() {
  const int tables = database_->execAndGet("SELECT COUNT(*) FROM sqlite_master").getInt();
  const int version = database_->execAndGet("PRAGMA user_version").getInt();
  if (tables > 0 && version != store_version)
    throw UserError(fmt::format("{} was written by another version of paceline", file_.string()),
                    "use another folder, or start over with --force");
}

void RunStore::create_tables() {
  SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
  database_->exec(fmt::format("PRAGMA user_version = {}", store_version));
  database_->exec(
      "CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
      "CREATE TABLE IF NOT EXISTS plan (point INTEGER, replication INTEGER, run TEXT, "
      "PRIMARY KEY (point, replication)) WITHOUT ROWID;");
  std::string numbers;
  for (const Column<RunSummary>& column : summary_columns())
    numbers += fmt::format("{} {}, ", quoted_name(column.name), column.type);
  database_->exec(fmt::format(
      "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, status TEXT NOT NULL, message TEXT, "
      "build TEXT, {}packed BLOB, packed_by TEXT) WITHOUT ROWID",
      numbers));
  transaction.commit();
}

void RunStore::record(const StoredRun& run, const std::string& packed, const std::string& packed_by) {
  Cell row = Cell::array({run.id, to_string(run.status), run.message, build_info().commit});
  for (const Column<RunSummary>& column : summary_columns())
    row.push_back(run.summary ? column.value(*run.summary, {}) : Cell());
  row.push_back(packed.empty() ? Cell() : Cell::binary({packed.begin(), packed.end()}));
  row.push_back(packed.empty() ? Cell() : Cell(packed_by));
  std::string places = "?";
  for (std::size_t i = 1; i < row.size(); ++i) places += ", ?";
  use([&](SQLite::Database& database) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    prepared(database, fmt::format("INSERT OR REPLACE INTO runs VALUES ({})", places), row).exec();
    transaction.commit();
  });
}

std::set<std::string> RunStore::done(const std::optional<std::string>& packed_by) {
  return use([&](SQLite::Database& database) {
    SQLite::Statement query =
        prepared(database, "SELECT run FROM runs WHERE status = 'done' AND (?1 IS NULL OR packed_by = ?1)",
                 Cell::array({packed_by}));
    std::set<std::string> ids;
    while (query.executeStep()) ids.insert(ids.end(), query.getColumn(0).getString());
    return ids;
  });
}

void RunStore::for_each_run(const std::function<void(const StoredRun&)>& visit) {
  use([&](SQLite::Database& database) {
    SQLite::Statement rows(
        database,
        fmt::format("SELECT plan.point, plan.replication, plan.run, runs.status, runs.message, {} FROM "
                    "plan LEFT JOIN runs USING (run) ORDER BY plan.point, plan.replication",
                    number_names("runs.")));
    StoredRun run;
    while (rows.executeStep()) {
      run.point = rows.getColumn(0).getUInt();
      run.replication = rows.getColumn(1).getUInt();
      run.id = rows.getColumn(2).getString();
      read_run(rows, 3, run);
      visit(run);
    }
  });
}

std::optional<StoredRun> RunStore::find(const std::string& id) {
  return use([&](SQLite::Database& database) -> std::optional<StoredRun> {
    SQLite::Statement query = prepared(
        database, fmt::format("SELECT status, message, {} FROM runs WHERE run = ?", number_names()), {id});
    if (!query.executeStep()) return std::nullopt;
    StoredRun run;
    run.id = id;
    read_run(query, 0, run);
    return run;
  });
}

std::string RunStore::packed(const std::string& id) {
  return use([&](SQLite::Database& database) {
    SQLite::Statement query = prepared(database, "SELECT packed FROM runs WHERE run = ?", {id});
    return query.executeStep() ? query.getColumn(0).getString() : std::string();
  });
}

RunCounts RunStore::counts() {
  return use([&](SQLite::Database& database) -> RunCounts {
    SQLite::Statement query(database,
                            "SELECT COUNT(*), SUM(COALESCE(status = 'done', 0)), "
                            "SUM(COALESCE(status = 'failed', 0)) FROM plan LEFT JOIN runs USING (run)");
    if (!query.executeStep()) return {};
    return {query.getColumn(0).getUInt(), query.getColumn(1).getUInt(), query.getColumn(2).getUInt()};
  });
}

std::size_t RunStore::done_by_other_builds() {
  return use([&](SQLite::Database& database) -> std::size_t {
    SQLite::Statement query = prepared(
        database, "SELECT COUNT(*) FROM plan JOIN runs USING (run) WHERE status = 'done' AND build <> ?",
        {build_info().commit});
    return query.executeStep() ? query.getColumn(0).getUInt() : 0;
  });
}

std::size_t RunStore::merge(const std::filesystem::path& other) {
  // Opened for writing first: what a process that died left in its log belongs to it.
  { const RunStore whole(other); }
  return use([&](SQLite::Database& database) {
    prepared(database, "ATTACH ? AS part", {other.string()}).exec();
    // A run that is done replaces one that failed, never the other way round.
    const int taken = database.exec(
        "INSERT OR REPLACE INTO main.runs SELECT * FROM part.runs AS theirs WHERE NOT EXISTS (SELECT 1 FROM "
        "main.runs AS ours WHERE ours.run = theirs.run AND (ours.status = 'done' OR theirs.status <> "
        "'done'))");
    database.exec("DETACH part");
    return static_cast<std::size_t>(taken);
  });
}

void RunStore::save(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  use([&](SQLite::Database& database) { prepared(database, "VACUUM INTO ?", {file.string()}).exec(); });
}

void RunStore::compact() {
  const std::filesystem::path fresh = fmt::format("{}.partial", file_.string());
  // The order of what was written, and how often, leaves traces in the file: a copy has none.
  save(fresh);
  use([&](SQLite::Database&) {
    database_.reset();
    // How often tables were made over is counted in the file as well.
    SQLite::Database(fresh.string(), SQLite::OPEN_READWRITE).exec("PRAGMA schema_version = 1");
  });
  std::filesystem::rename(fresh, file_);
}

}  // namespace paceline
