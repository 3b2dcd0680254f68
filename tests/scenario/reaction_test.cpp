// `reaction`: what it means, and what it cannot be combined with.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

const char* const batching = "batching:\n";

// Keys of a controller that adjusts batches, which a reaction cannot be combined with.
const char* const adjusting =
    "  minimum: 8\n  maximum: 256\n  dead_band: 0.05\n  smoothing: 0.2\n  adjust_every: 10 iterations\n";

// The example with a reaction before `batching` (line 18), and one more change.
std::string reacting(const std::string& reaction, const char* from = "", const std::string& to = "") {
  const std::string steady =
      replaced(replaced(std::string(good_example), "  controller: dynamic\n", "  controller: static\n"),
               adjusting, "");
  const std::string text = replaced(steady, batching, fmt::format("reaction: {}\n{}", reaction, batching));
  return *from == '\0' ? text : replaced(text, from, to);
}

void check_refused(const std::string& text, const char* first_line) {
  const std::string said = complaint(text);
  CAPTURE(said);
  CHECK(said.starts_with(fmt::format("scenario.yaml:{}\n", first_line)));
}

}  // namespace

TEST_CASE("a reaction has a policy and the parameters of its detector, with defaults") {
  const Scenario plain = load_text(std::string(good_example)).scenario;
  CHECK_FALSE(plain.reaction.has_value());
  const LoadedScenario loaded = load_text(reacting(
      "{policy: elastic, window: 20 iterations, consecutive: 2, floor: 15 %, probe_every: 30 updates, "
      "probe_cost: 1 s, regroup_cost: 5 s}"));
  const ReactionEntry& reaction = loaded.scenario.reaction.value();
  CHECK(loaded.warnings.empty());
  CHECK(reaction.policy == "elastic");
  const Parameters& parameters = reaction.policy.parameters();
  CHECK(parameters.value("window") == plain_of(20));
  CHECK(parameters.value("consecutive") == plain_of(2));
  CHECK(parameters.value("floor") == plain_of(0.15));
  CHECK(parameters.value("deviations") == plain_of(1.0));
  CHECK(parameters.value("probe_every") == plain_of(30));
  CHECK(reaction.probe_cost == Seconds{1.0});
  CHECK(reaction.regroup_cost == Seconds{5.0});
  CHECK(value_of(loaded, "reaction.deviations").origin == "default");
}

TEST_CASE("a policy that nobody knows is named with its place") {
  check_refused(reacting("{policy: gready}"), "18:20: error: `reaction.policy`: unknown value `gready`");
}

TEST_CASE("how often dropped workers are probed is counted in updates, as it is done") {
  check_refused(reacting("{policy: elastic, probe_every: 30 iterations}"),
                "18:42: error: `reaction.probe_every`: wrong unit `iterations`: that is a number of "
                "iterations, a number of updates is expected");
}

TEST_CASE("there must be something to watch, and somewhere to go") {
  check_refused(reacting("{policy: watch}", "policy: bsp, transport: ring", "policy: asp, transport: server"),
                "18:20: error: `policy: watch` has nothing to watch: no phase is `bsp`");
  check_refused(
      reacting("{policy: greedy}", "policy: asp, transport: server", "policy: bsp, transport: ring"),
      "18:20: error: `policy: greedy` has nowhere to go: no `asp` phase follows a `bsp` phase");
}

TEST_CASE("a phase that is left early does not end by time, and coming back has a cost") {
  const std::string by_time = replaced(std::string(good_example), ", share: 75 %", "");
  const std::string greedy =
      replaced(by_time, batching, fmt::format("reaction: {{policy: greedy}}\n{}", batching));
  CHECK(complaint(replaced(greedy, "share: 25 %", "length: 10 min, switch_cost: 30 s"))
            .starts_with("scenario.yaml:16:44: error: a phase that may be left and taken up again cannot end "
                         "by time\n"));
  const LoadedScenario free = load_text(reacting("{policy: greedy}"));
  REQUIRE(free.warnings.size() == 1);
  CHECK(free.warnings[0].find("coming back to this phase after a straggler costs nothing") !=
        std::string::npos);
  const LoadedScenario paid =
      load_text(reacting("{policy: greedy}", "share: 25 %", "share: 25 %, switch_cost: 30 s"));
  CHECK(paid.warnings.empty());
}

TEST_CASE("workers are dropped by the policy or leave by themselves, not both") {
  check_refused(replaced(reacting("{policy: elastic}", "transport: ring", "transport: server"), "jitter:",
                         "heterogeneity: {membership: [{at: 5 s, worker: 1, event: leaves}]}\njitter:"),
                "18:20: error: `policy: elastic` cannot be combined with `heterogeneity.membership`");
}

TEST_CASE("a warning names the keys of other policies") {
  for (const char* unused : {"{policy: fixed, floor: 10 %}", "{policy: watch, probe_every: 5 updates}"}) {
    const LoadedScenario loaded = load_text(reacting(unused));
    CHECK(loaded.warnings.size() == 1);
  }
}

TEST_CASE("an unknown policy in the order of phases is named with its place") {
  CHECK(complaint(replaced(std::string(good_example), "policy: asp", "policy: aps"))
            .starts_with("scenario.yaml:17:14: error: `synchronization.1.policy`: unknown value `aps`\n"));
}

TEST_CASE("a phase may have a sleep besides its switch, and checkpoints of its own cost") {
  const std::string text = replaced(std::string(good_example), "switch_cost: 0.5 s",
                                    "switch_cost: 97 s, switch_sleep: 90 s, checkpoint_cost: 15 s");
  const LoadedScenario loaded = load_text(
      replaced(text, batching, fmt::format("checkpoints: {{every: 5 epochs, cost: 12 s}}\n{}", batching)));
  CHECK(loaded.warnings.empty());
  CHECK(loaded.scenario.synchronization[1].switching.of(WorkerId{0}) == Seconds{187.0});
  CHECK(loaded.scenario.synchronization[1].checkpoint_cost == Seconds{15.0});
  CHECK_FALSE(loaded.scenario.synchronization[0].checkpoint_cost.has_value());
  CHECK(load_text(text).warnings.size() == 1);  // no checkpoints at all
}

TEST_CASE("a detector is not told by batches that change, nor by fewer than three workers") {
  const std::string adjusts =
      replaced(std::string(good_example), batching, fmt::format("reaction: {{policy: watch}}\n{}", batching));
  CHECK(complaint(adjusts).find("would be taken for a straggler") != std::string::npos);
  const std::string two =
      replaced(reacting("{policy: watch}"), ", {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}", "");
  CHECK(complaint(two).find("at least 3 workers are needed") != std::string::npos);
}

}  // namespace paceline::test
