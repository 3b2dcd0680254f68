// Which words of a message are coloured.
#include "sim/base/message_colour.hpp"

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("the word that says what kind of line it is gets a colour, wherever a place stands before it") {
  CHECK(in_colour("error: no file\nhint: look again\n") ==
        "\033[1;31merror:\033[0m no file\n\033[1;32mhint:\033[0m look again\n");
  CHECK(in_colour("a.yaml:3:5: warning: unused") == "a.yaml:3:5: \033[1;35mwarning:\033[0m unused");
}

TEST_CASE("the same word inside a text stays as it is") {
  CHECK(in_colour("  3 | name: an error: b\n    |   ^") == "  3 | name: an error: b\n    |   ^");
}
