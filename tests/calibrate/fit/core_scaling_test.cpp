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

TEST_CASE("time proportional to 1/c is a serial share of 0, not less") {
  // Super-linear: 2 cores are 2.5 times as fast. Amdahl's law allows 2 at most.
  TimeTable times = table_of(AmdahlLaw{0.0}, {1, 2});
  for (auto& [batch, seconds] : times[2]) seconds *= 0.8;
  CHECK(std::get<AmdahlLaw>(fit_core_scaling(times)->law).serial_share == 0.0);
}

}  // namespace paceline::calibrate
