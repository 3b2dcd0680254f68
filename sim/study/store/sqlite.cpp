#include "sim/study/store/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::sqlite {
namespace {

constexpr int wait_for_lock_ms = 200;

[[noreturn]] void fail(sqlite3* handle, const std::filesystem::path& file, int status) {
  const std::string reason = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(status);
  switch (status & 0xFF) {  // the primary code of an extended one
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw UserError(fmt::format("{} is in use by another process", file.string()),
                      "wait until it ends, or use another folder");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw UserError(fmt::format("cannot write {}: {}", file.string(), reason),
                      "free some space and give the same command again: finished runs are kept");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw UserError(fmt::format("cannot write {}: {}", file.string(), reason),
                      "check that the folder exists and is writable, or use another one");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw UserError(fmt::format("{} is damaged, or is not a store of runs: {}", file.string(), reason),
                      "move it away, or start over: paceline study FILE --force");
    default:
      break;
  }
  throw std::runtime_error(fmt::format("{}: {}", file.string(), reason));
}

}  // namespace

Database::Database(std::filesystem::path file) : file_(std::move(file)) {
  const int status =
      sqlite3_open_v2(file_.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  if (status != SQLITE_OK) {
    sqlite3* failed = handle_;
    const std::filesystem::path path = file_;
    try {
      fail(failed, path, status);
    } catch (...) {
      sqlite3_close(failed);
      throw;
    }
  }
  sqlite3_busy_timeout(handle_, wait_for_lock_ms);
}

Database::~Database() {
  sqlite3_close(handle_);
}

void Database::execute(const std::string& sql) {
  const int status = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(handle_, file_, status);
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  const int status = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr);
  if (status != SQLITE_OK) fail(database.handle(), database.file(), status);
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(int position, const Cell& value) {
  int status = SQLITE_OK;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    status = sqlite3_bind_int64(statement_, position, *whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    status = sqlite3_bind_double(statement_, position, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    status = sqlite3_bind_text(statement_, position, text->data(), static_cast<int>(text->size()),
                               SQLITE_TRANSIENT);
  } else {
    status = sqlite3_bind_null(statement_, position);
  }
  check(status == SQLITE_OK, "a value is bound to a parameter that is there");
  return *this;
}

Statement& Statement::bind_blob(int position, std::string_view bytes) {
  const int status = sqlite3_bind_blob64(statement_, position, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  check(status == SQLITE_OK, "a value is bound to a parameter that is there");
  return *this;
}

bool Statement::next() {
  const int status = sqlite3_step(statement_);
  if (status == SQLITE_ROW) return true;
  sqlite3_reset(statement_);
  if (status != SQLITE_DONE) fail(database_.handle(), database_.file(), status);
  return false;
}

void Statement::run() {
  check(!next(), "a statement without rows has none");
}

Cell Statement::cell(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement_, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_, column);
    case SQLITE_NULL:
      return std::monostate{};
    default:
      return text(column);
  }
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::int64_t Statement::whole(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_);
}

std::string Statement::column_name(int column) const {
  return sqlite3_column_name(statement_, column);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace paceline::sqlite
