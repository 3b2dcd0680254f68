#include "sim/cost/compute_law.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cost/compute_time.hpp"
#include "tests/support/relative_difference.hpp"

namespace paceline {
namespace {

constexpr double law_rounding = 1e-12;

Profile scaled_profile() {
  Profile profile;
  profile.path = "test.json";
  profile.network = "small-cnn";
  profile.compute = {
      {1, Seconds{0.004}, Seconds{0.001}, 0.0, 8, 512, Seconds{0.0002}, BatchKnee{64.0, Seconds{0.0005}}},
      {4, Seconds{0.002}, Seconds{0.0004}, 0.0, 8, 512, Seconds{0.0001}}};
  profile.core_scaling = CoreScalingFit{AmdahlLaw{0.2}, std::nullopt, 1, 4};
  ProfileDraw low;
  low.compute = {{1, Seconds{0.003}, Seconds{0.0009}}, {4, Seconds{0.0015}, Seconds{0.0003}}};
  ProfileDraw high;
  high.compute = {{1, Seconds{0.005}, Seconds{0.0011}}, {4, Seconds{0.0025}, Seconds{0.0005}}};
  profile.ensemble = {low, high};
  return profile;
}

}  // namespace

TEST_CASE("the core laws are Amdahl's, a power, and the universal scalability law") {
  CHECK(time_ratio(AmdahlLaw{0.2}, 4) == doctest::Approx(0.2 + 0.8 / 4.0));
  CHECK(time_ratio(PowerLaw{0.5}, 16) == doctest::Approx(0.25));
  // (1 + 0.1·3 + 0.02·4·3) / 4
  CHECK(time_ratio(UniversalLaw{0.1, 0.02}, 4) == doctest::Approx(1.54 / 4.0));
  for (const CoreLaw& law :
       {CoreLaw{AmdahlLaw{0.3}}, CoreLaw{PowerLaw{0.7}}, CoreLaw{UniversalLaw{0.1, 0.1}}})
    CHECK(time_ratio(law, 1) == 1.0);
}

TEST_CASE("beyond the knee each sample takes the extra slope more, at the worker's speed") {
  const ComputeTimes times(scaled_profile(), {{.cores = 1, .speed = 0.5}}, Jitter{}, Seed{});
  // (4 ms + 64 · 1 ms) / 0.5; beyond: + 36 · 1.5 ms / 0.5
  CHECK(test::relative_difference(times.mean_iteration(WorkerId{0}, 64).value(), 0.136) < law_rounding);
  CHECK(test::relative_difference(times.mean_iteration(WorkerId{0}, 100).value(), 0.244) < law_rounding);
  CHECK(test::relative_difference(law_seconds(scaled_profile().compute[0], 100.0).value(), 0.122) <
        law_rounding);
}

TEST_CASE("a count that was not measured is scaled from the nearest one, and said") {
  const Profile profile = scaled_profile();
  // Nearest to 8 is 4: ρ(8)/ρ(4) = (0.2 + 0.1)/(0.2 + 0.2) = 0.75
  const ComputeFit fit = fit_for_cores(profile, 8).value();
  CHECK(test::relative_difference(fit.intercept.value(), 0.75 * 0.002) < law_rounding);
  CHECK(test::relative_difference(fit.slope_per_sample.value(), 0.75 * 0.0004) < law_rounding);
  CHECK(test::relative_difference(fit.optimizer_step.value(), 0.75 * 0.0001) < law_rounding);
  // Nearest to 2 is 1, with its knee: ρ(2) = 0.6
  CHECK(test::relative_difference(fit_for_cores(profile, 2)->knee->extra_slope.value(), 0.6 * 0.0005) <
        law_rounding);
  CHECK(core_law_notes(profile, {1, 4}).empty());
  const std::vector<std::string> notes = core_law_notes(profile, {8, 2, 8});
  REQUIRE(notes.size() == 2);
  CHECK(
      notes[0] ==
      "2 cores: interpolated from the amdahl law fitted on 1 to 4 cores, of unknown error: it was fitted on "
      "fewer than 3 counts");
  CHECK(notes[1].starts_with("8 cores: extrapolated"));
}

TEST_CASE("a profile corrected by another loop says so, with a core law or without") {
  Profile profile = scaled_profile();
  profile.correction = ProfileCorrection{1.2, Seconds{}, "by a factor of 1.2, from 90 steps of train.log"};
  const std::vector<std::string> notes = core_law_notes(profile, {1});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].ends_with("times are corrected by a factor of 1.2, from 90 steps of train.log"));
  profile.core_scaling.reset();
  CHECK(core_law_notes(profile, {1}) == notes);
}

TEST_CASE("without a core law only measured counts are answered") {
  Profile profile = scaled_profile();
  profile.core_scaling.reset();
  CHECK(fit_for_cores(profile, 4).has_value());
  CHECK_FALSE(fit_for_cores(profile, 2).has_value());
}

TEST_CASE("a draw is one member of the ensemble, the same for equal seeds, and all members occur") {
  const Profile profile = scaled_profile();
  int low = 0;
  constexpr std::uint32_t count = 1000;
  for (std::uint32_t replication = 0; replication < count; ++replication) {
    const Profile drawn = drawn_profile(profile, {1, 4}, Seed{7, replication});
    const bool is_low = drawn.compute[0].intercept == Seconds{0.003};
    low += is_low ? 1 : 0;
    REQUIRE(drawn.compute[1].intercept == Seconds{is_low ? 0.0015 : 0.0025});  // of the same member
    REQUIRE_FALSE(drawn.compute[0].knee.has_value());
    REQUIRE(drawn.compute[0].optimizer_step == Seconds{0.0002});
  }
  CHECK(std::abs(low - 500) < 4 * 16);  // binomial sd √(1000/4) = 16
  CHECK(drawn_profile(profile, {1}, Seed{7, 3}).compute[0].intercept ==
        drawn_profile(profile, {4}, Seed{7, 3}).compute[0].intercept);
}

TEST_CASE("a count without a measurement is drawn wider: 10 % for each doubling of the cores") {
  const Profile profile = scaled_profile();
  double sum = 0.0;
  double squares = 0.0;
  constexpr std::uint32_t count = 4000;
  for (std::uint32_t replication = 0; replication < count; ++replication) {
    const Profile drawn = drawn_profile(profile, {16}, Seed{7, replication});
    const ComputeFit* at4 = drawn.find(4);
    const ComputeFit* at16 = drawn.find(16);
    REQUIRE(at16 != nullptr);
    const double log = std::log(at16->intercept / at4->intercept);
    sum += log;
    squares += log * log;
  }
  // From 4 to 16 are 2 doublings: sd 0.2; standard error 1/√(2·4000) = 1.1 %.
  const double mean = sum / count;
  CHECK(std::sqrt(squares / count - mean * mean) == doctest::Approx(0.2).epsilon(0.05));
  // ρ(16)/ρ(4) = 0.25/0.4
  CHECK(mean == doctest::Approx(std::log(0.625)).epsilon(0.03));
}

TEST_CASE("a profile without an ensemble cannot be drawn from, and says how to get one") {
  Profile profile = scaled_profile();
  profile.ensemble.clear();
  CHECK_THROWS_WITH_AS(static_cast<void>(drawn_profile(profile, {1}, Seed{})),
                       doctest::Contains("test.json holds no ensemble of parameters"), UserError);
}

}  // namespace paceline
