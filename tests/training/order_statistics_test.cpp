// Rounds that take the first gradients, with exponential iteration times: their lengths are order statistics.
//
// Iterations take 1 s · E with E ~ Exp(1), given to the job as measured quantiles: q(p) = −ln(1 − p) at p =
// i/N, and as the last one ln N + 2, so that the last interval has the mean of the tail, ln N + 1.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

std::vector<double> exponential_quantiles() {
  constexpr std::size_t intervals = 20000;
  constexpr auto n = static_cast<double>(intervals);
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < intervals; ++i) quantiles.push_back(-std::log1p(-static_cast<double>(i) / n));
  quantiles.push_back(std::log(n) + 2.0);
  return quantiles;
}

double harmonic(std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 1; i <= n; ++i) sum += 1.0 / static_cast<double>(i);
  return sum;
}

constexpr std::int64_t rounds = 4000;

// The lengths of the first `rounds` rounds of `workers` workers that take one sample each time.
std::vector<double> round_lengths(std::size_t workers, const PhaseConfig& phase, std::size_t wanted) {
  TestJob job;
  job.workers.assign(workers, {});
  job.phases = {phase};
  job.batching.initial_samples = 1;
  job.jitter.iteration_quantiles = exponential_quantiles();
  job.total_samples = rounds * static_cast<std::int64_t>(wanted);
  const auto updates = job.run_ideal().recording.all<Apply>();
  std::vector<double> lengths;
  Seconds before;
  for (const auto& [time, update] : updates) {
    CHECK(update.gradients.size() == wanted);
    lengths.push_back((time - before).value());
    before = time;
  }
  REQUIRE(lengths.size() == static_cast<std::size_t>(rounds));
  return lengths;
}

// Within four standard errors of the sample.
void check_mean(const std::vector<double>& sample, double expected) {
  const auto n = static_cast<double>(sample.size());
  double sum = 0.0;
  double squares = 0.0;
  for (const double x : sample) {
    sum += x;
    squares += x * x;
  }
  const double mean = sum / n;
  const double standard_error = std::sqrt((squares / n - mean * mean) / n);
  CAPTURE(mean);
  CAPTURE(expected);
  CHECK(standard_error < 0.05 * expected);
  CHECK(std::abs(mean - expected) < 4.0 * standard_error);
}

}  // namespace

TEST_CASE("a K-sync round lasts as long as the K-th of P exponential times, K = 1 to P") {
  // All start anew in each round: E[T] = E[X_{K:P}] = (H_P − H_{P−K}) / μ, μ = 1/s.
  constexpr std::size_t workers = 6;
  for (std::size_t k = 1; k <= workers; ++k) {
    const PhaseConfig phase{.policy = {"k-sync", {{"gradients", static_cast<std::int64_t>(k)}}}};
    check_mean(round_lengths(workers, phase, k), harmonic(workers) - harmonic(workers - k));
  }
}

TEST_CASE("a BSP round lasts as long as the longest of P exponential times") {
  // E[T] = H_P / μ
  check_mean(round_lengths(5, {}, 5), harmonic(5));
}

TEST_CASE("a round with backup workers lasts until P - b workers that were not late are ready") {
  // Without memory only numbers count: r ready, l still late, P − r − l others at work. The next to be ready
  // is a late one with probability l / (P − r); it goes on as one of the others. So the time left is
  //   h(r, l) = (1 + l · h(r, l − 1) + (P − r − l) · h(r + 1, l)) / (P − r),   h(P − b, l) = 0,
  // with h(0, 0) for the first round and h(0, b) for the others. Two workers, b = 1: h(0, 1) = 3/4.
  for (const auto& [workers, backups] : {std::pair<std::size_t, std::size_t>{2, 1}, {5, 1}, {6, 3}}) {
    const std::size_t wanted = workers - backups;
    const std::function<double(std::size_t, std::size_t)> h = [&, p = workers](std::size_t r, std::size_t l) {
      if (r == wanted) return 0.0;
      const double late = l > 0 ? static_cast<double>(l) * h(r, l - 1) : 0.0;
      const double other = p - r > l ? static_cast<double>(p - r - l) * h(r + 1, l) : 0.0;
      return (1.0 + late + other) / static_cast<double>(p - r);
    };
    if (workers == 2) CHECK(h(0, 1) == doctest::Approx(0.75));
    CHECK(h(0, 0) == doctest::Approx(harmonic(workers) - harmonic(backups)));
    const PhaseConfig phase{.policy = {"backup-workers", {{"backups", static_cast<std::int64_t>(backups)}}}};
    std::vector<double> lengths = round_lengths(workers, phase, wanted);
    lengths.erase(lengths.begin());
    check_mean(lengths, h(0, backups));
  }
}

TEST_CASE("messages that wait at random lengthen a round by the slowest worker's two waits") {
  // Iterations of 1 s, free links; parameters and gradient of each worker wait D ~ Exp(w), w = 0.5 s. A
  // worker alone: E = 1 + 2 w. Two under BSP: the longer of two Erlang(2) times, 2 · 2 w − E[min], with
  // E[min] / w = ∫ ((1 + x) e^−x)² dx = 1.25: E = 1 + 2.75 w.
  const auto lengths_of = [](std::size_t workers) {
    TestJob job;
    job.workers.assign(workers, {});
    job.batching.initial_samples = 1;
    job.message_delay = Seconds{0.5};
    job.total_samples = 4000 * static_cast<std::int64_t>(workers);
    std::vector<double> lengths;
    Seconds before;
    for (const auto& [time, update] : job.run_ideal().recording.all<Apply>()) {
      lengths.push_back((time - before).value());
      before = time;
    }
    return lengths;
  };
  // The first round waits for no parameters.
  std::vector<double> alone = lengths_of(1);
  CHECK(*std::ranges::min_element(alone) >= 1.0);
  check_mean({alone.begin() + 1, alone.end()}, 1.0 + 2.0 * 0.5);
  const std::vector<double> two = lengths_of(2);
  check_mean({two.begin() + 1, two.end()}, 1.0 + 2.75 * 0.5);
}
