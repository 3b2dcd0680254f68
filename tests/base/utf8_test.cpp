// UTF-8: characters and what is none.
#include "sim/base/utf8.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("characters of one to four bytes have the code that Unicode gives them") {
  CHECK(first_character("A1").code == 0x41);
  CHECK(first_character("\u00B5s").code == 0xB5);
  CHECK(first_character("\u2026").code == 0x2026);
  CHECK(first_character("\U0001F600!").code == 0x1F600);
  CHECK(first_character("\U0001F600!").bytes.size() == 4);
  CHECK(count_characters("5 \u00B5s \u2026") == 6);
}

TEST_CASE("truncated, overlong and impossible characters are none") {
  for (const char* bytes :
       {"\xC3", "\xC3(", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\x80"}) {
    CAPTURE(bytes);
    CHECK(first_character(bytes).bytes.empty());
  }
}

TEST_CASE("the first byte that is no text is found, tabs and line breaks are text") {
  CHECK_FALSE(find_not_text("a\tb\r\n\u00B5"));
  CHECK(find_not_text("ab\x1B[0m") == 2);
  CHECK(find_not_text("\u00B5\x7F") == 2);
  CHECK(find_not_text(std::string("a\0b", 3)) == 1);
  CHECK(find_not_text("abc\xE2\x80") == 3);
}
