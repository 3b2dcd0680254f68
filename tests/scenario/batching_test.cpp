// Batch controllers in a scenario: what they need, what they refuse.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

using Changes = std::vector<std::pair<const char*, std::string>>;

std::string changed(const Changes& changes) {
  std::string text(good_example);
  for (const auto& [from, to] : changes) text = replaced(text, from, to);
  return text;
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* workers_text =
    "[{cores: 2}, {cores: 1}, {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}]";

TEST_CASE("every batch controller is a word, and `published` is the dynamic one") {
  for (const char* word : {"dynamic", "published", "proportional-repair", "lb-bsp"}) {
    CAPTURE(word);
    CHECK(complaint(changed({{"controller: dynamic", fmt::format("controller: {}", word)}})).empty());
  }
  const LoadedScenario loaded = load_text(changed({{"controller: dynamic", "controller: published"}}));
  CHECK(loaded.scenario.batching.controller == "dynamic");
}

TEST_CASE("batches are adjusted every so many iterations or epochs") {
  const LoadedScenario loaded =
      load_text(changed({{"adjust_every: 10 iterations", "adjust_every: 0.5 epochs"}}));
  CHECK(loaded.scenario.batching.controller.parameters().value("adjust_every") == plain_of(EveryEpochs{0.5}));
  CHECK(has(complaint(changed({{"adjust_every: 10 iterations", "adjust_every: 1.5 iterations"}})),
            "a whole number of iterations"));
}

TEST_CASE("a controller's former word is refused with the new one") {
  const std::string said = complaint(changed({{"controller: dynamic", "controller: released"}}));
  CHECK(has(said, "error: `batching.controller`: unknown value `released`\n"));
  CHECK(has(said, "hint: it is now called `omnilearn-code`\n"));
}

TEST_CASE("omnilearn-code adjusts at epochs, and knows bsp and asp only") {
  const std::string said = complaint(changed({{"controller: dynamic", "controller: omnilearn-code"}}));
  CHECK(has(said, "error: `batching.adjust_every`: "));
  CHECK(has(
      complaint(changed({{"controller: dynamic", "controller: omnilearn-code"},
                         {"adjust_every: 10 iterations", "adjust_every: 1 epochs"},
                         {"policy: bsp, transport: ring", "policy: ssp, staleness: 2, transport: server"}})),
      "is defined for bsp and asp only"));
}

TEST_CASE("a warning names the place of a dead-band of 0 with jitter") {
  const LoadedScenario loaded = load_text(changed({{"dead_band: 0.05", "dead_band: 0"}}));
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(has(loaded.warnings[0], ": warning: a dead-band of 0 with jitter"));
  const LoadedScenario still =
      load_text(changed({{"dead_band: 0.05", "dead_band: 0"}}), {"jitter.iteration=0 %"});
  CHECK(still.warnings.empty());
}

TEST_CASE("a level that needs more cores than the machine has is refused at its place") {
  const std::string machine = "\n  machines: [{cores: 6, workers: [0, 1, 2, 3]}]";
  const std::string text = changed({{workers_text, workers_text + machine}});
  CHECK(complaint(text).empty());
  const std::string said =
      complaint(text + "heterogeneity:\n  schedule: [{at: 1 epochs, cores: [4, 1, 1, 1]}]\n");
  CHECK(has(said, "error: the workers of machine 0 need 7 cores, and it has 6"));
  CHECK(has(said, "schedule: [{at: 1 epochs, cores: [4, 1, 1, 1]}]"));
  CHECK(has(complaint(changed({{workers_text, std::string(workers_text) +
                                                  "\n  machines: [{cores: 4, workers: [0, 1, 2, 3]}]"}})),
            "error: the workers of machine 0 need 5 cores, and it has 4"));
  CHECK(has(complaint(changed({{workers_text, std::string(workers_text) +
                                                  "\n  machines: [{cores: 8, workers: [0, 1]}, {cores: 8, "
                                                  "workers: [1, 2]}]"}})),
            "a worker runs on two machines"));
}

TEST_CASE("workers may share the cores of a machine that says so, and nothing else is then asked of them") {
  const auto with = [](const std::string& machines) {
    return changed({{workers_text, std::string(workers_text) + "\n  machines: [" + machines + "]"}});
  };
  // Five cores' worth of workers on two: refused, unless they share; all workers where none is named.
  CHECK(has(complaint(with("{cores: 2}")), "`shared: true` lets them share"));
  CHECK(complaint(with("{cores: 2, shared: true}")).empty());
  CHECK(complaint(with("{cores: 2, shared: true, speeds: [1, 0.72], servers: true}")).empty());
  CHECK(has(complaint(with("{cores: 1, shared: true}")), "needs 2 cores, and machine 0 has 1"));
  CHECK(has(complaint(with("{cores: 2, shared: true, turns: {length: 3 ms}}")),
            "has 2 cores, and processes take turns on machine 0 with one each"));
  CHECK(complaint(with("{cores: 2, shared: true, turns: {length: 3 ms, servers_first: true}, workers: [2]}"))
            .empty());
  CHECK(has(complaint(with("{cores: 2, shared: true, turns: {length: 0 s}, workers: [2]}")), "length"));
  // Speeds are relative to a process that is alone.
  CHECK(has(complaint(with("{cores: 2, shared: true, speeds: [0.9, 0.7]}")),
            "error: the first speed is 0.9, and has to be 1"));
  CHECK(has(complaint(with("{cores: 2, shared: true, speeds: [1, 0]}")), "speeds"));
  CHECK(has(complaint(with("{cores: 2, shared: true, speeds: [1, 0.7, 0.8]}")),
            "error: 3 busy processes would be faster than 2: 0.8 after 0.7"));
  CHECK(complaint(with("{cores: 2, shared: true, speeds: [1, 1, 0.667, 0.5]}")).empty());
  CHECK(has(
      complaint(with("{cores: 2, shared: true, speeds: [1, 1, 0.9]}")),
      "error: 3 busy processes share 2 cores: each gets 0.667 of one, and cannot go on at 0.9 of its speed"));
  // Keys that mean nothing where nothing is shared, and servers that are in two places.
  const LoadedScenario loaded = load_text(with("{cores: 8, speeds: [1, 0.7]}"));
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(has(loaded.warnings[0], "`speeds` is only used with `shared: true`"));
  CHECK(
      has(complaint(with("{cores: 2, shared: true, workers: [0, 1], servers: true}, {cores: 2, shared: true, "
                         "workers: [2], servers: true}")),
          "the servers run on two machines"));
  CHECK(has(complaint(with("{cores: 2, shared: true}, {cores: 2, shared: true, workers: [1]}")),
            "a worker runs on two machines"));
}

TEST_CASE("shards need at least one sample for every worker") {
  const std::string said =
      complaint(changed({{"train_samples: 8192", "train_samples: 3, partition: equal-shards"}}));
  CHECK(has(said, "error: 3 training samples do not make 4 shards"));
}

TEST_CASE("shares by flop/s need the flop/s of every worker") {
  const std::string said = complaint(changed(
      {{"controller: dynamic", "controller: static"}, {"initial: 32", "initial: 32\n  shares: flops"}}));
  CHECK(has(said, "error: `batching.shares: flops` needs `flops` of every worker"));
  CHECK(has(complaint(changed({{workers_text, "[{cores: 2, flops: 3 GB}]"}})), "wrong unit `GB`"));
}

}  // namespace
}  // namespace paceline::test
