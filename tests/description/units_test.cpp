#include "sim/description/units.hpp"

#include <doctest/doctest.h>

#include "sim/base/random.hpp"
#include "tests/support/text.hpp"

namespace paceline {
namespace {

using test::contains;

// The value in base units, or the message followed by the hint.
Parsed<Amount> parsed(std::string_view text, Dimension dimension) {
  return parse_amount(text, std::span(&dimension, 1));
}

double value(std::string_view text, Dimension dimension) {
  const Parsed<Amount> amount = parsed(text, dimension);
  REQUIRE_MESSAGE(std::holds_alternative<Amount>(amount), std::string(text));
  return std::get<Amount>(amount).value;
}

Mistake mistake(std::string_view text, Dimension dimension) {
  const Parsed<Amount> amount = parsed(text, dimension);
  REQUIRE_MESSAGE(std::holds_alternative<Mistake>(amount), std::string(text));
  return std::get<Mistake>(amount);
}

TEST_CASE("durations are held in seconds") {
  CHECK(value("1 ns", Dimension::time) == 1e-9);
  CHECK(value("50 us", Dimension::time) == 50e-6);
  CHECK(value("2.5ms", Dimension::time) == 2.5e-3);
  CHECK(value("0.5 s", Dimension::time) == 0.5);
  CHECK(value(" 2  min ", Dimension::time) == 120.0);
  CHECK(value("1e1 h", Dimension::time) == 36000.0);
}

TEST_CASE("sizes are held in bytes: decimal prefixes are powers of 1000, binary ones of 1024") {
  CHECK(value("7 B", Dimension::size) == 7.0);
  CHECK(value("1 kB", Dimension::size) == 1e3);
  CHECK(value("1 MB", Dimension::size) == 1e6);
  CHECK(value("1 GB", Dimension::size) == 1e9);
  CHECK(value("1 KiB", Dimension::size) == 1024.0);
  CHECK(value("1 MiB", Dimension::size) == 1048576.0);
  CHECK(value("1 GiB", Dimension::size) == 1073741824.0);
}

TEST_CASE("rates are held in bytes per second: eight bits make one") {
  CHECK(value("8 bit/s", Dimension::rate) == 1.0);
  CHECK(value("8 kbit/s", Dimension::rate) == 1e3);
  CHECK(value("8 Mbit/s", Dimension::rate) == 1e6);
  CHECK(value("1 Gbit/s", Dimension::rate) == 125e6);
  CHECK(value("1 Gbps", Dimension::rate) == 125e6);
  CHECK(value("100 Mbps", Dimension::rate) == 12.5e6);
  CHECK(value("3 B/s", Dimension::rate) == 3.0);
  CHECK(value("3 kB/s", Dimension::rate) == 3e3);
  CHECK(value("3 MB/s", Dimension::rate) == 3e6);
  CHECK(value("3 GB/s", Dimension::rate) == 3e9);
}

TEST_CASE("percentages are held as fractions") {
  CHECK(value("25 %", Dimension::percent) == 0.25);
  CHECK(value("0.1%", Dimension::percent) == 0.001);
}

TEST_CASE("a missing unit: the message lists those accepted and shows an example") {
  const Mistake said = mistake("10", Dimension::rate);
  CHECK(said.message == "`10` has no unit");
  CHECK(said.hint ==
        "write a rate such as `10 Gbit/s`; accepted units: bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, "
        "GB/s");
}

TEST_CASE("a unit of something else says what it is") {
  CHECK(mistake("50 ms", Dimension::rate).message ==
        "wrong unit `ms`: that is a duration, a rate is expected");
  CHECK(mistake("10 MB", Dimension::time).message ==
        "wrong unit `MB`: that is a size, a duration is expected");
}

TEST_CASE("an unknown unit gets a suggestion, a small b means bits") {
  CHECK(contains(mistake("10 gbit/s", Dimension::rate).hint, "did you mean `Gbit/s`?"));
  CHECK(contains(mistake("10 MBIT/s", Dimension::rate).hint, "did you mean `Mbit/s`?"));
  CHECK(contains(mistake("10 gb/s", Dimension::rate).hint, "did you mean `Gbit/s`?"));
  CHECK(contains(mistake("10 Gb/s", Dimension::rate).hint, "did you mean `Gbit/s`?"));
  CHECK(contains(mistake("3 furlongs", Dimension::time).hint, "accepted units: ns, us, ms, s, min, h"));
}

TEST_CASE("what does not start with a plain finite number is refused") {
  for (const char* text :
       {"", "s", "fast", "inf s", "nan s", "+5 s", "1e999 s", "- 5 s", "1,5 s", "0x10 s", "1 min 30 s"})
    CHECK(std::holds_alternative<Mistake>(parsed(text, Dimension::time)));
}

TEST_CASE("plain numbers: the whole text, finite, with a point whatever the locale") {
  CHECK(parse_number("0.05") == 0.05);
  CHECK(parse_number("1e-4") == 1e-4);
  CHECK(parse_number("-2") == -2.0);
  for (const char* text : {"", "1,5", "1.5x", "inf", "NaN", "1e400", "--1", "1 "})
    CHECK_FALSE(parse_number(text));
}

TEST_CASE("the shortest text is printed") {
  CHECK(print_amount({Dimension::time, 50e-6}) == "50 us");
  CHECK(print_amount({Dimension::time, 3600}) == "1 h");
  CHECK(print_amount({Dimension::rate, 125e6}) == "1 Gbit/s");
  CHECK(print_amount({Dimension::percent, value("33.3 %", Dimension::percent)}) == "33.3 %");
  CHECK(print_amount({Dimension::size, 0.0}) == "0 B");
}

// print(x) parses to x, bit for bit, for every x that a text can stand for.
TEST_CASE("printing a quantity and parsing it gives the same value, exactly") {
  RandomStream random({1, 0}, Purpose::test);
  for (const Dimension dimension : {Dimension::time, Dimension::size, Dimension::rate, Dimension::percent})
    for (const Unit& unit : units_of(dimension).units)
      for (int i = 0; i < 200; ++i) {
        const std::string written = std::to_string(random.uniform() * 1000.0) + " " + std::string(unit.name);
        const double read = value(written, dimension);
        CHECK(value(print_amount({dimension, read}), dimension) == read);
      }
}

}  // namespace
}  // namespace paceline
