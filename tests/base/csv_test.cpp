// CSV files: cells by column names, and what is refused with its line.
#include "sim/base/csv.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

CsvFile read(const std::string& text, const std::vector<std::string>& needed = {}, CsvRules rules = {}) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "some.csv", text);
  return CsvFile(folder.path() / "some.csv", needed, std::move(rules));
}

template <class Reading>
std::string complaint_about_csv(const Reading& reading) {
  try {
    reading();
    return "nothing";
  } catch (const UserError& error) {
    const std::string text = error.what();
    return text.substr(std::min(text.find("some.csv"), text.size()));
  }
}

}  // namespace

TEST_CASE("cells are found by the names of their columns and keep their type") {
  const CsvFile file = read("step,name,value\n7,first,0.5\n\n8,second,\n");
  REQUIRE(file.rows().size() == 2);
  CHECK(file.has("name"));
  CHECK_FALSE(file.has("Name"));
  const CsvRow& first = file.rows()[0];
  CHECK(first.count("step") == 7);
  CHECK(first.text("name") == "first");
  CHECK(first.number("value") == 0.5);
  CHECK(file.rows()[1].line() == 4);  // the empty line counts
  CHECK_FALSE(file.rows()[1].number_if_given("value"));
}

TEST_CASE("quotes hold commas, quotes and line breaks, as RFC 4180 has them") {
  const CsvFile file = read("a,b\r\n\"one, two\",\"say \"\"no\"\"\"\r\n\"three\nfour\",5\r\n6,7");
  CHECK(file.rows()[0].text("a") == "one, two");
  CHECK(file.rows()[0].text("b") == "say \"no\"");
  CHECK(file.rows()[1].text("a") == "three\nfour");
  CHECK(file.rows()[2].line() == 5);
  CHECK(file.rows()[2].number("b") == 7.0);
}

TEST_CASE("a file as spreadsheets write it is the same: a byte order mark, lines that end in CR LF") {
  const CsvFile file = read(
      "\xEF\xBB\xBF"
      "a,b\r\n1,x\r\n",
      {"a"});
  CHECK(file.rows().size() == 1);
  CHECK(file.rows()[0].number("a") == 1.0);
  CHECK(file.rows()[0].text("b") == "x");
}

TEST_CASE("what is wrong with a file is told with its line") {
  CHECK(complaint_about_csv([] { read(""); }).starts_with("some.csv:1: the file is empty"));
  CHECK(complaint_about_csv([] {
          read("a,b\n", {"c"});
        }).starts_with("some.csv:1: there is no column `c`\nhint: the columns are a, b"));
  CHECK(complaint_about_csv([] {
          read("a,a\n", {"a"});
        }).starts_with("some.csv:1: the column `a` is there more than once"));
  CHECK(complaint_about_csv([] { read("a,b\n1,2\n3\n"); }).starts_with("some.csv:3: 1 cells, but 2 columns"));
  CHECK(complaint_about_csv([] { read("a\n\"1\n"); }).starts_with("some.csv:2: a quoted cell does not end"));
  const CsvFile file = read("a\nx\nnan\n-1\n1e3\n");
  const auto number_at = [&](std::size_t row) {
    return [&, row] { static_cast<void>(file.rows()[row].number("a")); };
  };
  CHECK(complaint_about_csv(number_at(0))
            .starts_with("some.csv:2:1: `x` in column `a` is not a finite number"));
  CHECK(complaint_about_csv(number_at(1))
            .starts_with("some.csv:3:1: `nan` in column `a` is not a finite number"));
  CHECK(file.rows()[2].number("a") == -1.0);
  CHECK(complaint_about_csv([&] {
          static_cast<void>(file.rows()[2].count("a"));
        }).starts_with("some.csv:4:1: `-1` in column `a` is not a whole number"));
  CHECK(complaint_about_csv([&] { file.rows()[3].fail("too large", "at most 9"); }) ==
        "some.csv:5: too large\nhint: at most 9\n");
}

// The column is that of the cell's first byte, counted from 1, in its own line.
TEST_CASE("a complaint about a cell names where it begins, whatever stands before it") {
  const auto place = [](const std::string& text, CsvRules rules = {}) {
    const CsvFile file = read(text, {}, std::move(rules));
    const std::string told = complaint_about_csv([&] { static_cast<void>(file.rows().back().number("b")); });
    return told.substr(0, told.find(": "));
  };
  CHECK(place("a,b\n1,2\n345,x\n") == "some.csv:3:5");
  CHECK(place("\xEF\xBB\xBF"
              "a,b\r\n1,2\r\n345,x\r\n") == "some.csv:3:5");
  CHECK(place("a,b\n\"1,\"\"2\",\"x\"\n") == "some.csv:2:9");
  CHECK(place("a,b\n\"one\ntwo\",x\n") == "some.csv:3:6");
  CHECK(place("a , b\n1,  x # slow\n", {.is_hand_written = true}) == "some.csv:2:5");
  CHECK(place("a,b\n1,\n") == "some.csv:2:3");
}

TEST_CASE("numbers above 0 and shares are asked for as such, with or without a value") {
  const CsvFile file = read("a,b\n0,\n-1,\n1.5,\n");
  const auto at = [&](std::size_t row) -> const CsvRow& { return file.rows()[row]; };
  CHECK(at(2).positive("a") == 1.5);
  CHECK(at(2).positive_if_given("a") == 1.5);
  CHECK_FALSE(at(2).positive_if_given("b"));
  CHECK(at(0).share("a") == 0.0);
  for (const std::size_t row : {0U, 1U}) {
    CHECK_THROWS_WITH(static_cast<void>(at(row).positive("a")),
                      doctest::Contains(":1: `a` must be above 0, is"));
    CHECK_THROWS_WITH(static_cast<void>(at(row).positive_if_given("a")),
                      doctest::Contains(":1: `a` must be above 0, is"));
  }
  for (const std::size_t row : {1U, 2U})
    CHECK_THROWS_WITH(static_cast<void>(at(row).share("a")),
                      doctest::Contains(":1: `a` must be from 0 to 1, is"));
}

TEST_CASE("a hint given with the file ends every complaint") {
  const CsvFile file = read("a\nx\n", {}, {.hint = "make it again"});
  CHECK(complaint_about_csv([&] {
          static_cast<void>(file.rows()[0].number("a"));
        }).ends_with("\nhint: make it again\n"));
  CHECK(complaint_about_csv([&] {
          static_cast<void>(file.rows()[0].text("b"));
        }).ends_with("\nhint: the columns are a; make it again\n"));
}

TEST_CASE("in files written by hand comments and blanks do not count") {
  const CsvFile file =
      read("# recorded\n time , speed\n\n1, 0.5  # slow\n   \n2,\n", {"time"}, {.is_hand_written = true});
  REQUIRE(file.rows().size() == 2);
  CHECK(file.rows()[0].number("speed") == 0.5);
  CHECK(file.rows()[1].line() == 6);
  CHECK(file.rows()[1].text("speed").empty());
}

TEST_CASE("ragged rows are kept where they are asked for, and their missing cells are refused") {
  const CsvFile file = read("a,b\n1\n1,2\n", {}, {.keeps_ragged_rows = true});
  CHECK_FALSE(file.rows()[0].is_whole());
  CHECK(file.rows()[0].number("a") == 1.0);
  CHECK(complaint_about_csv([&] {
          static_cast<void>(file.rows()[0].text("b"));
        }).starts_with("some.csv:2: 1 cells, but 2 columns"));
  CHECK(file.rows()[1].is_whole());
}

TEST_CASE("CSV keeps numbers exact, quotes text that needs it, and leaves absent values empty") {
  CsvTable table({"a", "b", "c"});
  table.add(0.1 + 0.2).add("x, \"y\"").add(std::optional<double>()).end_row();
  table.add(1).add("plain").add(std::optional(std::numeric_limits<double>::quiet_NaN())).end_row();
  CHECK(table.text() == "a,b,c\n0.30000000000000004,\"x, \"\"y\"\"\",\n1,plain,\n");
}
