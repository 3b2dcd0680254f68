// `paceline report`: one page that needs nothing else, and in which text stays text.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/process.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::ThroughputWorkplace;
namespace fs = std::filesystem;

namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The sections, in the order of the page.
std::string sections(const std::string& page) {
  std::string ids;
  constexpr std::string_view mark = "<section id=\"";
  for (std::size_t at = page.find(mark); at != page.npos; at = page.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    ids += page.substr(begin, page.find('"', begin) - begin) + " ";
  }
  return ids;
}

// Of `hex`, as "1a1a1a" or "444". Source: Web Content Accessibility Guidelines 2.1, relative luminance and
// contrast ratio.
double contrast_with_white(std::string hex) {
  if (hex.size() == 3) hex = {hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]};
  const auto channel = [&](std::size_t at) {
    const double value = std::stoi(hex.substr(at, 2), nullptr, 16) / 255.0;
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 1.05 / (0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4) + 0.05);
}

}  // namespace

TEST_CASE(
    "a report answers, shows, explains and says how to make it again, in one file that asks for no other") {
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "results"}).exit_code == 0);
  const ProgramResult made = place.paceline({"report", "results", "-o", "page.html"});
  CAPTURE(made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(made.out == "page.html\n");
  const std::string page = place.text("page.html");
  CHECK(sections(page) == "answer comparison figures why trust runs reproduce ");
  CHECK(contains(page, "<p class=\"question\">Which?</p>"));
  // The answer has a name, a time and a probability.
  CHECK(contains(page, "ASP is done soonest, in "));
  CHECK(contains(page, "That it is faster than the second, BSP, has probability "));
  // 2 variants of 4 replications.
  CHECK(contains(page, "8 planned, 8 done, 0 failed, 0 missing."));
  CHECK(count_of(page, "<td>workload-done</td>") == 8);
  // Each below the name of its combination; on paper in two columns.
  CHECK(contains(page, "<th colspan=\"7\" scope=\"rowgroup\">BSP</th>"));
  CHECK(contains(page, ".many { columns: 2;"));
  CHECK(contains(page, "paceline study study.yaml\n"));
  // Each figure is a drawing with a text for those who do not see it, and no two names meet.
  CHECK(count_of(page, "<svg") >= 2);
  CHECK(count_of(page, "<svg") == count_of(page, "role=\"img\" aria-label=\""));
  CHECK(count_of(page, "<svg") == count_of(page, "<figcaption>"));
  CHECK(count_of(page, "id='gp") == 0);
  // Nothing is asked of anybody.
  for (const char* asking : {"<script", "<iframe", "<object", "@import", "src=", "url(h", "href=\"h"})
    CHECK_FALSE(contains(page, asking));
  CHECK(place.paceline({"report", "results", "-o", "page.html"}).exit_code == 2);
  CHECK(place.paceline({"report", "results", "-o", "page.html", "--force"}).exit_code == 0);
  CHECK(place.text("page.html") == page);
}

TEST_CASE("a report against itself finds no change, and one against other seeds has no pairs") {
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "a", "--set", "replications=5"}).exit_code == 0);
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "b", "--set", "seed=7"}).exit_code == 0);
  REQUIRE(place.paceline({"report", "a", "--against", "a", "-o", "same.html"}).exit_code == 0);
  const std::string same = place.text("same.html");
  CHECK(contains(same, "<section id=\"changes\">"));
  CHECK(contains(same, "+0.00 s [+0.00 s, +0.00 s]"));
  CHECK(contains(same, "1.000x [1.000, 1.000]"));
  REQUIRE(place.paceline({"report", "a", "--against", "b", "-o", "other.html"}).exit_code == 0);
  CHECK(contains(place.text("other.html"), "no common seeds, target and workload"));
}

TEST_CASE("words of a report are dark enough on its white page: a contrast of at least 4.5") {
  CHECK(contrast_with_white("000") == doctest::Approx(21.0));
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "a"}).exit_code == 0);
  REQUIRE(place.paceline({"report", "a", "-o", "page.html"}).exit_code == 0);
  const std::string page = place.text("page.html");
  const std::string style = page.substr(0, page.find("</style>"));
  std::size_t colours = 0;
  constexpr std::string_view mark = " color: #";
  for (std::size_t at = style.find(mark); at != style.npos; at = style.find(mark, at + 1), ++colours) {
    const std::size_t begin = at + mark.size();
    const std::string hex = style.substr(begin, style.find(';', begin) - begin);
    CAPTURE(hex);
    CHECK(contrast_with_white(hex) >= 4.5);
  }
  CHECK(colours >= 3);
}

TEST_CASE("hostile names and questions are text on the page") {
  const ThroughputWorkplace place;
  const std::string hostile =
      R"(</title></style><script>alert(1)</script><img src=x onerror='alert(2)'> `id` "&amp;)";
  std::string quoted;
  for (const char c : hostile) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  std::string study = test::throughput_study;
  study.replace(study.find("study: two"), 10, fmt::format("study: \"{}\"", quoted));
  study.replace(study.find("Which?"), 6, fmt::format("\"{}\\n\"", quoted));
  study.replace(study.find("name: BSP"), 9, fmt::format("name: \"{}\"", quoted));
  place.write("study.yaml", study);
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "results"}).exit_code == 0);
  REQUIRE(place.paceline({"report", "results", "-o", "page.html"}).exit_code == 0);
  const std::string page = place.text("page.html");
  CHECK_FALSE(contains(page, "<script"));
  CHECK_FALSE(contains(page, "<img"));
  CHECK(count_of(page, "</title>") == 1);
  CHECK(count_of(page, "</style>") == 1);
  CHECK(contains(page, "&#60;script&#62;alert(1)&#60;/script&#62;"));
  CHECK(contains(page, "&#38;amp;"));
}

TEST_CASE("Chromium, where it is installed, shows a report without asking for anything or complaining") {
  if (run_process({.words = {"chromium", "--version"}}).status != 0) {
    MESSAGE("skipped: no chromium");
    return;
  }
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "results"}).exit_code == 0);
  REQUIRE(place.paceline({"report", "results", "-o", "page.html"}).exit_code == 0);
  const ProcessResult shown = run_process(
      {.words = {"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                 "--v=0", "--user-data-dir=" + (place.path() / "profile").string(),
                 "--disable-background-networking", "--disable-component-update", "--no-first-run",
                 "--window-size=400,900", "--screenshot=" + (place.path() / "page.png").string(),
                 "file://" + (place.path() / "page.html").string()}});
  CAPTURE(shown.errors);
  CHECK(shown.status == 0);
  CHECK_FALSE(contains(shown.errors, ":CONSOLE"));
  CHECK(fs::exists(place.path() / "page.png"));
}
