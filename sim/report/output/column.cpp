#include "sim/report/output/column.hpp"

namespace paceline {

void add_cell(CsvTable& csv, const Cell& cell) {
  if (cell.is_number_float()) {
    csv.add(std::optional(cell.get<double>()));
  } else if (cell.is_number_unsigned()) {
    csv.add(cell.get<std::uint64_t>());
  } else if (cell.is_number_integer()) {
    csv.add(cell.get<std::int64_t>());
  } else {
    csv.add(cell.is_null() ? std::string_view() : std::string_view(cell.get_ref<const std::string&>()));
  }
}

}  // namespace paceline
