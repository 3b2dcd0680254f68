#include "kernels/data/built_in_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/kernels/training_emulation.hpp"

using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::test;

TEST_CASE("asking for more samples keeps the first ones") {
  const TrainAndTest small = generate_built_in_images(5, 3);
  const TrainAndTest large = generate_built_in_images(9, 6);
  CHECK(large.train.sample_count() == 9);
  CHECK(large.test.sample_count() == 6);
  for (std::uint32_t i = 0; i < 5; ++i) {
    CHECK(small.train.label(i) == large.train.label(i));
    CHECK(std::ranges::equal(small.train.bytes(i), large.train.bytes(i)));
  }
}

TEST_CASE("training and test images are different images") {
  const TrainAndTest data = generate_built_in_images(20, 20);
  for (std::uint32_t i = 0; i < 20; ++i) {
    CHECK_FALSE(std::ranges::equal(data.train.bytes(i), data.test.bytes(i)));
  }
}

TEST_CASE("classes are equally likely") {
  // n = 2000, p = 0.1: 200 ± 13.4 per class; five sd
  const TrainAndTest data = generate_built_in_images(2000, 1);
  std::array<int, 10> counts{};
  for (std::uint32_t i = 0; i < data.train.sample_count(); ++i) ++counts[data.train.label(i)];
  for (const int count : counts) CHECK(std::abs(count - 200) < 67);
}

TEST_CASE("normalized pixels are (byte / 255 - 0.5) / 0.15 in the order asked for") {
  const TrainAndTest data = generate_built_in_images(3, 1);
  Batch batch;
  data.train.fill(batch, std::array{2U, 0U});
  CHECK(batch.labels[0] == data.train.label(2));
  CHECK(batch.labels[1] == data.train.label(0));
  const double expected = (data.train.bytes(0)[7] / 255.0 - 0.5) / 0.15;
  CHECK(static_cast<double>(batch.pixels[static_cast<std::size_t>(image_values) + 7]) ==
        doctest::Approx(expected).epsilon(1e-4));
}

// The measurement of kernels/data/built_in_images.hpp in short: 3 seeds instead of 10, and no wait for the
// ceiling of 0.774 that the long measurement found.
TEST_CASE("acceptance: BSP needs 300 updates to 80 % of the ceiling, and ASP ends more than 2 sd away") {
  constexpr double target = 0.8 * 0.774;
  constexpr std::int64_t workers = 8;
  std::vector<double> updates_to_target;
  std::vector<double> bsp_end;
  std::vector<double> asp_end;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    EmulationConfig config{.seed = seed, .workers = workers, .gradients = 4000, .evaluate_every = 80};
    const std::vector<CurvePoint> bsp = emulate_training(config);
    const auto reached = std::ranges::find_if(
        bsp, [&](const CurvePoint& point) { return point.evaluation.accuracy >= target; });
    REQUIRE(reached != bsp.end());
    updates_to_target.push_back(static_cast<double>(reached->gradients / workers));
    bsp_end.push_back(bsp.back().evaluation.accuracy);
    config.synchronization = "asp";
    config.evaluate_every = config.gradients;
    asp_end.push_back(emulate_training(config).back().evaluation.accuracy);
  }
  CHECK(summarize(updates_to_target).mean >= 300);
  const MeanAndDeviation bsp = summarize(bsp_end);
  const MeanAndDeviation asp = summarize(asp_end);
  CHECK(std::abs(bsp.mean - asp.mean) > 2 * std::max(bsp.deviation, asp.deviation));
}
