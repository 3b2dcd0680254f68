#include "sim/report/output/validity_table.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace paceline;

TEST_CASE("a validity table counts runs over all that was added to it") {
  // Three runs inside the range 1 to 4, two more that use 6: 2 of 5 are not inside.
  ValidityTable table;
  table.add({{.quantity = "workers", .file = "a.json", .fitted = {1.0, 4.0}, .used = {2.0, 4.0}}}, 3);
  table.add({{.quantity = "workers", .file = "a.json", .fitted = {1.0, 4.0}, .used = {6.0, 6.0}}}, 2);
  REQUIRE(table.rows().size() == 2);
  CHECK(table.rows()[1].back() == "2 of 5");
  CHECK(table.json().at(0).at("runs") == 5);
  CHECK(table.json().at(0).at("runs_not_inside") == 2);
}
