// What holds for every job, whatever it does: checked from outside, from events, actions and the calls of a
// learner.
//
// Models:      - every gradient computed is held by the learner until every server has applied it or it is
//                discarded, each exactly once; none is held at the end
//              - mini-batches and samples: started = applied + discarded (+ stepped locally, but called off
//                on their way)
//              - applied samples >= the job's, unless it ended early; < the job's + one batch of each worker
//              - one change of each shard for each update, updates counted with the last
//              - the steps of a worker count one by one, whether it exchanges after each or after many
//              - weights of an update sum to 1, factors by staleness aside
//              - staleness by double counting: each change of a shard adds 1 to the staleness of every worker
//                that has read and not yet applied there, so the sum over applied gradients is at most (W -
//                1) · changes
//              - bytes carried by the links = 2 · bytes of messages that arrived (a star: up and down), with
//                those of all-reduces in closed form; at the end rounds of one that is under way come on top
//              - the clock never goes back; a worker computes one thing at a time and nothing while it is
//                away
//              - busy + idle = makespan of each worker
#pragma once

#include <string>
#include <vector>

#include "tests/property/entry.hpp"
#include "tests/property/random_job.hpp"

namespace paceline::test {

struct Checked {
  std::vector<std::string> violations;  // in words; empty: everything holds
  std::vector<Entry> entries;           // everything that happened, in order
  Seconds end;
};

// What the checks are shown wrong on purpose, so that they can be seen to notice.
enum class Sabotage {
  none,
  hides_discards,
  shows_updates_twice,
  turns_the_clock_back,
  skips_a_step,
  loses_a_byte
};

// On the ideal timeline, or on another one.
[[nodiscard]] Checked run_and_check(const RandomJob& random, Sabotage sabotage = Sabotage::none);
[[nodiscard]] Checked run_and_check(const RandomJob& random, Timeline& timeline,
                                    Sabotage sabotage = Sabotage::none);

}  // namespace paceline::test
