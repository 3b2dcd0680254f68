// Pieces of SQL that the files of the store share. Private to sim/study/store.
#pragma once

#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "sim/base/diagnostic.hpp"
#include "sim/report/output/record_columns.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

// A name as SQL writes it, whatever it holds.
[[nodiscard]] std::string quoted_name(std::string_view name);
// The names of what is kept of every run, separated by commas; each after `table`, such as "runs.".
[[nodiscard]] std::string number_names(std::string_view table = "");
// A statement with its values bound in order.
[[nodiscard]] SQLite::Statement prepared(SQLite::Database& database, const std::string& sql,
                                         const Cell& values = Cell::array());
void execute(SQLite::Statement& statement, const Cell& values);

[[noreturn]] void explain(const std::filesystem::path& file, const SQLite::Exception& error);

template <class Work>
auto RunStore::use(const Work& work) {
  try {
    return work(*database_);
  } catch (const SQLite::Exception& error) {
    explain(file_, error);
  }
}

}  // namespace paceline
