// A described struct: read, listed, as a schema and as a reference, all from one description.
#include "sim/description/description.hpp"

#include <doctest/doctest.h>

#include "sim/description/outputs.hpp"
#include "sim/description/reading.hpp"
#include "tests/support/text.hpp"

namespace paceline::test {

enum class Colour { red, blue };

struct Item {
  std::int64_t weight = 1;
};

// `depth` belongs to two colours, with another meaning under each.
struct Thing {
  Colour colour = Colour::red;
  std::int64_t red_depth = 0;
  std::int64_t blue_depth = 0;
  std::optional<Seconds> pause;
  std::vector<Item> items;
};

void describe(Visitor& v, Item& c) {
  v.required("weight", c.weight, Whole{1, 10}, "in kg");
}

void describe(Visitor& v, Thing& c) {
  v.required("colour", c.colour, Choice{{"red", Colour::red}, {"blue", Colour::blue}}, "of the thing");
  v.only_if({"colour", {"red"}, c.colour == Colour::red});
  v.required("depth", c.red_depth, Whole{1}, "red | deep");
  v.only_if({"colour", {"blue"}, c.colour == Colour::blue});
  v.required("depth", c.blue_depth, Whole{1}, "blue and deep");
  v.always();
  v.optional("pause", c.pause, duration(at_least(0)), "between two things", Absent{"none"});
  v.optional("items", c.items, ListOf{Section{}, "item"}, "what is in it");
}

namespace {

struct Outcome {
  Thing thing;
  std::vector<ResolvedValue> values;
  std::string problems;
};

Outcome read(std::string_view text) {
  Outcome outcome;
  Problems problems;
  const auto root = parse_yaml(text, file_source("thing.yaml", text), problems);
  REQUIRE(root.has_value());
  Reading reading(problems);
  read_document(*root, outcome.thing, reading);
  outcome.values = resolved_values(outcome.thing, reading);
  for (const Problem& problem : problems.sorted()) outcome.problems += problem.render();
  return outcome;
}

TEST_CASE("a key described under two conditions goes to the member of the one that holds") {
  const Outcome blue = read("{colour: blue, depth: 3}");
  CHECK(blue.problems.empty());
  CHECK(blue.thing.blue_depth == 3);
  CHECK(blue.thing.red_depth == 0);
  CHECK(read("{colour: red, depth: 3}").thing.red_depth == 3);
}

TEST_CASE("a key that its condition requires is missed") {
  CHECK(contains(read("{colour: red}").problems, "error: missing key `depth`"));
  CHECK(contains(read("{colour: red}").problems, "`depth`: red | deep; expected a whole number, at least 1"));
}

TEST_CASE("values are listed once each, with what an absent one means") {
  const Outcome outcome = read("{colour: blue, depth: 3, items: [{weight: 2}]}");
  std::string listed;
  for (const ResolvedValue& value : outcome.values)
    listed += value.key + "=" + value.value + (value.is_absent ? " (absent)" : "") + "\n";
  CHECK(listed == "colour=blue\ndepth=3\npause=none (absent)\nitems.0.weight=2\n");
}

TEST_CASE("the schema has one property for a shared key, required under each condition") {
  const std::string schema = json_schema_of<Thing>("thing", "a test");
  CHECK(contains(schema, "red | deep (only for `colour: red`); blue and deep (only for `colour: blue`)"));
  const std::string required = "\"depth\"\n";
  CHECK(contains(schema, required));
}

TEST_CASE("the reference has a table for each section, with every row in one line") {
  const std::string text = reference_of<Thing>({"Things", "What they are.", "colour: red\n", "a command"});
  CHECK(contains(text, "# Things\n"));
  CHECK(contains(text, "Written by `a command`"));
  CHECK(contains(text, "| `colour` | one of red, blue | **required** | of the thing |\n"));
  CHECK(contains(text, "| red \\| deep; only for `colour: red` |\n"));
  CHECK(
      contains(text, "| `pause` | a duration at least 0 s, such as `50 us` | none | between two things |\n"));
  CHECK(contains(text, "## `items[]`\n"));
}

}  // namespace
}  // namespace paceline::test
