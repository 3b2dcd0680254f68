// SQLite with destructors: a database, prepared statements, transactions. Private to sim/study.
//
// Every failure is an exception with SQLite's own words. A full disk or a folder that cannot be written is a user's
// mistake; a statement that does not fit the tables is ours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace paceline::sqlite {

// Nothing, a whole number, a number, or a text.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

class Database;

class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // Positions count from 1, as in SQL.
  Statement& bind(int position, const Cell& value);
  Statement& bind_blob(int position, std::string_view bytes);
  // To the next row; false after the last.
  [[nodiscard]] bool next();
  // Runs a statement without rows, and makes it ready for other values.
  void run();

  // Columns count from 0.
  [[nodiscard]] Cell cell(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t whole(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string column_name(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  // Creates the file when it is not there. At most one process may write: another one is told so.
  explicit Database(std::filesystem::path file);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  void execute(const std::string& sql);
  [[nodiscard]] sqlite3* handle() const { return handle_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  sqlite3* handle_ = nullptr;
};

// Everything until `commit` happens or nothing of it.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

// A name as SQL writes it, whatever it holds.
[[nodiscard]] std::string quoted_name(std::string_view name);
[[nodiscard]] std::string quoted_text(std::string_view text);

}  // namespace paceline::sqlite
