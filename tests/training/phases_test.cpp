#include "sim/training/phases.hpp"

#include <doctest/doctest.h>

using namespace paceline;

namespace {

const std::vector<WorkerId> members{WorkerId{0}, WorkerId{1}};

// 1000 samples in two halves, BSP and then ASP; the data set has 500.
Phases bsp_then_asp(PhaseLength first = ShareOfJob{0.5}) {
  return Phases({{.policy = "bsp", .length = first}, {.policy = "asp"}}, 1000, 500, 2);
}

void process(Phases& phases, std::int64_t samples) {
  phases.workload().hand_out(samples);
  phases.workload().apply(samples);
}

}  // namespace

TEST_CASE("a phase is planned with a pause, and entered once") {
  Phases phases = bsp_then_asp();
  phases.plan(PauseKind::start_up, members, {});
  CHECK(phases.is_planned());
  CHECK(phases.planned_pause() == PauseKind::start_up);
  CHECK(phases.is_synchronous());
  Actions actions;
  phases.enter(actions);
  CHECK(std::get<EnterPhase>(actions.at(0)).phase == 0);
  CHECK(actions.size() == 1);  // no timer: the phase ends by samples
  CHECK_FALSE(phases.planned_pause().has_value());
}

TEST_CASE("a phase that lasts for a time sets a timer, and its end ends that phase only") {
  Phases phases = bsp_then_asp(Seconds{60.0});
  phases.plan(std::nullopt, members, {});
  Actions actions;
  phases.enter(actions);
  CHECK(std::get<SetTimer>(actions.at(1)).duration == Seconds{60.0});
  phases.on_timer(1);
  CHECK(phases.has_work());
  phases.on_timer(0);
  CHECK_FALSE(phases.has_work());
}

TEST_CASE("each server of a phase decides for itself") {
  // Two members: a server combines when both gradients have reached it, whatever the other one has.
  Phases phases = bsp_then_asp();
  phases.plan(std::nullopt, members, {});
  CHECK(phases.policy(ServerId{0}).on_gradient(WorkerId{0}, Seconds{}).combine.empty());
  CHECK(phases.policy(ServerId{1}).on_gradient(WorkerId{1}, Seconds{}).combine.empty());
  CHECK(phases.policy(ServerId{0}).on_gradient(WorkerId{1}, Seconds{}).combine == members);
}

TEST_CASE("a phase left for another is resumed with what is left of its work") {
  // 500 samples of BSP, left after 100 for ASP: 300 samples there, then 400 of BSP until 800, then ASP as
  // written.
  Phases phases = bsp_then_asp();
  phases.plan(std::nullopt, members, {});
  process(phases, 100);
  phases.leave_for(1);
  CHECK_FALSE(phases.has_work());
  CHECK(phases.advance());
  CHECK(phases.index() == 1);
  process(phases, 300);
  phases.end();
  CHECK(phases.advance());
  CHECK(phases.index() == 0);
  process(phases, 399);
  CHECK(phases.has_work());
  process(phases, 1);
  CHECK_FALSE(phases.has_work());
  CHECK(phases.advance());
  CHECK(phases.index() == 1);
  process(phases, 200);
  CHECK_FALSE(phases.advance());
}

TEST_CASE("a phase of so many updates that was left goes on with those that are missing") {
  Phases phases = bsp_then_asp(UpdateCount{3});
  phases.plan(std::nullopt, members, {});
  const auto update = [&] {
    process(phases, 20);
    phases.workload().count_update();
  };
  update();
  phases.leave_for(1);
  CHECK(phases.advance());
  phases.plan(std::nullopt, members, {});
  update();
  phases.end();
  CHECK(phases.advance());
  phases.plan(std::nullopt, members, {});
  CHECK(phases.index() == 0);
  update();
  CHECK(phases.has_work());
  update();
  CHECK_FALSE(phases.has_work());
}

TEST_CASE("what was done since a switch is counted in asynchronous phases only") {
  Phases phases = bsp_then_asp();
  phases.plan(std::nullopt, members, {});
  CHECK_FALSE(phases.since_switch({Seconds{1.0}, 5, 100}, 2).has_value());
  phases.plan(PauseKind::switching, members, {Seconds{1.0}, 5, 100});  // to a synchronous one
  CHECK_FALSE(phases.since_switch({Seconds{2.0}, 6, 120}, 2).has_value());
  process(phases, 500);
  CHECK(phases.advance());
  phases.plan(PauseKind::switching, members, {Seconds{9.0}, 25, 500});
  // 10 updates and 250 samples later, of a data set of 500: half an epoch.
  const auto since = phases.since_switch({Seconds{12.0}, 35, 750}, 2);
  REQUIRE(since.has_value());
  CHECK(since->updates == 10);
  CHECK(since->samples == 250);
  CHECK(since->epochs == 0.5);
}
