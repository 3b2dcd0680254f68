// What each switch policy decides when the third of four workers takes twice its usual second for an
// iteration.
#include "sim/policy/switching/switch_policy.hpp"

#include <doctest/doctest.h>

#include "tests/support/chosen.hpp"

using namespace paceline;

namespace {

const std::vector<WorkerId> four{WorkerId{0}, WorkerId{1}, WorkerId{2}, WorkerId{3}};

std::vector<PhaseConfig> bsp_then_asp() {
  PhaseConfig asp;
  asp.policy = "asp";
  return {PhaseConfig{}, asp};
}

std::unique_ptr<SwitchPolicy> make(const char* word) {
  const auto policy = test::chosen<SwitchChoice>(word, {{"window", 1}, {"consecutive", 2}, {"floor", 0.1}});
  return make_switch_policy(policy, bsp_then_asp(), four.size());
}

// One round; the kinds decided in it, in order.
std::vector<DecisionKind> round(SwitchPolicy& policy, double third_s) {
  std::vector<DecisionKind> kinds;
  for (const WorkerId worker : four)
    for (const Decision& decision :
         policy.on_iteration(worker, 10, Seconds{worker.value == 2 ? third_s : 1.0}).decisions) {
      CHECK(decision.worker == WorkerId{2});
      kinds.push_back(decision.kind);
    }
  return kinds;
}

using Kinds = std::vector<DecisionKind>;

}  // namespace

TEST_CASE("fixed phases: nobody watches") {
  const auto policy = make("fixed");
  CHECK_FALSE(policy->watches());
  CHECK_FALSE(policy->detour_from(0).has_value());
}

TEST_CASE("watch notes an alarm and its end, and decides nothing else") {
  const auto policy = make("watch");
  policy->on_members(0, four);
  CHECK(round(*policy, 1).empty());
  CHECK(round(*policy, 2).empty());
  CHECK(round(*policy, 2) == Kinds{DecisionKind::alarm});
  CHECK(round(*policy, 1).empty());
  CHECK(round(*policy, 1) == Kinds{DecisionKind::clear});
  // ASP is not watched: a straggler holds nobody up.
  policy->on_members(1, four);
  for (int i = 0; i < 5; ++i) CHECK(round(*policy, 2).empty());
}

TEST_CASE("greedy leaves for ASP with the alarm, and returns when it is over") {
  const auto policy = make("greedy");
  REQUIRE(policy->detour_from(0) == 1);
  policy->on_members(0, four);
  static_cast<void>(round(*policy, 1));
  CHECK(round(*policy, 2).empty());
  CHECK(round(*policy, 2) == Kinds{DecisionKind::alarm, DecisionKind::leave_phase});
  // What is still under way of the phase it leaves changes nothing.
  CHECK(round(*policy, 1).empty());
  CHECK(round(*policy, 1).empty());
  policy->on_members(1, four);
  for (int i = 0; i < 3; ++i) CHECK(round(*policy, 2).empty());
  CHECK(round(*policy, 1).empty());
  CHECK(round(*policy, 1) == Kinds{DecisionKind::clear, DecisionKind::return_to_phase});
  // The second time as the first.
  policy->on_members(0, four);
  CHECK(round(*policy, 2).empty());
  CHECK(round(*policy, 2) == Kinds{DecisionKind::alarm, DecisionKind::leave_phase});
}

TEST_CASE("greedy does not watch the ASP phase that is reached in its turn") {
  const auto policy = make("greedy");
  policy->on_members(0, four);
  static_cast<void>(round(*policy, 1));
  policy->on_members(1, four);
  for (int i = 0; i < 5; ++i) CHECK(round(*policy, 2).empty());
}

TEST_CASE("elastic drops the straggler, and a good probe brings it back without a record") {
  const auto policy = make("elastic");
  CHECK(policy->probe_every_updates() == 50);
  policy->on_members(0, four);
  static_cast<void>(round(*policy, 1));
  static_cast<void>(round(*policy, 2));
  CHECK(round(*policy, 2) == Kinds{DecisionKind::alarm, DecisionKind::drop});
  policy->on_members(0, std::vector{WorkerId{0}, WorkerId{1}, WorkerId{3}});
  Reaction probe = policy->on_probe(WorkerId{2}, 10, Seconds{2});
  REQUIRE(probe.decisions.size() == 1);
  CHECK(probe.decisions[0].kind == DecisionKind::probe);
  CHECK(probe.decisions[0].judgement->is_slow);
  probe = policy->on_probe(WorkerId{2}, 10, Seconds{1});
  REQUIRE(probe.decisions.size() == 2);
  CHECK(probe.decisions[1].kind == DecisionKind::restore);
  policy->on_members(0, four);
  CHECK(round(*policy, 2).empty());
  CHECK(round(*policy, 2) == Kinds{DecisionKind::alarm, DecisionKind::drop});
}

TEST_CASE("elastic keeps at least one worker") {
  // Two workers; the second straggles, then, once it is dropped, the first alone has nobody to be compared
  // with.
  const SwitchChoice elastic{"elastic",
                             {{"window", 1}, {"consecutive", 1}, {"floor", 0.1}, {"deviations", 0.0}}};
  const auto policy = make_switch_policy(elastic, bsp_then_asp(), 2);
  policy->on_members(0, std::vector{WorkerId{0}, WorkerId{1}});
  const auto iteration = [&](std::uint64_t worker, double seconds) {
    Kinds kinds;
    for (const Decision& decision : policy->on_iteration(WorkerId{worker}, 10, Seconds{seconds}).decisions)
      kinds.push_back(decision.kind);
    return kinds;
  };
  static_cast<void>(iteration(0, 1));
  static_cast<void>(iteration(1, 1));
  static_cast<void>(iteration(0, 1));
  CHECK(iteration(1, 2) == Kinds{DecisionKind::alarm, DecisionKind::drop});
  policy->on_members(0, std::vector{WorkerId{0}});
  CHECK(iteration(0, 5).empty());
}

TEST_CASE("elastic drops nobody when all become equally slow, whatever their mean is rounded to") {
  // Three workers at 0.1 samples/s: the mean of three times 0.1 is 0.10000000000000002 in binary numbers.
  const SwitchChoice elastic{"elastic",
                             {{"window", 1}, {"consecutive", 1}, {"floor", 0.1}, {"deviations", 0.0}}};
  const auto policy = make_switch_policy(elastic, bsp_then_asp(), 3);
  policy->on_members(0, std::vector{WorkerId{0}, WorkerId{1}, WorkerId{2}});
  for (const double seconds : {50.0, 100.0})
    for (std::uint64_t w = 0; w < 3; ++w)
      CHECK(policy->on_iteration(WorkerId{w}, 10, Seconds{seconds}).decisions.empty());
}
