#include "plots/page/page_words.hpp"

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

TEST_CASE("lengths are read in their units") {
  // 85 mm = 85/25.4 in; 241 pt = 241/72 in.
  CHECK(page_options({.width = "7in"}).width_in == doctest::Approx(7.0));
  CHECK(page_options({.width = "85mm"}).width_in == doctest::Approx(85.0 / 25.4));
  CHECK(page_options({.width = "241 pt"}).width_in == doctest::Approx(241.0 / 72.0));
  CHECK(page_options({.size = "9pt"}).text_pt == doctest::Approx(9.0));
}

TEST_CASE(
    "a style sets width, font and size and leaves the footer out; what is given besides goes before it") {
  const PageOptions ieee = page_options({.style = "ieee", .width = "7in"});
  CHECK(ieee.width_in == 7.0);
  CHECK(ieee.text_pt == doctest::Approx(8.0));
  CHECK(ieee.font == "Liberation Serif");
  CHECK_FALSE(ieee.has_footer);
  CHECK(page_options({}).has_footer);
}

TEST_CASE("formats are drawn once each, in the order given") {
  CHECK(page_options({.format = "svg,tex,svg"}).formats == std::vector{Format::svg, Format::tex});
}

TEST_CASE("small text is at least 7 points, unless all of it is smaller") {
  for (const double text_pt : {7.0, 8.0, 9.0}) {
    PageOptions page;
    page.text_pt = text_pt;
    CHECK(page.points(TextSize::small) >= 7.0);
    CHECK(page.points(TextSize::small) <= text_pt);
  }
  PageOptions page;
  page.text_pt = 6.0;
  CHECK(page.points(TextSize::small) == 6.0);
}

TEST_CASE("every word at fault is named at once") {
  try {
    (void)page_options(
        {.style = "acn", .width = "3", .size = "80pt", .font = "a\"; system", .format = "pdf,bmp"});
    FAIL("nothing was refused");
  } catch (const UserError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"no style `acn`", "--width: `3`", "--size: `80pt`", "`bmp` is no format", "--font: no font"}) {
      CAPTURE(part);
      CHECK(text.find(part) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace paceline::plots
