// Mistakes about local training: each is reported once, at the value to change, with a hint.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

const char* const first_phase_begins = "policy: bsp, transport: ring";  // in the 6th column of line 16

struct MistakenPhase {
  std::string phase;  // instead of that; ^ stands before the value at which the mistake is reported
  const char* said;
  const char* hint;
};

void check_reported(const MistakenPhase& mistake) {
  CAPTURE(mistake.phase);
  const std::size_t place = mistake.phase.find('^');
  REQUIRE(place != std::string::npos);
  const std::string phase = std::string(mistake.phase).erase(place, 1);
  const std::string said = complaint(replaced(good_example, first_phase_begins, phase));
  CAPTURE(said);
  CHECK(said.starts_with(fmt::format("scenario.yaml:16:{}: error: {}\n", 6 + place, mistake.said)));
  CHECK(said.find(fmt::format("\nhint: {}\n", mistake.hint)) != std::string::npos);
  CHECK(said.ends_with("\n1 error in scenario.yaml\n"));
}

TEST_CASE("local training has at least one step, and names them") {
  check_reported({"policy: bsp, transport: ring, local: {steps: ^0}",
                  "`synchronization.0.local.steps`: `0` is out of range",
                  "expected a whole number, at least 1"});
  check_reported(
      {"policy: bsp, transport: ring, ^local: {by_speed: true}",
       "missing key `steps` in `synchronization.0.local`",
       "`steps`: of a worker's own optimizer between two exchanges; expected a whole number, at least 1"});
}

TEST_CASE("by speed, no worker takes more steps than the fastest") {
  check_reported({"policy: bsp, transport: ring, local: {steps: 4, by_speed: true, least: ^5}",
                  "the fastest worker takes 4 steps, a slow one would take at least 5",
                  "write `least: 4` or less"});
}

TEST_CASE("momentum rules that need a server of their own are refused elsewhere") {
  check_reported({"policy: bsp, transport: ring, local: {steps: 4, outer: {every: ^4}}",
                  "a buffer of differences needs `policy: asp` and a single server", "remove `every`"});
  const char* const delayed = "momentum: 0.9, nesterov: true, momentum_every: ";
  for (const char* transport : {"ring", "server"})
    check_reported(
        {fmt::format("policy: bsp, transport: {}, local: {{steps: 4, outer: {{{}^4}}}}", transport, delayed),
         "a delayed velocity needs `policy: asp` and a single server", "remove `momentum_every`"});
  check_reported(
      {fmt::format("policy: asp, transport: server, local: {{steps: 4, outer: {{every: 2, {}^4}}}}", delayed),
       "a buffer of differences is one step: its velocity has nothing to wait for",
       "remove `every` or `momentum_every`"});
}

TEST_CASE("an outer step that looks ahead, or late, says along what") {
  check_reported({"policy: bsp, transport: ring, local: {steps: 4, outer: {nesterov: ^true}}",
                  "`nesterov` needs `momentum` above 0", "write a `momentum`, for example 0.9"});
  check_reported(
      {"policy: asp, transport: server, local: {steps: 4, outer: {momentum: 0.9, momentum_every: ^4}}",
       "a delayed velocity is Nesterov's", "write `nesterov: true`, and a `momentum`"});
  check_reported(
      {"policy: asp, transport: server, local: {steps: 4, outer: {momentum: 0.9, nesterov: true, "
       "momentum_every: 4, momentum_between: ^0.3}}",
       "4 steps between two moves of the velocity count at most 1/4 of it each",
       "0 leaves it to the step with which it moves"});
}

TEST_CASE(
    "fragments divide the steps, arrive before the next one is due, and are exchanged by all together") {
  check_reported({"policy: bsp, transport: ring, local: {steps: 8, fragments: {count: ^3}}",
                  "3 fragments do not divide 8 steps",
                  "one of them is exchanged after every steps / count: for example `steps: 9`"});
  check_reported({"policy: bsp, transport: ring, local: {steps: 8, fragments: {count: 2, delay: ^4}}",
                  "a fragment that travels for 4 steps is not there when the next one is due, after 4",
                  "write `delay: 3` or less"});
  check_reported({"policy: bsp, transport: server, local: {steps: 8, fragments: ^{count: 2}}",
                  "fragments are exchanged by all workers together",
                  "use `policy: bsp` with an all-reduce, for example `transport: ring`"});
  check_reported({"policy: bsp, transport: ring, local: {steps: 8, by_speed: true, fragments: ^{count: 2}}",
                  "fragments are exchanged after the same number of steps by every worker",
                  "remove `by_speed` or `growth`"});
}

TEST_CASE("local training exchanges differences, and a stale one counts by a rule that is complete") {
  check_reported({"policy: asp, transport: server, exchange: ^parameters, local: {steps: 4}",
                  "local training exchanges differences, not parameters", "remove `exchange`"});
  // A missing key is reported at its section, which begins before the phase's first key.
  const std::string incomplete = complaint(replaced(
      good_example, first_phase_begins, "policy: asp, transport: server, staleness_weight: cut-off"));
  CHECK(incomplete.starts_with("scenario.yaml:16:5: error: missing key `staleness_limit`"));
  CHECK(incomplete.find("\nhint: `staleness_limit`: updates, of `cut-off`; expected a whole number") !=
        std::string::npos);
}

TEST_CASE("a learner that was fitted knows local training whose mean becomes the parameters") {
  const auto with = [](const char* phase, const char* learner) {
    return complaint(replaced(replaced(good_example, first_phase_begins, phase), "{kind: network}", learner));
  };
  const char* const fitted = "{kind: statistical, model: learner.json}";
  CHECK(with("policy: bsp, transport: ring, local: {steps: 4}", fitted).empty());
  for (const char* phase : {"policy: asp, transport: server, local: {steps: 4}",
                            "policy: bsp, transport: ring, local: {steps: 4, by_speed: true}",
                            "policy: bsp, transport: ring, local: {steps: 4, growth: 0.1}",
                            "policy: bsp, transport: ring, local: {steps: 4, outer: {momentum: 0.9}}",
                            "policy: bsp, transport: ring, local: {steps: 4, outer: {learning_rate: 0.7}}",
                            "policy: bsp, transport: ring, local: {steps: 4, fragments: {count: 2}}"}) {
    CAPTURE(phase);
    const std::size_t place = 6 + std::string_view(phase).find("{steps");
    CHECK(with(phase, fitted)
              .starts_with(fmt::format(
                  "scenario.yaml:16:{}: error: a statistical learner knows local training only under `bsp`",
                  place)));
    CHECK(with(phase, "{kind: network}").empty());
  }
}

}  // namespace
}  // namespace paceline::test
