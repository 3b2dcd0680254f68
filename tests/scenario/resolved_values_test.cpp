// The list of every value with its origin, and text as data.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

constexpr std::string_view shortest = R"(name: short
job: {network: n, profile: p.json, dataset: {train_samples: 1000}, optimizer: {learning_rate: 0.1}}
cluster: {workers: [{cores: 1}], network: {topology: star, bandwidth: 3 Mbit/s, latency: 7 us}}
synchronization: [{policy: asp, transport: server}]
batching: {controller: uniform, initial: 10}
learner: {kind: none}
evaluation: {every: 33 updates}
stop: {epochs: 1.5}
)";

std::vector<std::string> as_overrides(const LoadedScenario& loaded) {
  std::vector<std::string> overrides;
  for (const ResolvedValue& value : loaded.values)
    if (!value.is_absent) overrides.push_back(value.key + "=" + value.value);
  return overrides;
}

std::vector<std::string> keys_and_values(const LoadedScenario& loaded) {
  std::vector<std::string> texts;
  for (const ResolvedValue& value : loaded.values) texts.push_back(value.key + ": " + value.value);
  return texts;
}

TEST_CASE("the shortest scenario prints every default as such") {
  const LoadedScenario loaded = load_text(shortest);
  CHECK(loaded.warnings.empty());
  CHECK(value_of(loaded, "batching.maximum").value == "1024");
  CHECK(value_of(loaded, "batching.maximum").origin == "default");
  CHECK(value_of(loaded, "seed").origin == "default");
  CHECK(value_of(loaded, "evaluation.every").value == "33 updates");
  CHECK(value_of(loaded, "evaluation.every").origin.ends_with("scenario.yaml:7:21"));
  CHECK(value_of(loaded, "job.learning_rate_schedule.milestones").value == "[]");
}

TEST_CASE("a default that follows another key says which, and has its value") {
  const LoadedScenario loaded = load_text(shortest);
  CHECK(value_of(loaded, "cluster.network.server_bandwidth").value == "3 Mbit/s");
  CHECK(value_of(loaded, "cluster.network.server_bandwidth").origin == "default: same as bandwidth");
  CHECK(loaded.scenario.cluster.network.server_bandwidth == loaded.scenario.cluster.network.bandwidth);
}

TEST_CASE("what is absent says what happens instead") {
  const LoadedScenario loaded = load_text(shortest);
  CHECK(value_of(loaded, "jitter.run").is_absent);
  CHECK(value_of(loaded, "jitter.iteration").value == "from the profile");
  CHECK(value_of(loaded, "stop.accuracy").is_absent);
  CHECK_FALSE(loaded.scenario.stop.accuracy.has_value());
}

TEST_CASE("both examples print the same keys, each once") {
  const LoadedScenario loaded = load_text(good_example);
  std::set<std::string> keys;
  for (const ResolvedValue& value : loaded.values) keys.insert(value.key);
  CHECK(keys.size() == loaded.values.size());
  // But for what a policy has alone: the shortest one's first phase is asynchronous.
  keys.insert("synchronization.0.window");
  for (const ResolvedValue& value : load_text(shortest).values) CHECK(keys.contains(value.key));
}

// print(values) read again is a fixed point: no value changes on its way through text.
TEST_CASE("the printed values, given back as overrides, print the same values") {
  for (const std::string_view text : {good_example, shortest}) {
    const LoadedScenario first = load_text(text);
    const LoadedScenario again = load_text(text, as_overrides(first));
    CHECK(keys_and_values(again) == keys_and_values(first));
    for (const ResolvedValue& value : again.values)
      CHECK((value.is_absent || value.origin.starts_with("--set ")));
  }
}

// Names reach shells, gnuplot and CSV later on; here they are text, whatever they hold.
TEST_CASE("quotes, line breaks, backslashes and commands in texts are kept as data") {
  const std::vector<std::pair<const char*, const char*>> written_and_meant{
      {"\"a \\\"quoted\\\" name\"", "a \"quoted\" name"},
      {"'it''s'", "it's"},
      {"\"two\\nlines\"", "two\nlines"},
      {"C:\\temp\\new", "C:\\temp\\new"},
      {"$(rm -rf /) `id` ${HOME}", "$(rm -rf /) `id` ${HOME}"},
      {"\"%s; plot 'x' \\t #\"", "%s; plot 'x' \t #"},
      {"|\n  first\n  second\n", "first\nsecond\n"},
      {"\"null\"", "null"},
      {"' padded '", " padded "},
      {"2024", "2024"},
      {"größer als ∞", "größer als ∞"}};
  for (const auto& [written, meant] : written_and_meant) {
    const LoadedScenario loaded = load_text(replaced(good_example, "quickstart-bsp", written));
    CHECK(loaded.scenario.name == meant);
    const std::string printed = value_of(loaded, "name").value;
    CHECK(load_text(good_example, {"name=" + printed}).scenario.name == meant);
  }
}

// A hostile override or name must not write to the terminal when it is quoted in an error.
TEST_CASE("an error never repeats control characters") {
  const std::string said = complaint(good_example, {"seed=\"\\e[31m\"", "na\x1bme=1", "name=a\nb: [\n"});
  CHECK(said.size() > 0);
  CHECK(std::none_of(said.begin(), said.end(), [](char c) { return c == '\x1b' || c == '\a'; }));
}

}  // namespace
}  // namespace paceline::test
