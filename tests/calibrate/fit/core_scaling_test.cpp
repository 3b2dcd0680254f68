#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/fit/laws.hpp"
#include "sim/base/random.hpp"

namespace paceline::calibrate {
namespace {

// A machine that follows `law` exactly, with noise of coefficient `cv` on each time.
TimeTable table_of(const CoreLaw& law, const std::vector<int>& counts, double cv = 0.0) {
  TimeTable times;
  std::uint32_t stream = 0;
  for (const int cores : counts)
    for (const std::int64_t batch : {8, 32, 128})
      times[cores][batch] = (0.01 + 0.002 * static_cast<double>(batch)) * time_ratio(law, cores) *
                            RandomStream(Seed{}, Purpose::test, stream++).log_normal(1.0, cv);
  return times;
}

const std::vector<int> five_counts = {1, 2, 4, 8, 16};

}  // namespace

TEST_CASE("each law is recognized by its own data, with its coefficients") {
  const std::optional<CoreScalingFit> amdahl = fit_core_scaling(table_of(AmdahlLaw{0.1}, five_counts));
  REQUIRE(amdahl.has_value());
  // The universal law contains Amdahl's: without noise both are right.
  CHECK(amdahl->leave_one_out_error.value() < 1e-9);
  CHECK(time_ratio(amdahl->law, 32) == doctest::Approx(0.1 + 0.9 / 32.0));
  const std::optional<CoreScalingFit> power = fit_core_scaling(table_of(PowerLaw{0.8}, five_counts));
  CHECK(std::get<PowerLaw>(power->law).exponent == doctest::Approx(0.8));
  const std::optional<CoreScalingFit> universal =
      fit_core_scaling(table_of(UniversalLaw{0.05, 0.01}, five_counts));
  CHECK(std::get<UniversalLaw>(universal->law).serial_share == doctest::Approx(0.05));
  CHECK(std::get<UniversalLaw>(universal->law).coherence == doctest::Approx(0.01));
}

TEST_CASE("noise of 1 % leaves the coefficients within a few per cent") {
  const std::optional<CoreScalingFit> fit = fit_core_scaling(table_of(AmdahlLaw{0.1}, five_counts, 0.01));
  CHECK(fit->leave_one_out_error.value() < 0.05);
  CHECK(time_ratio(fit->law, 16) == doctest::Approx(0.1 + 0.9 / 16.0).epsilon(0.05));
}

TEST_CASE("only laws with fewer parameters than core counts compete") {
  CHECK_FALSE(fit_core_scaling(table_of(AmdahlLaw{0.1}, {4})).has_value());
  CHECK(core_law_candidates(table_of(AmdahlLaw{0.1}, {1, 2})).empty());
  CHECK(core_law_candidates(table_of(AmdahlLaw{0.1}, {1, 2, 4})).size() == 2);  // Amdahl and power
  CHECK(core_law_candidates(table_of(AmdahlLaw{0.1}, {1, 2, 4, 8})).size() == 3);
}

TEST_CASE("two core counts give Amdahl's law through both, of unknown error") {
  const std::optional<CoreScalingFit> fit = fit_core_scaling(table_of(AmdahlLaw{0.2}, {1, 2}));
  REQUIRE(fit.has_value());
  CHECK(std::get<AmdahlLaw>(fit->law).serial_share == doctest::Approx(0.2));
  CHECK_FALSE(fit->leave_one_out_error.has_value());
  CHECK(fit->cores_min == 1);
  CHECK(fit->cores_max == 2);
}

TEST_CASE("a law is the same whatever the smallest core count measured") {
  // Ratios are to the time on the smallest count; coefficients are those on one core.
  const std::vector<int> from_two = {2, 4, 8, 16, 32};
  const std::optional<CoreScalingFit> universal =
      fit_core_scaling(table_of(UniversalLaw{0.05, 0.01}, from_two));
  REQUIRE(std::holds_alternative<UniversalLaw>(universal->law));
  CHECK(std::get<UniversalLaw>(universal->law).serial_share == doctest::Approx(0.05));
  CHECK(std::get<UniversalLaw>(universal->law).coherence == doctest::Approx(0.01));
  const std::vector<CoreLawCandidate> candidates = core_law_candidates(table_of(AmdahlLaw{0.2}, {2, 4, 8}));
  CHECK(std::get<AmdahlLaw>(candidates.front().law).serial_share == doctest::Approx(0.2));
  CHECK(std::get<AmdahlLaw>(fit_core_scaling(table_of(AmdahlLaw{0.2}, {2, 4}))->law).serial_share ==
        doctest::Approx(0.2));
}

TEST_CASE("a core law is judged at each count by the law of the others, from the nearest of them") {
  // Power and Amdahl through what is left of 1, 2 and 4 cores (2 and 3 common batches do not matter): times
  // 1, 0.6, 0.5. Amdahl without 1: A + B/2 = 1 and A + B/4 = 5/6 (relative to 2 cores): A = 2/3, B = 2/3;
  // ρ(1)/ρ(2) = 4/3: 0.8 where 1 was measured, 20 %. Without 2: A + B = 1, A + B/4 = 0.5: A = B/2 = 1/3;
  // from 1, the nearest (the smaller): ρ(2)/ρ(1) = 2/3 for 0.6, 11.1 %. Without 4: A + B/2 = 0.6: A = 0.2;
  // from 2: ρ(4)/ρ(2) = 0.4/0.6, 0.4 for 0.5, 20 %.
  TimeTable times;
  for (const std::int64_t batch : {8, 32}) {
    const auto scale = static_cast<double>(batch);
    times[1][batch] = scale;
    times[2][batch] = 0.6 * scale;
    times[4][batch] = 0.5 * scale;
  }
  const std::vector<CoreLawCandidate> candidates = core_law_candidates(times);
  const auto error_of = [&](auto some) -> double {
    for (const CoreLawCandidate& candidate : candidates)
      if (std::holds_alternative<decltype(some)>(candidate.law)) return candidate.leave_one_out_error;
    return -1.0;
  };
  CHECK(error_of(AmdahlLaw{}) == doctest::Approx((0.2 + 1.0 / 9.0 + 0.2) / 3.0));
  // Power: without 1 the exponent is log2(0.6/0.5) = 0.263: 0.6 · 1.2 = 0.72 for 1; without 2 it is 0.5: 1 /
  // √2 for 0.6; without 4 log2(1/0.6): 0.36 for 0.5.
  CHECK(error_of(PowerLaw{}) == doctest::Approx((0.28 + (std::sqrt(0.5) - 0.6) / 0.6 + 0.28) / 3.0));
}

TEST_CASE("time proportional to 1/c is a serial share of 0, not less") {
  // Super-linear: 2 cores are 2.5 times as fast. Amdahl's law allows 2 at most.
  TimeTable times = table_of(AmdahlLaw{0.0}, {1, 2});
  for (auto& [batch, seconds] : times[2]) seconds *= 0.8;
  CHECK(std::get<AmdahlLaw>(fit_core_scaling(times)->law).serial_share == 0.0);
}

}  // namespace paceline::calibrate
