#include "sim/training/release_gate.hpp"

#include <set>

#include <doctest/doctest.h>

#include "sim/training/workers.hpp"

using namespace paceline;

namespace {

using Ids = std::vector<WorkerId>;
const WorkerId w0{0};
const WorkerId w1{1};
const WorkerId w2{2};

// Holds whom it is told to.
class Holding final : public BatchController {
 public:
  std::set<WorkerId> held;
  Allocation initial() const override { return {}; }
  std::optional<Allocation> on_iteration(WorkerId, std::int64_t, Seconds) override { return std::nullopt; }
  bool holds(WorkerId worker) const override { return held.contains(worker); }
};

}  // namespace

TEST_CASE("a worker goes on when the last of the servers lets it go") {
  ReleaseGate gate(2);
  CHECK(gate.let_go({w0, w1}, 2).empty());
  CHECK(gate.let_go({w1}, 2) == Ids{w1});
  // Then it starts anew; who has left does too.
  CHECK(gate.let_go({w1}, 2).empty());
  gate.forget(w0);
  CHECK(gate.let_go({w0}, 2).empty());
  CHECK(gate.let_go({w0}, 2) == Ids{w0});
}

TEST_CASE("those refused ask again in the order of their refusal, or join a round in the order of workers") {
  ReleaseGate gate(3);
  gate.refuse({w2});
  gate.refuse({w0});
  CHECK(gate.take_refused() == Ids{w2, w0});
  CHECK(gate.refused().empty());
  gate.refuse({w2, w0});
  CHECK(gate.take_refused_with({w1, w2}) == Ids{w0, w1, w2});
  CHECK(gate.refused().empty());
}

TEST_CASE("the batch controller keeps some back and lets others go") {
  ReleaseGate gate(3);
  Holding controller;
  controller.held = {w1};
  for (const WorkerId worker : {w2, w1, w0}) gate.hold(worker);
  CHECK(gate.take_free(controller) == Ids{w2, w0});
  CHECK(gate.has_held());
  gate.begin_phase();
  CHECK_FALSE(gate.has_held());
}

TEST_CASE("a release settles what a worker owes: one adjustment, each evaluation") {
  // Two adjustments and two evaluations are owed, a checkpoint is planned: it pauses 1 + 1 + 2 times, in that
  // order.
  PauseQueue pauses;
  pauses.add(PauseKind::checkpoint);
  pauses.owe_adjustment();
  pauses.owe_adjustment();
  pauses.owe_evaluation();
  pauses.owe_evaluation();
  pauses.settle();
  for (const PauseKind expected :
       {PauseKind::checkpoint, PauseKind::adjustment, PauseKind::evaluation, PauseKind::evaluation}) {
    CHECK(pauses.next() == expected);
    pauses.end_next();
  }
  CHECK_FALSE(pauses.next().has_value());
}

TEST_CASE("an iteration called off takes its pauses with it, not what its worker owes") {
  PauseQueue pauses;
  pauses.add(PauseKind::checkpoint);
  pauses.owe_evaluation();
  pauses.clear();
  CHECK_FALSE(pauses.next().has_value());
  pauses.settle();
  CHECK(pauses.next() == PauseKind::evaluation);
}
