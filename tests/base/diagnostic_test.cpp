#include "sim/base/diagnostic.hpp"

#include <doctest/doctest.h>

namespace paceline {
namespace {

const std::vector<std::string> keys{"bandwidth", "latency", "topology"};

TEST_CASE("a diagnostic shows its place, its line, a caret under the column, and its hint") {
  Diagnostic diagnostic;
  diagnostic.place = {"scenario.yaml", 12, 13};
  diagnostic.message = "unknown key `bandwith`";
  diagnostic.hint = "did you mean `bandwidth`?";
  CHECK(render(diagnostic, "  network: {bandwith: 10 Gbit/s}") ==
        "scenario.yaml:12:13: error: unknown key `bandwith`\n"
        "  12 |   network: {bandwith: 10 Gbit/s}\n"
        "     |             ^\n"
        "hint: did you mean `bandwidth`?\n");
}

TEST_CASE("a warning says so, a place without a line shows neither line nor caret, no hint, no hint line") {
  CHECK(render({Severity::warning, {"--set a=1", 0, 0}, "unused", ""}, "") == "--set a=1: warning: unused\n");
}

// The column counts characters: `é` takes two bytes and one column.
TEST_CASE("the caret stands under the character, not the byte, and tabs stay tabs") {
  CHECK(render({Severity::error, {"f", 1, 4}, "m", ""}, "éé\tx") ==
        "f:1:4: error: m\n  1 | éé\tx\n    |   \t^\n");
  CHECK(render({Severity::error, {"f", 1, 5}, "m", ""}, "ab") == "f:1:5: error: m\n  1 | ab\n    |     ^\n");
}

// A file is data: an escape sequence in it must not reach the terminal.
TEST_CASE("control characters of the source, message and hint are shown as question marks") {
  const std::string text = render({Severity::error, {"f", 1, 1}, "a\x1b[31m", "b\nc"}, "x\x1b]0;evil\a");
  CHECK(text == "f:1:1: error: a?[31m\n  1 | x?]0;evil?\n    | ^\nhint: b?c\n");
}

TEST_CASE("a user error without a place still reads error and hint") {
  CHECK(std::string(UserError("bad", "do good").what()) == "error: bad\nhint: do good\n");
  CHECK(std::string(UserError("bad", "").what()) == "error: bad\n");
}

TEST_CASE("a word within a few edits is suggested: insertion, deletion, replacement, swap") {
  CHECK(closest("bandwith", keys) == "bandwidth");
  CHECK(closest("bandwidthh", keys) == "bandwidth");
  CHECK(closest("latenzy", keys) == "latency");
  CHECK(closest("tpoology", keys) == "topology");
}

TEST_CASE("a word that resembles nothing gets no suggestion") {
  CHECK_FALSE(closest("colour", keys).has_value());
  CHECK_FALSE(closest("", keys).has_value());
  CHECK_FALSE(closest("bandwidth", {}).has_value());
}

// Two letters of which both must change are not a typing mistake, whatever the absolute distance.
TEST_CASE("a short word is not turned into one it shares no letter with") {
  const std::vector<std::string> words{"us", "ms"};
  CHECK_FALSE(closest("xy", words).has_value());
  CHECK(closest("uss", words) == "us");
}

}  // namespace
}  // namespace paceline
