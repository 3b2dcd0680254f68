// How steps vary: noise of single ones and spells, found again in made-up series.
#include "calibrate/logs/step_variation.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"

namespace paceline::calibrate {
namespace {

struct MadeUp {
  double step_s = 0.002;
  double iteration_cv = 0.0;
  Spells spells{0.0, Seconds{0.1}};
};

// Twelve workers for four seconds each; spells begin at a date of their own.
std::vector<std::vector<TimedStep>> made_up(const MadeUp& how) {
  std::vector<std::vector<TimedStep>> all;
  for (std::uint32_t worker = 0; worker < 12; ++worker) {
    RandomStream noise(Seed{5}, Purpose::test, worker);
    const double phase_s = noise.uniform() * how.spells.length.value();
    std::vector<TimedStep>& series = all.emplace_back();
    for (double now_s = 0.0; now_s < 4.0;) {
      const auto spell = static_cast<std::uint64_t>((now_s + phase_s) / how.spells.length.value());
      const double speed =
          RandomStream(Seed{5}, Purpose::spell, worker, spell).log_normal(1.0, how.spells.cv);
      const double took_s = how.step_s / speed * noise.log_normal(1.0, how.iteration_cv);
      now_s += took_s;
      series.push_back({now_s, took_s});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("noise of single steps is no spell") {
  // x independent: no covariance at any distance. 24,000 steps know a cv of 0.2 to 0.2 / sqrt(48,000) =
  // 0.5 %.
  const StepVariation found = step_variation(made_up({.iteration_cv = 0.2}));
  CHECK(!found.spells);
  CHECK(found.iteration_cv == doctest::Approx(0.2).epsilon(0.03));
  CHECK(scenario_words(found) == "iteration: 20 %");
}

TEST_CASE("spells are told from noise, with their length") {
  // 12 · 4 s / 0.1 s = 480 spells: their variance is known to sqrt(2/480) = 6 %, the cv to 3 %; L within a
  // fifth.
  const StepVariation found = step_variation(made_up({.iteration_cv = 0.1, .spells = {0.2, Seconds{0.1}}}));
  REQUIRE(found.spells);
  CHECK(found.spells->cv == doctest::Approx(0.2).epsilon(0.12));
  CHECK(found.spells->length.value() == doctest::Approx(0.1).epsilon(0.2));
  CHECK(found.iteration_cv == doctest::Approx(0.1).epsilon(0.15));
}

TEST_CASE("stalls neither make spells nor hide them") {
  // Every 50th step takes 20 times as long: beyond three times the median, left out.
  std::vector<std::vector<TimedStep>> series = made_up({.iteration_cv = 0.1, .spells = {0.2, Seconds{0.1}}});
  for (std::vector<TimedStep>& one : series)
    for (std::size_t i = 0; i < one.size(); i += 50) one[i].took_s *= 20.0;
  const StepVariation found = step_variation(series);
  REQUIRE(found.spells);
  CHECK(found.spells->cv == doctest::Approx(0.2).epsilon(0.15));
  CHECK(found.iteration_cv == doctest::Approx(0.1).epsilon(0.15));
}

TEST_CASE("spells leave a part of their variance to a mean, the less the longer it is") {
  // σ² = ln(1 + cv²). Over ten lengths σ²·(1/10 − 1/300); over one σ²·(1 − 1/3), which both formulas give;
  // over a fifth of one σ²·(1 − 1/15).
  const Spells spells{.cv = 0.2, .length = Seconds{0.1}};
  const double variance = std::log(1.04);
  CHECK(variance_of_mean(spells, Seconds{1.0}) == doctest::Approx(variance * (0.1 - 1.0 / 300.0)));
  CHECK(variance_of_mean(spells, Seconds{0.1}) == doctest::Approx(variance * 2.0 / 3.0));
  CHECK(variance_of_mean(spells, Seconds{0.02}) == doctest::Approx(variance * 14.0 / 15.0));
  CHECK(variance_of_mean(std::nullopt, Seconds{1.0}) == 0.0);
}

TEST_CASE("what rows and columns leave of logarithms is what differs between workers of one run") {
  // Worker 1 takes e² times as long, pass 1 e times; beside that one of four is e^0.4 times off: residuals
  // are ± 0.1, and (2 − 1)·(2 − 1) is free.
  const Residuals residuals = log_residuals({{1.0, std::exp(1.0)}, {std::exp(2.0), std::exp(3.4)}});
  CHECK(residuals.freedom == 1);
  CHECK(residuals.squares == doctest::Approx(4.0 * 0.01));
  Residuals both = residuals;
  both += Residuals{.squares = 0.06, .freedom = 4};
  CHECK(both.variance() == doctest::Approx(0.1 / 5.0));
  CHECK(Residuals{}.variance() == 0.0);
  CHECK(log_residuals({{1.0, 2.0, 3.0}}).freedom == 0);  // one worker tells nothing of it
}

TEST_CASE("too few steps say nothing") {
  const StepVariation found = step_variation({{{0.1, 0.1}, {0.2, 0.1}}});
  CHECK(!found.spells);
  CHECK(found.iteration_cv == 0.0);
}

TEST_CASE("two lengths of step tell the part of their variation that does not grow with them") {
  // c = 5 % and s = 60 us: of 1 ms σ² = 0.0025 + 0.0036, of 0.4 ms 0.0025 + 0.0225. Both have spells of 10 %.
  const auto varied = [](double log_variance) {
    return StepVariation{.iteration_cv = std::sqrt(std::expm1(log_variance)),
                         .spells = Spells{0.1, Seconds{0.2}}};
  };
  const StepVariation found = by_length(varied(0.0061), Seconds{1e-3}, varied(0.025), Seconds{0.4e-3});
  CHECK(std::log1p(found.iteration_cv * found.iteration_cv) == doctest::Approx(0.0025));
  CHECK(found.iteration_fixed.value() == doctest::Approx(60e-6));
  REQUIRE(found.spells.has_value());
  CHECK(found.spells->cv == 0.1);
  CHECK(scenario_words(found) ==
        "iteration: 5 %, iteration_fixed: 60 us, spells: {variation: 10 %, length: 200 ms}");
}

TEST_CASE(
    "steps that vary less the shorter they are have no fixed part, and none has less than nothing else") {
  const StepVariation steady{.iteration_cv = 0.1};
  const StepVariation found = by_length(steady, Seconds{1e-3}, {.iteration_cv = 0.05}, Seconds{0.5e-3});
  CHECK(found.iteration_cv == doctest::Approx(0.1));
  CHECK(found.iteration_fixed == Seconds{});
  // 100 us of 1 ms, but 200 us of half of that: sqrt((0.1² + 0.2²) / 2) ms, and nothing that grows.
  const auto share = [](double cv) { return StepVariation{.iteration_cv = std::sqrt(std::expm1(cv * cv))}; };
  const StepVariation fixed = by_length(share(0.1), Seconds{1e-3}, share(0.4), Seconds{0.5e-3});
  CHECK(fixed.iteration_cv == 0.0);
  CHECK(fixed.iteration_fixed.value() == doctest::Approx(std::sqrt(0.5 * (0.01 + 0.04)) * 1e-3));
}

TEST_CASE("what is explained is taken off the variance of single steps, down to nothing") {
  const auto share = [](double cv) { return std::sqrt(std::expm1(cv * cv)); };
  const StepVariation varied{.iteration_cv = share(0.05), .spells = Spells{0.1, Seconds{0.2}}};
  const StepVariation left = less(varied, {.iteration_cv = share(0.03)});
  CHECK(left.iteration_cv == doctest::Approx(share(0.04)));
  CHECK(left.spells->cv == 0.1);
  CHECK(
      less(varied, {.iteration_cv = share(0.03), .spells = Spells{share(0.04), Seconds{1.0}}}).iteration_cv ==
      doctest::Approx(0.0));
}

}  // namespace paceline::calibrate
