#include "calibrate/measure/planning.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/fit/report.hpp"
#include "calibrate/measure/measure.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/calibrate/fit/synthetic_samples.hpp"

namespace paceline::calibrate {
namespace {

// T(b) = slope · b and memory = 0.2 GB + b · 1 MB; a process starts in 1 s.
Probe probe_of(double slope_s) {
  return {{2, 2.0 * slope_s, 0.202e9}, {6, 6.0 * slope_s, 0.206e9}, 1.0};
}

MeasurementPlan wanted(std::vector<int> cores, std::vector<std::int64_t> batches = {}) {
  return {"test", std::move(cores), std::move(batches), 3, 0.3, 10};
}

constexpr Limits five_minutes{300.0, Bytes{4e9}};

}  // namespace

TEST_CASE("a probe's line gives time and memory of other batches") {
  const Probe probe = probe_of(0.1);
  CHECK(probe.iteration_s(100) == doctest::Approx(10.0));
  CHECK(probe.memory(100).value() == doctest::Approx(0.3e9));
  // A constant time is not extrapolated below what was seen.
  const Probe flat{{2, 0.1, 1e9}, {6, 0.09, 1e9}, 1.0, 10e3};
  CHECK(flat.iteration_s(100) == doctest::Approx(0.1));
  // Memory that does not show it grows by the inputs at least: 1 GB + 10 kB · (100,002 - 2).
  CHECK(flat.memory(100'002).value() == doctest::Approx(2e9));
}

TEST_CASE("a pass costs the start of each process and the time of its points") {
  // 2 core counts · (1 s + 1.2 · 0.3 s at batch 2 + (10 + 3) · 0.1 s · 16 at batch 16)
  CHECK(pass_seconds(wanted({1, 2}, {2, 16}), probe_of(0.002)) ==
        doctest::Approx(2 * (1.0 + 0.36 + 13 * 0.032)));
}

TEST_CASE("a fast network gets every usual batch, nothing left out") {
  const MeasurementPlan plan = fitting_plan(wanted({1, 2}), probe_of(0.0002), five_minutes);
  CHECK(plan.batches == std::vector<std::int64_t>{4, 8, 16, 32, 64, 128, 256});
  CHECK(plan.cores == std::vector<int>{1, 2});
  CHECK(plan.dropped.empty());
  CHECK(plan.minimum_iterations == 10);
}

TEST_CASE("a slow network stays within the budget, and says what it left out") {
  const Probe slow = probe_of(0.3);  // ResNet-50 on one core
  const MeasurementPlan plan = fitting_plan(wanted({1, 2}), slow, five_minutes);
  CHECK(3 * pass_seconds(plan, slow) <= 300.0);
  CHECK(plan.batches.size() >= 3);
  CHECK(plan.minimum_iterations == 3);
  REQUIRE_FALSE(plan.dropped.empty());
  CHECK(plan.dropped[0].starts_with("batch 256: with it, 3 passes would take about"));
}

TEST_CASE("a budget too short for the smallest plan is said, with what that takes") {
  const MeasurementPlan plan = fitting_plan(wanted({1, 2}), probe_of(3.0), {30.0, Bytes{4e9}});
  CHECK(plan.batches == std::vector<std::int64_t>{1, 2, 4});
  // 3 passes · 2 core counts · (1 s + (3 + 1) · 3 s · (2 + 2 + 4)): below the probe's 2 samples time does not
  // fall
  CHECK(plan.dropped.back() ==
        "nothing more: this smallest plan takes about 582 s, longer than the 30 s left");
  CHECK(plan.dropped.size() == 7);  // batches 256, 128, 64, 32, 16 and 8, each named, and the sentence above
}

TEST_CASE("more budget never measures less") {
  std::size_t batches = 0;
  for (const double budget_s : {60.0, 120.0, 300.0, 600.0, 3600.0}) {
    const MeasurementPlan plan = fitting_plan(wanted({1, 2}), probe_of(0.1), {budget_s, Bytes{4e9}});
    CHECK(plan.batches.size() >= batches);
    batches = plan.batches.size();
  }
  CHECK(batches == 7);
}

TEST_CASE("with too many core counts the middle ones go, the ends stay") {
  const MeasurementPlan plan = fitting_plan(wanted({1, 2, 4, 8, 16}), probe_of(0.5), {120.0, Bytes{4e9}});
  CHECK(plan.cores.front() == 1);
  CHECK(plan.cores.back() == 16);
  CHECK(plan.cores.size() < 5);
}

TEST_CASE("a batch beyond the memory is left out when chosen, refused when asked for, before it runs") {
  // 0.2 GB + 256 · 1 MB = 0.456 GB
  const Limits little{300.0, Bytes{0.4e9}};
  const MeasurementPlan plan = fitting_plan(wanted({1}), probe_of(0.0002), little);
  CHECK(plan.batches.back() == 128);
  REQUIRE(plan.dropped.size() == 1);
  CHECK(plan.dropped[0] == "batch 256: it needs about 0.46 GB, of 0.4 GB that may be used");
  CHECK_THROWS_WITH_AS(static_cast<void>(fitting_plan(wanted({1}, {8, 16, 256}), probe_of(0.0002), little)),
                       doctest::Contains("--batches: batch 256 needs about 0.46 GB, but 0.4 GB may be used"),
                       UserError);
  CHECK_THROWS_WITH_AS(static_cast<void>(fitting_plan(wanted({1}), probe_of(0.0002), {300.0, Bytes{0.1e9}})),
                       doctest::Contains("fit into 0.1 GB"), UserError);
}

TEST_CASE("batches the user gave are measured as given") {
  const MeasurementPlan plan = fitting_plan(wanted({1}, {8, 16, 1000}), probe_of(0.3), five_minutes);
  CHECK(plan.batches == std::vector<std::int64_t>{8, 16, 1000});
  CHECK(plan.minimum_iterations == 10);
}

TEST_CASE("the widest interval is Student's, over processes") {
  // One point, logs 0, 0.1, 0.2: sd 0.1, t(0.975, 2) = 4.3027, ± 4.3027 · 0.1/√3
  std::vector<Sample> samples;
  for (int p = 0; p < 3; ++p) samples.push_back({1, 8, p, Operation::forward_backward, {std::exp(0.1 * p)}});
  CHECK(interval_half_width(samples) == doctest::Approx(4.302653 * 0.1 / std::sqrt(3.0)));
  samples.resize(1);
  CHECK(std::isinf(interval_half_width(samples)));
}

TEST_CASE("held-out batches lie between the measured ones") {
  // √(4·8) = 5.66, √(8·16) = 11.3, √(16·32) = 22.6
  CHECK(held_out_batches({4, 8, 16, 32}) == std::vector<std::int64_t>{6, 11, 23});
  CHECK(held_out_batches({1, 2, 3}).empty());
  CHECK(held_out_batches({4, 8, 16, 32, 64, 128, 256}).size() == 4);
  CHECK(held_out_batches({4, 8, 16, 32, 64, 128, 256}).back() == 181);
}

TEST_CASE("held-out core counts are those this machine has, and one between where the law was judged") {
  Profile profile;
  for (const int cores : {1, 4, 16})
    profile.compute.push_back({.cores = cores, .intercept = {}, .slope_per_sample = {}});
  CHECK(held_out_cores(profile, 8) == std::vector<int>{1, 4});
  profile.core_scaling = CoreScalingFit{AmdahlLaw{0.1}, 0.05, 1, 16};
  CHECK(held_out_cores(profile, 16) == std::vector<int>{1, 2, 4, 16});
  CHECK(held_out_cores(profile, 0).empty());
}

TEST_CASE("a profile holds within 5 % on average and 10 % for 95 of 100 points") {
  CHECK(holds({0.05, 0.10}));
  CHECK_FALSE(holds({0.051, 0.10}));
  CHECK_FALSE(holds({0.01, 0.101}));
}

}  // namespace paceline::calibrate
