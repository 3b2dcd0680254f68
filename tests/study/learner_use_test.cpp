// What is said of a learner after a run.
#include <doctest/doctest.h>

#include "sim/study/checks_before_running.hpp"

using namespace paceline;

TEST_CASE("staleness is remarked on from the first update beyond the range on") {
  StatisticalModel model;
  model.path = "learner.json";
  model.validity.staleness_max = 4.0;
  RunResult run;
  run.staleness[{0, 4}] = 10;
  CHECK(staleness_notes(model, run).empty());
  run.staleness[{1, 5}] = 1;
  CHECK(staleness_notes(model, run).size() == 1);
}
