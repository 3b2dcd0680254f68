#include "sim/training/straggler_reaction.hpp"

#include <doctest/doctest.h>

using namespace paceline;

namespace {

// Writes down what it is told and answers with what it was given.
class Scripted final : public SwitchPolicy {
 public:
  struct Told {
    WorkerId worker;
    Seconds own_time;
  };
  bool watches() const override { return true; }
  std::optional<std::size_t> detour_from(std::size_t phase) const override { return phase + 1; }
  std::optional<std::int64_t> probe_every_updates() const override { return 50; }
  Reaction on_iteration(WorkerId worker, std::int64_t, Seconds own_time) override {
    told.push_back({worker, own_time});
    return std::exchange(answer, {});
  }
  std::vector<Told> told;
  Reaction answer;
};

struct Scene {
  Scripted* policy = new Scripted;
  StragglerReaction reaction{std::unique_ptr<SwitchPolicy>(policy)};
  Workers workers{3};
  Phases phases{{{.policy = "bsp", .length = ShareOfJob{0.5}}, {.policy = "asp"}}, 1000, 1000, 1};
  Actions actions;
  Scene() { phases.plan(std::nullopt, workers.members(), {}); }
  void answer(DecisionKind kind, WorkerId worker) { policy->answer.decisions.push_back({kind, worker}); }
  void tell(WorkerId worker) {
    reaction.note_iteration(worker, 10, Seconds{2.0});
    reaction.tell(workers, phases, actions);
  }
};

}  // namespace

TEST_CASE("a worker's own time includes what the coordinator spent on it beyond the least") {
  // Both took 2 s; the coordinator was busy 5 s with worker 0 and 1 s with worker 1: 2 + 4 and 2 + 0.
  Scene scene;
  scene.reaction.note_iteration(WorkerId{0}, 10, Seconds{2.0});
  scene.reaction.note_iteration(WorkerId{1}, 10, Seconds{2.0});
  scene.reaction.note_coordination(WorkerId{0}, Seconds{5.0});
  scene.reaction.note_coordination(WorkerId{1}, Seconds{1.0});
  scene.reaction.end_coordination();
  scene.reaction.tell(scene.workers, scene.phases, scene.actions);
  REQUIRE(scene.policy->told.size() == 2);
  CHECK(scene.policy->told[0].own_time == Seconds{6.0});
  CHECK(scene.policy->told[1].own_time == Seconds{2.0});
}

TEST_CASE("nothing is told of a worker that has left meanwhile, nor what was forgotten") {
  Scene scene;
  scene.workers[WorkerId{1}].status = WorkerStatus::away;
  scene.tell(WorkerId{1});
  CHECK(scene.policy->told.empty());
  scene.reaction.note_iteration(WorkerId{0}, 10, Seconds{2.0});
  scene.reaction.forget_notes();
  scene.reaction.tell(scene.workers, scene.phases, scene.actions);
  CHECK(scene.policy->told.empty());
}

TEST_CASE("a decision to leave the phase ends it at once, and the detour comes next") {
  Scene scene;
  scene.answer(DecisionKind::leave_phase, WorkerId{2});
  scene.tell(WorkerId{2});
  CHECK(std::get<Decide>(scene.actions.at(0)).decision.kind == DecisionKind::leave_phase);
  CHECK_FALSE(scene.phases.has_work());
  CHECK(scene.phases.advance());
  CHECK(scene.phases.index() == 1);
}

TEST_CASE("nobody is judged until who is to be dropped is gone, so that somebody remains") {
  // Of each window somebody is not slow, but of two that end before a drop takes effect perhaps nobody.
  Scene scene;
  scene.answer(DecisionKind::drop, WorkerId{0});
  scene.tell(WorkerId{0});
  scene.answer(DecisionKind::drop, WorkerId{1});
  scene.tell(WorkerId{1});
  CHECK(scene.policy->told.size() == 1);
  CHECK(scene.reaction.take_regrouping().drop == std::vector{WorkerId{0}});
  scene.tell(WorkerId{1});
  CHECK(scene.policy->told.size() == 2);
  CHECK(scene.reaction.take_regrouping().drop == std::vector{WorkerId{1}});
}

TEST_CASE("who is to be dropped or taken in again waits for the next round, unless it leaves before") {
  Scene scene;
  scene.answer(DecisionKind::drop, WorkerId{0});
  scene.answer(DecisionKind::drop, WorkerId{1});
  scene.answer(DecisionKind::restore, WorkerId{2});
  scene.tell(WorkerId{0});
  scene.reaction.forget(WorkerId{1});
  CHECK(scene.reaction.wants_regrouping());
  const auto [drop, restore] = scene.reaction.take_regrouping();
  CHECK(drop == std::vector{WorkerId{0}});
  CHECK(restore == std::vector{WorkerId{2}});
  CHECK_FALSE(scene.reaction.wants_regrouping());
}

TEST_CASE("dropped workers are probed every so many updates") {
  const Scene scene;
  CHECK(scene.reaction.probes_after(100));
  CHECK_FALSE(scene.reaction.probes_after(101));
}
