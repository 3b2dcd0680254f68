#include "sim/scenario/schema/units.hpp"

#include <doctest/doctest.h>

#include "sim/base/random.hpp"
#include "tests/support/text.hpp"

namespace paceline {
namespace {

using test::contains;

// The value in base units, or the message followed by the hint.
double value(std::string_view text, const UnitTable& table) {
  const Parsed<double> parsed = parse_quantity(text, table);
  REQUIRE_MESSAGE(std::holds_alternative<double>(parsed), std::string(text));
  return std::get<double>(parsed);
}

Mistake mistake(std::string_view text, const UnitTable& table) {
  const Parsed<double> parsed = parse_quantity(text, table);
  REQUIRE_MESSAGE(std::holds_alternative<Mistake>(parsed), std::string(text));
  return std::get<Mistake>(parsed);
}

TEST_CASE("durations are held in seconds") {
  CHECK(value("1 ns", duration_units()) == 1e-9);
  CHECK(value("50 us", duration_units()) == 50e-6);
  CHECK(value("2.5ms", duration_units()) == 2.5e-3);
  CHECK(value("0.5 s", duration_units()) == 0.5);
  CHECK(value(" 2  min ", duration_units()) == 120.0);
  CHECK(value("1e1 h", duration_units()) == 36000.0);
}

TEST_CASE("sizes are held in bytes: decimal prefixes are powers of 1000, binary ones of 1024") {
  CHECK(value("7 B", size_units()) == 7.0);
  CHECK(value("1 kB", size_units()) == 1e3);
  CHECK(value("1 MB", size_units()) == 1e6);
  CHECK(value("1 GB", size_units()) == 1e9);
  CHECK(value("1 KiB", size_units()) == 1024.0);
  CHECK(value("1 MiB", size_units()) == 1048576.0);
  CHECK(value("1 GiB", size_units()) == 1073741824.0);
}

TEST_CASE("rates are held in bytes per second: eight bits make one") {
  CHECK(value("8 bit/s", rate_units()) == 1.0);
  CHECK(value("8 kbit/s", rate_units()) == 1e3);
  CHECK(value("8 Mbit/s", rate_units()) == 1e6);
  CHECK(value("1 Gbit/s", rate_units()) == 125e6);
  CHECK(value("1 Gbps", rate_units()) == 125e6);
  CHECK(value("100 Mbps", rate_units()) == 12.5e6);
  CHECK(value("3 B/s", rate_units()) == 3.0);
  CHECK(value("3 kB/s", rate_units()) == 3e3);
  CHECK(value("3 MB/s", rate_units()) == 3e6);
  CHECK(value("3 GB/s", rate_units()) == 3e9);
}

TEST_CASE("percentages are held as fractions") {
  CHECK(value("25 %", percent_units()) == 0.25);
  CHECK(value("0.1%", percent_units()) == 0.001);
}

TEST_CASE("a missing unit: the message lists those accepted and shows an example") {
  const Mistake said = mistake("10", rate_units());
  CHECK(said.message == "`10` has no unit");
  CHECK(said.hint ==
        "write a rate such as `10 Gbit/s`; accepted units: bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, "
        "GB/s");
}

TEST_CASE("a unit of something else says what it is") {
  CHECK(mistake("50 ms", rate_units()).message == "wrong unit `ms`: that is a duration, a rate is expected");
  CHECK(mistake("10 MB", duration_units()).message ==
        "wrong unit `MB`: that is a size, a duration is expected");
}

TEST_CASE("an unknown unit gets a suggestion, a small b means bits") {
  CHECK(contains(mistake("10 gbit/s", rate_units()).hint, "did you mean `Gbit/s`?"));
  CHECK(contains(mistake("10 MBIT/s", rate_units()).hint, "did you mean `Mbit/s`?"));
  CHECK(contains(mistake("10 gb/s", rate_units()).hint, "did you mean `Gbit/s`?"));
  CHECK(contains(mistake("10 Gb/s", rate_units()).hint, "did you mean `Gbit/s`?"));
  CHECK(contains(mistake("3 furlongs", duration_units()).hint, "accepted units: ns, us, ms, s, min, h"));
}

TEST_CASE("what does not start with a plain finite number is refused") {
  for (const char* text :
       {"", "s", "fast", "inf s", "nan s", "+5 s", "1e999 s", "- 5 s", "1,5 s", "0x10 s", "1 min 30 s"})
    CHECK(std::holds_alternative<Mistake>(parse_quantity(text, duration_units())));
}

TEST_CASE("plain numbers: the whole text, finite, with a point whatever the locale") {
  CHECK(parse_number("0.05") == 0.05);
  CHECK(parse_number("1e-4") == 1e-4);
  CHECK(parse_number("-2") == -2.0);
  for (const char* text : {"", "1,5", "1.5x", "inf", "NaN", "1e400", "--1", "1 "})
    CHECK_FALSE(parse_number(text));
}

TEST_CASE("the shortest text is printed") {
  CHECK(print_quantity(50e-6, duration_units()) == "50 us");
  CHECK(print_quantity(3600, duration_units()) == "1 h");
  CHECK(print_quantity(125e6, rate_units()) == "1 Gbit/s");
  CHECK(print_quantity(value("33.3 %", percent_units()), percent_units()) == "33.3 %");
  CHECK(print_quantity(0.0, size_units()) == "0 B");
}

// print(x) parses to x, bit for bit, for every x that a text can stand for.
TEST_CASE("printing a quantity and parsing it gives the same value, exactly") {
  RandomStream random({1, 0}, Purpose::test);
  for (const UnitTable* table : {&duration_units(), &size_units(), &rate_units(), &percent_units()})
    for (const Unit& unit : table->units)
      for (int i = 0; i < 200; ++i) {
        const std::string written = std::to_string(random.uniform() * 1000.0) + " " + std::string(unit.name);
        const double read = value(written, *table);
        CHECK(value(print_quantity(read, *table), *table) == read);
      }
}

}  // namespace
}  // namespace paceline
