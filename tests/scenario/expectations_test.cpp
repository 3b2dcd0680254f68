// `expect`: comparisons with a bound, as text.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

std::string expecting(std::string_view expectations) {
  return fmt::format("{}expect: {{{}}}\n", good_example, expectations);
}

void check_refused(std::string_view expectations, std::string_view part) {
  const std::string said = complaint(expecting(expectations));
  INFO(said);
  CHECK(said.find(part) != said.npos);
}

TEST_CASE("every expectation is read with its comparison and its bound in base units") {
  const LoadedScenario loaded =
      load_text(expecting(R"(time_to_accuracy: < 10 min, p_reach: "> 0.9", time_per_epoch: <=30s,
        final_accuracy: ">= 0.7", samples_per_s: ">1e3", staleness: < 8)"));
  const ExpectConfig& expect = loaded.scenario.expect;
  CHECK(expect.time_to_accuracy->bound == 600.0);
  CHECK(expect.time_to_accuracy->comparison == Comparison::below);
  CHECK(expect.p_reach->comparison == Comparison::above);
  CHECK(expect.time_per_epoch->comparison == Comparison::at_most);
  CHECK(expect.time_per_epoch->bound == 30.0);
  CHECK(expect.final_accuracy->comparison == Comparison::at_least);
  CHECK(expect.samples_per_s->bound == 1000.0);
  CHECK(expect.staleness->bound == 8.0);
  CHECK(value_of(loaded, "expect.p_reach").value == "\"> 0.9\"");
  CHECK(value_of(loaded, "expect.p_reach").origin.ends_with(":31:47"));
}

TEST_CASE("nothing is expected unless it is written") {
  const LoadedScenario loaded = load_text(good_example);
  CHECK_FALSE(loaded.scenario.expect.time_per_epoch.has_value());
  CHECK(value_of(loaded, "expect.time_per_epoch").is_absent);
}

TEST_CASE("each comparison holds on its own side of the bound, and at the bound where it says so") {
  const auto at = [](Comparison comparison, double measured) { return holds({comparison, 2.0}, measured); };
  CHECK((at(Comparison::below, 1.9) && !at(Comparison::below, 2.0)));
  CHECK((at(Comparison::at_most, 2.0) && !at(Comparison::at_most, 2.1)));
  CHECK((at(Comparison::above, 2.1) && !at(Comparison::above, 2.0)));
  CHECK((at(Comparison::at_least, 2.0) && !at(Comparison::at_least, 1.9)));
}

TEST_CASE("a missing or unknown comparison, a wrong or missing unit and an impossible bound are refused") {
  check_refused("time_per_epoch: 10 min",
                "scenario.yaml:31:26: error: `expect.time_per_epoch`: `10 min` does not");
  check_refused("time_per_epoch: 10 min", "such as `< 10 min`; a text that begins with `>` needs quotes");
  check_refused("staleness: == 3", "`== 3` does not begin with");
  check_refused("time_per_epoch: < 10 GB", "wrong unit `GB`: that is a size, a duration is expected");
  check_refused("time_per_epoch: < 10", "`10` has no unit");
  check_refused("time_per_epoch: <", "is not a duration");
  check_refused("staleness: < 3 min", "`3 min` is not a number");
  check_refused("p_reach: \"> 1.5\"", "`1.5` is out of range");
  check_refused("time_per_epoch: < -1 s", "is out of range");
  check_refused("speed: < 1", "unknown key `speed` in `expect`");
}

TEST_CASE("a bare `>` is YAML's own, and the hint says so") {
  const std::string said = complaint(fmt::format("{}expect:\n  staleness: > 0.9\n", good_example));
  CHECK(said.find("scenario.yaml:32:") != said.npos);
  CHECK(said.find("needs quotes") != said.npos);
}

TEST_CASE("what the job cannot show cannot be expected of it") {
  const std::string no_target = replaced(expecting(R"(p_reach: "> 0.9")"), ", accuracy: 0.80", "");
  CHECK(complaint(no_target).find("31:19: error: `expect.p_reach` needs a target") != std::string::npos);
  const std::string no_learner =
      replaced(replaced(expecting(R"(final_accuracy: "> 0.9")"), ", accuracy: 0.80", ""), "{kind: network}",
               "{kind: none}");
  CHECK(complaint(no_learner).find("no accuracy to expect") != std::string::npos);
}

TEST_CASE("expectations survive being printed and read again") {
  const LoadedScenario loaded = load_text(expecting(R"(time_per_epoch: < 90 s, p_reach: ">= 0.25")"));
  std::vector<std::string> overrides;
  for (const ResolvedValue& value : loaded.values)
    if (value.key.starts_with("expect.") && !value.is_absent)
      overrides.push_back(value.key + "=" + value.value);
  const LoadedScenario again = load_text(good_example, overrides);
  CHECK(again.scenario.expect.time_per_epoch->bound == 90.0);
  CHECK(again.scenario.expect.p_reach->comparison == Comparison::at_least);
}

}  // namespace
}  // namespace paceline::test
