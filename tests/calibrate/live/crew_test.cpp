#include "calibrate/live/crew.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::live {

TEST_CASE(
    "where a worker may not fail a user's mistake keeps its words, and what else it says is a failure") {
  const UserError mistake("the folder has no images", "name another one");
  const Failed as_said{mistake.what(), true};
  CHECK_THROWS_WITH_AS(throw_if_lost(Arrived{1, as_said}), mistake.what(), UserError);
  CHECK_THROWS_WITH(throw_if_lost(Arrived{1, Failed{"out of memory"}}),
                    "process 1 of the job: out of memory");
  CHECK_THROWS_WITH(throw_if_lost(Lost{2, "was killed"}), "process 2 of the job was killed");
  CHECK_NOTHROW(throw_if_lost(Restarted{0}));
  CHECK_NOTHROW(throw_if_lost(Arrived{0, Received{1}}));
}

TEST_CASE("which mistake made a worker leave a job is said in one line") {
  const UserError mistake("the folder has no images", "name another one");
  CHECK(reason_of({mistake.what(), true}) == "the folder has no images");
  CHECK(reason_of({"live.yaml:3:1: error: no images\n  3 | job:\n", true}) == "no images");
  CHECK(reason_of({"out of memory", false}) == "out of memory");
}

}  // namespace paceline::live
