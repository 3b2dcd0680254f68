// Keys that are read and change nothing get a warning at their place; where they do something, none.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"
#include "tests/support/text.hpp"

namespace paceline::test {
namespace {

using Changes = std::vector<std::pair<const char*, std::string>>;

std::string warnings_of(const Changes& changes) {
  std::string text(good_example);
  for (const auto& [from, to] : changes) text = replaced(text, from, to);
  std::string all;
  for (const std::string& warning : load_text(text).warnings) all += warning + "\n";
  return all;
}

const char* const both_phases =
    "  - {policy: bsp, transport: ring, share: 25 %}\n"
    "  - {policy: asp, transport: server, share: 75 %, switch_cost: 0.5 s}\n";

TEST_CASE("what a statistical learner leaves to its recorded runs gets a warning at its place") {
  const Changes statistical{{"{kind: network}", "{kind: statistical, model: some.json}"},
                            {"nesterov: false", "nesterov: true"}};
  const std::string said = warnings_of(statistical);
  CAPTURE(said);
  for (const char* key : {"nesterov", "weight_decay", "momentum_at", "batch_norm"})
    CHECK(contains(said, fmt::format("`{}` has no effect", key).c_str()));
  CHECK(contains(said, "scenario.yaml:10:"));
  CHECK_FALSE(contains(warnings_of({{"nesterov: false", "nesterov: true"}}), "has no effect"));
}

TEST_CASE("a weighting where every update is one gradient has no effect") {
  const char* const no_weighing = "`weighting` has no effect";
  CHECK(contains(warnings_of({{both_phases, "  - {policy: asp, transport: server}\n"}}), no_weighing));
  CHECK_FALSE(contains(warnings_of({}), no_weighing));
  CHECK_FALSE(contains(warnings_of({{both_phases, "  - {policy: bsp, transport: ring}\n"}}), no_weighing));
}

TEST_CASE("where all phases train locally, momentum has its place: at the workers") {
  const auto said = [](const char* phases) { return warnings_of({{both_phases, phases}}); };
  const char* const no_place = "`momentum_at` has no effect: every worker that trains locally";
  CHECK(contains(said("  - {policy: bsp, transport: ring, local: {steps: 4}}\n"), no_place));
  CHECK_FALSE(contains(said("  - {policy: bsp, transport: ring}\n"), no_place));
}

TEST_CASE("what nothing in local training, or in a policy, follows gets a warning at its value") {
  const auto said = [](std::string phase) {  // ^ stands before the value
    const std::size_t place = phase.find('^');
    phase.erase(place, 1);
    const std::string at = fmt::format("scenario.yaml:16:{}: warning: ", 6 + place);
    const std::string all = warnings_of({{both_phases, "  - {" + phase + "}\n"}});
    const std::size_t found = all.find(at);
    return found == std::string::npos ? "" : all.substr(found + at.size());
  };
  CHECK(said("policy: bsp, transport: ring, staleness_weight: ^inverse")
            .starts_with("`staleness_weight` has no effect: under `policy: bsp` no gradient is stale"));
  CHECK(said("policy: k-sync, transport: server, gradients: 2, staleness_weight: ^inverse")
            .starts_with("`staleness_weight` has no effect: under `policy: k-sync`"));
  CHECK(said("policy: ssp, transport: server, staleness: 2, staleness_weight: ^inverse").empty());
  CHECK(said("policy: asp, transport: server, local: {steps: 4, outer: {momentum_between: ^0.1}}")
            .starts_with("`momentum_between` is not used: the velocity moves with every difference"));
  // 163,840 samples are 1,280 steps of 4 workers with batches of 32.
  CHECK(said("policy: bsp, transport: ring, local: {steps: ^1280}").empty());
  CHECK(said("policy: bsp, transport: ring, local: {steps: ^1281}")
            .starts_with("the job ends with the first exchange: it has 163840 samples, and 1281 steps of all "
                         "workers are 163968"));
}

TEST_CASE("a key that another takes its effect gets a warning, unless it was left behind by an override") {
  const auto of = [](const std::vector<std::string>& overrides) {
    std::string all;
    for (const std::string& warning : load_text(std::string(good_example), overrides).warnings)
      all += warning;
    return all;
  };
  // The base says `bandwidth`; whoever overrides the topology leaves it behind on purpose.
  std::string edges;
  for (const char* node : {"a", "b", "c", "d"})
    edges += std::string("{from: ") + node + ", to: e, bandwidth: 1 Gbit/s, latency: 1 us}, ";
  const std::string graph =
      "cluster.network={topology: graph, nodes: [a, b, c, d, e], worker_nodes: [a, b, c, d], server_nodes: "
      "[e], "
      "edges: [" +
      edges + "]}";
  CHECK(of({graph}).empty());
  CHECK(contains(of({graph, "cluster.network.bandwidth=1 Gbit/s"}), "`bandwidth` is only used with"));
  CHECK(contains(of({"batching.controller=uniform", "batching.maximum=128"}), "`maximum` has no effect"));
  CHECK_FALSE(contains(of({"batching.controller=uniform"}), "maximum"));
  CHECK_FALSE(contains(of({"batching={controller: uniform, initial: 16, maximum: 128}"}), "maximum"));
  CHECK(contains(of({"learner={kind: statistical, model: some.json}", "job.optimizer.weight_decay=0.1"}),
                 "`weight_decay` has no effect"));
  CHECK(contains(of({"learner={kind: none}", "stop={epochs: 20}", "job.optimizer.learning_rate=0.2"}),
                 "`learning_rate` has no effect"));
  CHECK(contains(of({"coordination={round_trips: 2}"}), "`round_trips` has no effect"));
}

TEST_CASE("a change after the end of the job gets a warning at its moment") {
  const auto with_level = [](const std::string& at) {
    return warnings_of(
        {{"jitter:", "heterogeneity: {schedule: [{at: " + at + ", workers: [0], speed: [0.5]}]}\njitter:"}});
  };
  CHECK(contains(with_level("20 epochs"), "this never happens: the job ends at epoch 20"));
  CHECK(contains(with_level("100 %"), "this never happens: the job ends at epoch 20"));
  CHECK(with_level("19 epochs").empty());
}

}  // namespace
}  // namespace paceline::test
