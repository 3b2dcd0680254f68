// What the coordinator knows of one worker and of one update under way. Private to sim/training.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/training/action.hpp"

namespace paceline {

enum class Doing {
  away,
  dropped,
  idle,
  pausing,
  receiving,
  computing,
  stepping,
  sending,
  waiting_for_update
};

[[nodiscard]] constexpr std::string_view words_for(Doing doing) {
  switch (doing) {
    case Doing::away:
      return "is not there";
    case Doing::dropped:
      return "was dropped for straggling";
    case Doing::idle:
      return "is idle: it waits for the next round, or nothing is left to hand out";
    case Doing::pausing:
      return "waits for the end of its pause";
    case Doing::receiving:
      return "waits for parameters";
    case Doing::computing:
      return "waits for its own computation";
    case Doing::stepping:
      return "waits for its own optimizer step";
    case Doing::sending:
      return "waits for its gradient to reach every server";
    case Doing::waiting_for_update:
      return "waits for an update";
  }
  return "is in an unknown state";
}

// One iteration, from its release to its end.
struct IterationState {
  GradientId gradient;
  std::int64_t batch_samples = 0;
  bool is_probe = false;           // of a dropped worker: its gradient is for nobody
  bool gradient_is_held = false;   // by the learner: computed, neither applied nor discarded
  std::optional<UpdateId> update;  // once some server has decided to combine the gradient
};

struct WorkerState {
  Doing doing = Doing::idle;
  bool needs_parameters = false;               // has joined and holds none
  bool holds_present_parameters = false;       // a phase begins
  bool is_outside_round = false;               // has joined when nothing was left to hand out
  bool is_dropped = false;                     // by the switch policy; still there, and may be probed
  std::vector<std::uint64_t> pulled_versions;  // by server
  std::uint64_t iterations = 0;                // started so far
  std::uint64_t iterations_since_start = 0;    // or since the last restart
  std::size_t parts_awaited = 0;               // shards still on their way, to it or from it
  std::size_t released_by = 0;                 // servers that have let it go on after its present iteration
  double pulled_epoch = 0.0;                   // when it last pulled
  Seconds own_time;  // of its present iteration: computing and transfers, no waiting
  Seconds transfer_began;
  std::size_t evaluations_owed = 0;
  bool adjustment_owed = false;             // batches have changed since it last went on
  std::deque<PauseKind> pauses;             // before it goes on
  std::optional<IterationState> iteration;  // absent when it has none: idle, away, or called off

  [[nodiscard]] bool is_present() const { return doing != Doing::away; }
  [[nodiscard]] bool works_on(GradientId gradient) const {
    return iteration && iteration->gradient == gradient;
  }
};

// A gradient that some server has decided to combine: it is applied even if its worker leaves.
struct CombinedGradient {
  WorkerId worker;
  GradientId gradient;
  std::int64_t batch_samples = 0;
  std::vector<std::uint64_t> pulled_versions;  // by server
};
struct PendingUpdate {
  std::vector<CombinedGradient> gradients;     // by worker
  std::vector<std::vector<WorkerId>> release;  // by server
  std::size_t shards_left = 0;
  bool step_is_local = false;  // parameters are exchanged: the worker steps first and sends the result
};

}  // namespace paceline
