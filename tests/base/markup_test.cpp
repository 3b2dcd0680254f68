#include "sim/base/markup.hpp"

#include <doctest/doctest.h>

namespace paceline {
namespace {

TEST_CASE("everything TeX could act on is written as a command, and what it may lack by its number") {
  CHECK(tex_text("\\input{x} 50 % a_b") == "$\\backslash$input\\{x\\} 50 \\% a\\_b");
  CHECK(tex_text("`<\"~^") == "\\`{}$<${\\ttfamily\\char34}\\~{}\\^{}");
  CHECK(tex_text("größer ± 中") == "größer $\\pm$ [U+4E2D]");
  // gnuplot reads a leading bracket as an alignment.
  CHECK(tex_text("[rt]x") == "\\relax{}[rt]x");
}

TEST_CASE("Markdown shows what it would act on, on one line and in one cell") {
  CHECK(markdown_text("a|b *c* <i>\n`d` [e](f)") == "a\\|b \\*c\\* \\<i\\> \\`d\\` \\[e\\](f)");
}

TEST_CASE("HTML shows markup as text, in elements and in attributes") {
  CHECK(html_text("<b a=\"x\">&amp;'`") == "&#60;b a=&#34;x&#34;&#62;&#38;amp;&#39;&#96;");
  CHECK(html_text("größer\n\x01\xFF") == "größer \xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace paceline
