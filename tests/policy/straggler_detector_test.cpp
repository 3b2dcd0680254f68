// Who straggles: throughputs in round numbers. Every iteration has 10 samples; a healthy one takes 1 s: 10
//                samples/s.
#include "sim/policy/switching/straggler_detector.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

constexpr DetectionConfig config{.window_iterations = 2, .consecutive_windows = 3, .floor = 0.1};

std::vector<WorkerId> workers(std::size_t count) {
  std::vector<WorkerId> ids;
  for (std::uint64_t w = 0; w < count; ++w) ids.push_back(WorkerId{w});
  return ids;
}

// One window, in which each worker's iterations take so many seconds; returns the judgements.
std::vector<Judgement> window(StragglerDetector& detector, const std::vector<double>& seconds) {
  std::vector<Judgement> judged;
  for (std::int64_t i = 0; i < config.window_iterations; ++i)
    for (std::uint64_t w = 0; w < seconds.size(); ++w) {
      CHECK(judged.empty());
      judged = detector.on_iteration(WorkerId{w}, 10, Seconds{seconds[w]});
    }
  REQUIRE(judged.size() == seconds.size());
  return judged;
}

std::vector<bool> straggling(const std::vector<Judgement>& judged) {
  std::vector<bool> result;
  for (const Judgement& judgement : judged) result.push_back(judgement.is_straggler);
  return result;
}

StragglerDetector watching(std::size_t count) {
  StragglerDetector detector(config, count);
  detector.watch(workers(count), 0);
  return detector;
}

const std::vector<bool> nobody{false, false, false, false};
const std::vector<bool> the_third{false, false, true, false};

}  // namespace

TEST_CASE("three slow windows in a row make a straggler, three others end that") {
  StragglerDetector detector = watching(4);
  CHECK(straggling(window(detector, {1, 1, 1, 1})) == nobody);
  // One slow window after the other, then a calm one: the count begins anew.
  for (int i = 0; i < 2; ++i) CHECK(straggling(window(detector, {1, 1, 2, 1})) == nobody);
  CHECK(straggling(window(detector, {1, 1, 1, 1})) == nobody);
  for (int i = 0; i < 2; ++i) CHECK(straggling(window(detector, {1, 1, 2, 1})) == nobody);
  for (int i = 0; i < 3; ++i) CHECK(straggling(window(detector, {1, 1, 2, 1})) == the_third);
  for (int i = 0; i < 2; ++i) CHECK(straggling(window(detector, {1, 1, 1, 1})) == the_third);
  CHECK(straggling(window(detector, {1, 1, 1, 1})) == nobody);
}

TEST_CASE("a judgement says what it rests on") {
  // Throughputs 10, 10, 5, 10: mean 8.75; deviations 1.25, 1.25, -3.75, 1.25: sd = √(75/16) = 2.165.
  StragglerDetector detector = watching(4);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  const std::vector<Judgement> judged = window(detector, {1, 1, 2, 1});
  CHECK(judged[2].throughput == 5.0);
  CHECK(judged[2].baseline == 10.0);
  CHECK(judged[2].cluster_mean == 8.75);
  CHECK(judged[2].cluster_deviation == doctest::Approx(std::sqrt(75.0 / 16.0)));
  CHECK(judged[2].is_slow);
  CHECK_FALSE(judged[0].is_slow);
}

TEST_CASE("who is within the floor of its own usual is not slow, however far below the others") {
  // 8 % slower than usual, and by far the slowest: the cluster rule alone would flag it.
  StragglerDetector detector = watching(4);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  for (int i = 0; i < 5; ++i) CHECK(straggling(window(detector, {1, 1, 1 / 0.92, 1})) == nobody);
}

TEST_CASE("a machine that is always slower is no straggler") {
  StragglerDetector detector = watching(4);
  for (int i = 0; i < 8; ++i) CHECK(straggling(window(detector, {1, 1, 3, 1})) == nobody);
}

TEST_CASE("when all become slower together, nobody straggles") {
  StragglerDetector detector = watching(4);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  for (int i = 0; i < 5; ++i) CHECK(straggling(window(detector, {2, 2, 2, 2})) == nobody);
}

TEST_CASE("a window waits for every watched worker, and for nobody else") {
  StragglerDetector detector(config, 3);
  detector.watch(workers(2), 0);
  for (int i = 0; i < 5; ++i) CHECK(detector.on_iteration(WorkerId{0}, 10, Seconds{1}).empty());
  for (int i = 0; i < 5; ++i) CHECK(detector.on_iteration(WorkerId{2}, 10, Seconds{1}).empty());
  CHECK(detector.on_iteration(WorkerId{1}, 10, Seconds{1}).empty());
  const std::vector<Judgement> judged = detector.on_iteration(WorkerId{1}, 10, Seconds{1});
  REQUIRE(judged.size() == 2);
  CHECK(judged[0].throughput == 10.0);
}

TEST_CASE("a straggler remains one in another phase in which everybody is twice as fast, until it is well") {
  // Phase 0: usual 10, straggler at 5. In phase 1 the others take 0.5 s: its baseline there is 2 · 10 = 20
  // samples/s, so that 1 s (10 samples/s, its usual in phase 0!) is still slow.
  StragglerDetector detector = watching(4);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  for (int i = 0; i < 3; ++i) static_cast<void>(window(detector, {1, 1, 2, 1}));
  detector.watch(workers(4), 1);
  for (int i = 0; i < 4; ++i) {
    const std::vector<Judgement> judged = window(detector, {0.5, 0.5, 1, 0.5});
    CHECK(straggling(judged) == the_third);
    CHECK(judged[2].baseline == doctest::Approx(20.0));
  }
  for (int i = 0; i < 2; ++i) CHECK(straggling(window(detector, {0.5, 0.5, 0.5, 0.5})) == the_third);
  CHECK(straggling(window(detector, {0.5, 0.5, 0.5, 0.5})) == nobody);
}

TEST_CASE("a probe is held against the worker's own usual alone") {
  StragglerDetector detector = watching(4);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  for (int i = 0; i < 3; ++i) static_cast<void>(window(detector, {1, 1, 2, 1}));
  detector.watch(std::vector{WorkerId{0}, WorkerId{1}, WorkerId{3}}, 0);
  CHECK(detector.judge_alone(WorkerId{2}, 10, Seconds{2}).is_slow);
  CHECK_FALSE(detector.judge_alone(WorkerId{2}, 10, Seconds{1.05}).is_slow);
}

TEST_CASE("what a straggler does while it is flagged is no part of its usual") {
  // Flagged after three windows of 2 s; windows of 1.08 s (9.26 samples/s) are then within the floor of
  // its usual 10.
  StragglerDetector detector = watching(4);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  for (int i = 0; i < 3; ++i) static_cast<void>(window(detector, {1, 1, 2, 1}));
  CHECK(straggling(window(detector, {1, 1, 1.08, 1})) == the_third);
  CHECK(window(detector, {1, 1, 1.08, 1})[2].baseline == 10.0);
}

TEST_CASE("a usual throughput is that of the last twenty windows") {
  // 10 samples/s for 21 windows, then 10 / 1.05 for 20: nobody is slow, and of the first nothing is left.
  StragglerDetector detector = watching(4);
  for (int i = 0; i < 21; ++i) static_cast<void>(window(detector, {1, 1, 1, 1}));
  for (int i = 0; i < 20; ++i) static_cast<void>(window(detector, {1.05, 1.05, 1.05, 1.05}));
  CHECK(window(detector, {1.05, 1.05, 1.05, 1.05})[2].baseline == doctest::Approx(10.0 / 1.05));
}

TEST_CASE("a throughput exactly at the floor is not slow, neither in a window nor as a probe") {
  // Half of 10 samples/s, with a floor of 50 %.
  StragglerDetector detector({.window_iterations = 2, .consecutive_windows = 1, .floor = 0.5}, 4);
  detector.watch(workers(4), 0);
  static_cast<void>(window(detector, {1, 1, 1, 1}));
  CHECK(straggling(window(detector, {1, 1, 2, 1})) == nobody);
  CHECK_FALSE(detector.judge_alone(WorkerId{3}, 10, Seconds{2}).is_slow);
  CHECK(detector.judge_alone(WorkerId{3}, 10, Seconds{2.01}).is_slow);
}
