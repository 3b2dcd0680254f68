// Mistakes in the file as a YAML text: each with its exact place.
#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

bool starts_with(const std::string& text, std::string_view start) {
  CAPTURE(text);
  CHECK(text.starts_with(start));
  return text.starts_with(start);
}

TEST_CASE("an absent file is named") {
  const Folder folder;
  const std::string file = (folder.path() / "no.yaml").string();
  CHECK_THROWS_WITH_AS((void)load_scenario(file, {}),
                       ("error: cannot read " + file + ": No such file or directory\n").c_str(), UserError);
}

TEST_CASE("an empty file, one of comments only, and one with a bare document mark are empty") {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "~\n"})
    starts_with(complaint(text), "scenario.yaml:1:1: error: the file is empty\n");
}

TEST_CASE("a file that is a list or a single value is of the wrong kind") {
  starts_with(complaint("- a\n- b\n"),
              "scenario.yaml:1:1: error: the file must be a section with keys of its own, found a list\n");
  starts_with(
      complaint("hello\n"),
      "scenario.yaml:1:1: error: the file must be a section with keys of its own, found a single value\n");
}

TEST_CASE("a syntax error has its place") {
  starts_with(complaint("name: a\n  job: b\n"),
              "scenario.yaml:2:6: error: not valid YAML: illegal map value\n");
  starts_with(complaint("name: [a, b\n"),
              "scenario.yaml:1:7: error: not valid YAML: end of sequence flow not found\n");
  starts_with(complaint("name: a: b\n"), "scenario.yaml:1:8: error: not valid YAML: illegal map value\n");
}

// yaml-cpp takes the end of the file for the closing quote and would go on with what it has.
TEST_CASE("a quote that is never closed is reported where it opens") {
  for (const char* value : {"\"a", "'a", "\"a\\\"", "'it''s", "\"a\n  b\n"}) {
    CAPTURE(value);
    const std::string said = complaint(std::string(good_example) + "question: " + value + "\n");
    CHECK(said.find("scenario.yaml:31:11: error: not valid YAML: ") != said.npos);
  }
  for (const char* value : {"\"a\\\"\"", "'it''s'", "\"a\n  b\"", "|\n  \"a", ">\n  'a"})
    CHECK(complaint(replaced(good_example, "Which policy reaches 80 % first?", value)).empty());
}

TEST_CASE("a tab as indentation is explained") {
  const std::string said = complaint("job:\n\t- x\n");
  starts_with(said, "scenario.yaml:2:2: error: not valid YAML");
  CHECK(said.find("hint: indent with spaces") != said.npos);
}

TEST_CASE("a second document is refused where it starts") {
  const std::string text = std::string(good_example) + "---\nname: other\n";
  starts_with(complaint(text), "scenario.yaml:31:1: error: a second YAML document starts here\n");
}

TEST_CASE("a duplicate key is refused, and the first one is named") {
  const std::string said = complaint(replaced(good_example, "seed: 1\n", "seed: 1\nseed: 2\n"));
  starts_with(said,
              "scenario.yaml:5:1: error: duplicate key `seed`\n"
              "  5 | seed: 2\n"
              "    | ^\n"
              "hint: it is already given at scenario.yaml:4:1\n"
              "1 error in scenario.yaml\n");
}

TEST_CASE("a duplicate key is found at any depth, also in braces and as the same word in quotes") {
  starts_with(complaint(replaced(good_example, "{every:", "{\"every\": 1 samples, every:")),
              "scenario.yaml:29:34: error: duplicate key `every`\n");
}

TEST_CASE("anchors, aliases, merge keys and tags are refused with their place") {
  starts_with(complaint(replaced(good_example, "initial: 32", "initial: &n 32")),
              "scenario.yaml:20:12: error: anchors (`&name`) are not supported\n");
  const std::string aliased =
      replaced(replaced(good_example, "minimum: 8", "minimum: &n 8"), "maximum: 256", "maximum: *n");
  CHECK(complaint(aliased).find("scenario.yaml:22:12: error: aliases (`*name`) are not supported\n") !=
        std::string::npos);
  starts_with(complaint(replaced(good_example, "{cores: 2}", "{<<: {cores: 2}}")),
              "scenario.yaml:13:13: error: missing key");
  CHECK(complaint(replaced(good_example, "{cores: 2}", "{<<: {cores: 2}}"))
            .find("scenario.yaml:13:14: error: merge keys (`<<`) are not supported\n") != std::string::npos);
  starts_with(complaint(replaced(good_example, "seed: 1", "seed: !!int 1")),
              "scenario.yaml:4:7: error: YAML tags (`!type`) are not supported\n");
}

TEST_CASE("a key must be a word") {
  starts_with(complaint("? [a, b]\n: c\n" + std::string(good_example)),
              "scenario.yaml:1:3: error: a key must be a word\n");
  starts_with(complaint(": c\n" + std::string(good_example)),
              "scenario.yaml:1:1: error: a key must be a word\n");
}

TEST_CASE("a file that is not UTF-8 text is refused where it stops being one") {
  starts_with(complaint("name: caf\xE9\n"), "scenario.yaml:1:10: error: not a UTF-8 text\n");
  starts_with(complaint(std::string("name: a\nq: \0\n", 13)), "scenario.yaml:2:4: error: not a UTF-8 text\n");
  starts_with(complaint("name: \x1b[31m\n"), "scenario.yaml:1:7: error: not a UTF-8 text\n");
  starts_with(complaint("a: é\xC0\xAF\n"), "scenario.yaml:1:5: error: not a UTF-8 text\n");
}

// Columns count characters: `é` is two bytes and one column.
TEST_CASE("a place after text outside ASCII counts characters") {
  starts_with(complaint(replaced(good_example, "{kind: network}", "{\"é\": 1, kind: networ}")),
              "scenario.yaml:28:11: error: unknown key `é` in `learner`\n");
  CHECK(complaint(replaced(good_example, "{kind: network}", "{\"é\": 1, kind: networ}"))
            .find("scenario.yaml:28:25: error: `learner.kind`: unknown value `networ`") != std::string::npos);
}

TEST_CASE("files with Windows line ends and a byte order mark are read alike") {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : good_example) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(complaint(text).empty());
  starts_with(complaint(replaced(text, "seed: 1\r", "seed: x\r")),
              "scenario.yaml:4:7: error: `seed`: expected a whole number from 0 to 4294967295, in plain "
              "digits; found "
              "`x`\n  4 | seed: x\n    |       ^\n");
}

TEST_CASE("nesting beyond what anyone writes is an error, not a crash") {
  const std::string said = complaint("name: " + std::string(100'000, '['));
  CHECK(said.find("error: not valid YAML") != said.npos);
}

}  // namespace
}  // namespace paceline::test
