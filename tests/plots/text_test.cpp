#include "plots/page/text.hpp"

#include <doctest/doctest.h>

#include "plots/page/figure.hpp"

namespace paceline::plots {
namespace {

TEST_CASE("a digit behind an escaped character is not taken for a part of the escape") {
  // gnuplot would read \\0431 as one character: "trial #1" must not become "trial" and nothing.
  CHECK(gnuplot_string("trial #1") == "\"trial \\043\\061\"");
  CHECK(gnuplot_string("100 %25x 2") == "\"100 \\045\\062\\065x 2\"");
}

TEST_CASE("everything gnuplot or a shell could act on is escaped") {
  const std::string quoted = gnuplot_string("a\"b\\c`d`$(e)@f{g}%h#i'j");
  CHECK(quoted.front() == '"');
  CHECK(quoted.back() == '"');
  const std::string inside = quoted.substr(1, quoted.size() - 2);
  CHECK(inside.find_first_of("\"`$@{}%#'") == std::string::npos);
  // Octal: " is 042, \ is 134, ` is 140.
  CHECK(inside.starts_with("a\\042b\\134c\\140d\\140\\044(e)"));
}

TEST_CASE("control characters become visible and cannot end a line of the script") {
  CHECK(printable("a\nb\tc\x7f") == "a\\nb\\x09c\\x7F");
  CHECK(gnuplot_string("a\nb") == "\"a\\134nb\"");
}

TEST_CASE("UTF-8 stays, broken UTF-8 becomes U+FFFD") {
  CHECK(printable("BSP → ASP, größer") == "BSP → ASP, größer");
  CHECK(printable("a\xFF"
                  "b\xC3") == "a\uFFFDb\uFFFD");
  // Overlong encoding of '/', a surrogate: each byte is one replacement.
  CHECK(printable("\xC0\xAF") == "\uFFFD\uFFFD");
  CHECK(printable("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("absolute paths of a command lose their folders, quoted ones too") {
  CHECK(without_absolute_paths("paceline plot /home/me/results/a/ b/c --recorded '/x y/z.csv'") ==
        "paceline plot a b/c --recorded 'z.csv'");
  CHECK(without_absolute_paths("--set f=/secret/file.json") == "--set f=file.json");
}

TEST_CASE("width of a line is the sum of the advances") {
  // "ill" in Helvetica: 3 · 222/1000 em; at 72 pt one em is one inch.
  CHECK(text_width_in("ill", 72.0) == doctest::Approx(0.666));
  CHECK(text_width_in("", 8.0) == 0.0);
}

TEST_CASE("a line breaks at the last space that fits") {
  // "aaaa" is 4 · 0.556 in wide at 72 pt, with a space 2.502 in: two words never share 3 in.
  CHECK(wrapped("aaaa bbbb cc", 72.0, 3.0, 5) == std::vector<std::string>{"aaaa", "bbbb", "cc"});
  CHECK(wrapped("aaaa bbbb", 72.0, 9.0, 5) == std::vector<std::string>{"aaaa bbbb"});
}

TEST_CASE("a long word breaks after its punctuation, else where it must, and nothing is lost") {
  CHECK(wrapped("aaa_aaaaa", 72.0, 3.0, 5) == std::vector<std::string>{"aaa_", "aaaaa"});
  const auto lines = wrapped(std::string(40, 'w'), 8.0, 1.0, 9);
  std::string together;
  for (const std::string& line : lines) {
    CHECK(text_width_in(line, 8.0) <= 1.0);
    together += line;
  }
  CHECK(together == std::string(40, 'w'));
}

TEST_CASE("what exceeds the last line allowed ends in an ellipsis") {
  const auto lines = wrapped(std::string(400, 'x'), 8.0, 1.0, 2);
  REQUIRE(lines.size() == 2);
  CHECK(lines.back().ends_with("…"));
  CHECK(text_width_in(lines.back(), 8.0) <= 1.0);
}

TEST_CASE("the unit of an axis is the largest in which its end is at least 5") {
  CHECK(std::string(time_unit_for(299.0).symbol) == "s");
  CHECK(std::string(time_unit_for(300.0).symbol) == "min");
  CHECK(std::string(time_unit_for(5 * 3600.0).symbol) == "h");
  CHECK(std::string(time_unit_for(5 * 86400.0).symbol) == "d");
  CHECK(time_text(5400.0, {"h", 3600.0}) == "1.50 h");
  CHECK(time_text(1234.0, {"s", 1.0}) == "1234 s");
}

}  // namespace
}  // namespace paceline::plots
