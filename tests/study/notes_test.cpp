#include <doctest/doctest.h>

#include "sim/study/study_runs.hpp"

using namespace paceline;

using Lines = std::vector<std::string>;

TEST_CASE("a note stands once, with the number of runs it is about unless that is all of them") {
  Notes notes;
  notes.add(Lines{"stale", "far"}, 2);
  notes.add(Lines{"stale"}, 3);
  CHECK(notes.lines(10) == Lines{"stale (5 of 10 runs)", "far (2 of 10 runs)"});
  CHECK(notes.lines(5) == Lines{"stale", "far (2 of 5 runs)"});
}

TEST_CASE("a note about everything stays one, whatever is added before or after it") {
  Notes notes;
  notes.add(Lines{"stale"}, 2);
  notes.add("stale");
  CHECK(notes.lines(10) == Lines{"stale"});
  notes.add(Lines{"stale"}, 3);
  CHECK(notes.lines(10) == Lines{"stale"});
  Notes more;
  more.add(Lines{"stale", "new"}, 4);
  notes.add(more);
  CHECK(notes.lines(10) == Lines{"stale", "new (4 of 10 runs)"});
}
