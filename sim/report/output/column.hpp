// Tables of results: each column with its name, unit and meaning, and with how its value is taken from a
// record.
//
// CSV files, the columns of the store, the records that a run sends to the process that started it, and
// docs/results.md are all made from these tables.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/csv.hpp"
#include "sim/base/json.hpp"

namespace paceline {

// Nothing, a number or a text.
using Cell = nlohmann::json;

struct ColumnText {
  std::string name;
  std::string unit;  // "s", "samples", ...; "-" for counts from 0, names and pure numbers
  std::string meaning;
};

// What a column may need beside its record.
struct NoContext {};

// How SQLite calls the values of a column; enumerations are kept by name.
template <class Value>
[[nodiscard]] constexpr const char* type_of() {
  if constexpr (requires { typename Value::value_type; } && !std::convertible_to<Value, std::string>)
    return type_of<typename Value::value_type>();  // of an optional value
  else if constexpr (std::is_integral_v<Value>)
    return "INTEGER";
  else if constexpr (std::is_enum_v<Value> || std::convertible_to<Value, std::string>)
    return "TEXT";
  else
    return "REAL";
}

template <class Record, class Context = NoContext>
struct Column : ColumnText {
  const char* type = "";
  std::function<Cell(const Record&, const Context&)> value;
  // Of members only, which are kept with the record; the other columns follow from them.
  std::function<Cell(const Record&)> get = {};
  std::function<void(Record&, const Cell&)> set = {};

  template <class Base, class Member>
  requires std::derived_from<Record, Base> && std::is_member_object_pointer_v<Member Base::*> Column(
      std::string a_name, std::string a_unit, std::string a_meaning, Member Base::*member)
      : ColumnText{std::move(a_name), std::move(a_unit), std::move(a_meaning)},
        type(type_of<Member>()),
        value([member](const Record& record, const Context&) { return Cell(record.*member); }),
        get([member](const Record& record) { return Cell(record.*member); }),
        set([member](Record& record, const Cell& cell) { cell.get_to(record.*member); }) {}

  template <class Function>
  requires std::invocable<Function, const Record&> Column(std::string a_name, std::string a_unit,
                                                          std::string a_meaning, Function of_record)
      : ColumnText{std::move(a_name), std::move(a_unit), std::move(a_meaning)},
        type(type_of<std::invoke_result_t<Function, const Record&>>()),
        value([of_record](const Record& record, const Context&) { return Cell(of_record(record)); }) {}

  template <class Function>
  requires std::invocable<Function, const Record&, const Context&> Column(std::string a_name,
                                                                          std::string a_unit,
                                                                          std::string a_meaning,
                                                                          Function of_both)
      : ColumnText{std::move(a_name), std::move(a_unit), std::move(a_meaning)},
        value([of_both](const Record& record, const Context& context) {
          return Cell(of_both(record, context));
        }) {}
};

template <class Record, class Context = NoContext>
using Columns = std::vector<Column<Record, Context>>;

// Numbers that are not finite leave their cell empty.
void add_cell(CsvTable& csv, const Cell& cell);

template <class Record, class Context>
void add_cells(CsvTable& csv, const Columns<Record, Context>& columns, const Record& record,
               const Context& context = {}) {
  for (const Column<Record, Context>& column : columns) add_cell(csv, column.value(record, context));
}

template <class Record, class Context>
[[nodiscard]] std::vector<std::string> names_of(const Columns<Record, Context>& columns) {
  std::vector<std::string> names;
  for (const ColumnText& column : columns) names.push_back(column.name);
  return names;
}

// Records as an object with an array for each kept column, and back.
template <class Record, class Context>
[[nodiscard]] Cell to_arrays(const Columns<Record, Context>& columns, const std::vector<Record>& records) {
  Cell arrays = Cell::object();
  for (const Column<Record, Context>& column : columns) {
    if (!column.get) continue;
    Cell& array = arrays[column.name] = Cell::array();
    for (const Record& record : records) array.push_back(column.get(record));
  }
  return arrays;
}

template <class Record, class Context>
void from_arrays(const Cell& arrays, const Columns<Record, Context>& columns, std::vector<Record>& records) {
  for (const Column<Record, Context>& column : columns) {
    if (!column.set) continue;
    const Cell& array = arrays.at(column.name);
    records.resize(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) column.set(records[i], array[i]);
  }
}

}  // namespace paceline
