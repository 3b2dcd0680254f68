#include "sim/cost/compute_time.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/relative_difference.hpp"

namespace paceline {
namespace {

constexpr WorkerId worker0{0};
constexpr WorkerId worker1{1};
constexpr double rounding = 1e-14;  // relative: a few operations in double precision

Profile two_core_counts() {
  Profile profile;
  profile.path = "test.json";
  profile.network = "small-cnn";
  profile.compute = {{1, Seconds{0.004}, Seconds{0.001}, 0.0, 8, 64, Seconds{0.0002}},
                     {2, Seconds{0.003}, Seconds{0.0005}, 0.0, 8, 128, Seconds{0.0001}}};
  profile.server_accumulate_rate = BytesPerSecond{4e9};
  profile.server_step_rate = BytesPerSecond{2e9};
  profile.jitter = {0.05, 0.01, 3};
  return profile;
}

const std::vector<Worker> uneven = {{.cores = 1, .speed = 1.0}, {.cores = 2, .speed = 0.5}};

struct Moments {
  double mean = 0.0;
  double cv = 0.0;
};

template <class Draw>
Moments moments_of(Draw draw, int count) {
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double x = draw(i);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean) / mean};
}

}  // namespace

TEST_CASE("without jitter an iteration takes exactly the profile's line divided by the worker's speed") {
  const ComputeTimes times(two_core_counts(), uneven, Jitter{}, Seed{1, 0});
  // (4 ms + 32 · 1 ms) / 1 = 36 ms; (3 ms + 32 · 0.5 ms) / 0.5 = 38 ms
  CHECK(test::relative_difference(times.mean_iteration(worker0, 32).value(), 0.036) < rounding);
  CHECK(test::relative_difference(times.mean_iteration(worker1, 32).value(), 0.038) < rounding);
  for (const std::uint64_t k : {0U, 1U, 1000U}) {
    CHECK(times.iteration(worker0, k, 32) == times.mean_iteration(worker0, 32));
    CHECK(times.iteration(worker1, k, 32) == times.mean_iteration(worker1, 32));
  }
  // optimizer_step / speed
  CHECK(times.optimizer_step(worker0) == Seconds{0.0002});
  CHECK(test::relative_difference(times.optimizer_step(worker1).value(), 0.0002) < rounding);
}

TEST_CASE("the iteration factor has mean 1 and the stated coefficient of variation") {
  constexpr double cv = 0.2;
  constexpr int count = 20000;
  const ComputeTimes times(two_core_counts(), uneven, Jitter{0.0, 0.0, cv}, Seed{1, 0});
  const double mean = times.mean_iteration(worker1, 48).value();
  const Moments m = moments_of(
      [&](int k) { return times.iteration(worker1, static_cast<std::uint64_t>(k), 48).value() / mean; },
      count);
  // Standard error of the mean: cv / √n; of the cv: about cv / √(2n), larger for a skewed factor. Four
  // of them.
  CHECK(std::abs(m.mean - 1.0) < 4.0 * cv / std::sqrt(count));
  CHECK(std::abs(m.cv - cv) < 4.0 * 1.5 * cv / std::sqrt(2.0 * count));
}

TEST_CASE("the run factor is shared by the workers of a run and varies over replications with its own cv") {
  constexpr double cv = 0.1;
  constexpr int count = 5000;
  const auto factor = [&](int replication, WorkerId worker) {
    const ComputeTimes times(two_core_counts(), uneven, Jitter{cv, 0.0, 0.0},
                             Seed{1, static_cast<std::uint32_t>(replication)});
    return times.iteration(worker, 7, 16) / times.mean_iteration(worker, 16);
  };
  CHECK(test::relative_difference(factor(3, worker0), factor(3, worker1)) < rounding);
  const Moments m = moments_of([&](int r) { return factor(r, worker0); }, count);
  CHECK(std::abs(m.mean - 1.0) < 4.0 * cv / std::sqrt(count));
  CHECK(std::abs(m.cv - cv) < 4.0 * 1.5 * cv / std::sqrt(2.0 * count));
}

TEST_CASE(
    "the worker factor stays for all of a worker's iterations, differs between workers, with its own cv") {
  constexpr double cv = 0.1;
  constexpr int count = 5000;
  const std::vector<Worker> many(count, Worker{});
  const ComputeTimes times(two_core_counts(), many, Jitter{0.0, cv, 0.0}, Seed{5, 2});
  const auto factor = [&](int w, std::uint64_t k) {
    const WorkerId id{static_cast<std::uint64_t>(w)};
    return times.iteration(id, k, 16) / times.mean_iteration(id, 16);
  };
  CHECK(factor(17, 0) == factor(17, 999));
  CHECK(factor(17, 0) != factor(18, 0));
  const Moments m = moments_of([&](int w) { return factor(w, 0); }, count);
  CHECK(std::abs(m.mean - 1.0) < 4.0 * cv / std::sqrt(count));
  CHECK(std::abs(m.cv - cv) < 4.0 * 1.5 * cv / std::sqrt(2.0 * count));
}

TEST_CASE("the three factors multiply") {
  const Seed seed{9, 4};
  const auto factor = [&](const Jitter& jitter) {
    const ComputeTimes times(two_core_counts(), uneven, jitter, seed);
    return times.iteration(worker1, 3, 16) / times.mean_iteration(worker1, 16);
  };
  const double product = factor({0.1, 0.0, 0.0}) * factor({0.0, 0.2, 0.0}) * factor({0.0, 0.0, 0.3});
  CHECK(test::relative_difference(factor({0.1, 0.2, 0.3}), product) < rounding);
  CHECK(factor({0.1, 0.0, 0.0}) != factor({0.0, 0.1, 0.0}));
}

TEST_CASE(
    "equal keys draw equally, in any order, and another worker, iteration or replication draws differently") {
  const Jitter jitter{0.05, 0.05, 0.05};
  const ComputeTimes first(two_core_counts(), uneven, jitter, Seed{1, 0});
  const ComputeTimes second(two_core_counts(), uneven, jitter, Seed{1, 0});
  const Seconds late = first.iteration(worker0, 100, 32);
  const Seconds early = first.iteration(worker0, 0, 32);
  CHECK(second.iteration(worker0, 0, 32) == early);
  CHECK(second.iteration(worker0, 100, 32) == late);
  CHECK(early != late);
  const ComputeTimes other(two_core_counts(), uneven, jitter, Seed{1, 1});
  CHECK(other.iteration(worker0, 0, 32) != early);
}

TEST_CASE("another batch draws the same jitter: the ratio of times is the ratio of means") {
  const ComputeTimes times(two_core_counts(), uneven, Jitter{0.1, 0.1, 0.3}, Seed{1, 0});
  for (std::uint64_t k = 0; k < 20; ++k) {
    const double drawn = times.iteration(worker1, k, 64) / times.iteration(worker1, k, 16);
    const double mean = times.mean_iteration(worker1, 64) / times.mean_iteration(worker1, 16);
    CHECK(test::relative_difference(drawn, mean) < rounding);
  }
}

TEST_CASE("a worker whose core count was not measured is the user's mistake, named with what was measured") {
  const std::vector<Worker> workers = {{.cores = 1, .speed = 1.0}, {.cores = 6, .speed = 1.0}};
  CHECK_THROWS_WITH_AS(ComputeTimes(two_core_counts(), workers, Jitter{}, Seed{}),
                       "error: worker 1 has 6 cores, but test.json was measured with 1, 2 cores only\n"
                       "hint: measure it with `paceline calibrate small-cnn --cores 1,2,6`\n",
                       UserError);
}

TEST_CASE("impossible arguments are programming errors") {
  CHECK_THROWS_AS(ComputeTimes(two_core_counts(), uneven, Jitter{-0.1, 0.0, 0.0}, Seed{}), ProgrammingError);
  CHECK_THROWS_AS(ComputeTimes(two_core_counts(), {{.cores = 1, .speed = 0.0}}, Jitter{}, Seed{}),
                  ProgrammingError);
  const ComputeTimes times(two_core_counts(), uneven, Jitter{}, Seed{});
  CHECK_THROWS_AS(static_cast<void>(times.mean_iteration(worker0, 0)), ProgrammingError);
  CHECK_THROWS_AS(static_cast<void>(times.mean_iteration(WorkerId{2}, 1)), ProgrammingError);
}

TEST_CASE("jitter comes from the profile unless stated, and what neither gives is a default with a note") {
  Profile profile = two_core_counts();
  const ResolvedJitter measured = resolve_jitter(profile);
  CHECK(measured.jitter.run_cv == 0.01);
  CHECK(measured.jitter.iteration_cv == 0.05);
  CHECK(measured.jitter.worker_cv == default_worker_cv);
  REQUIRE(measured.notes.size() == 1);
  CHECK(measured.notes[0] == "worker-to-worker jitter: 0 % assumed, because a profile measures one machine");

  const ResolvedJitter stated =
      resolve_jitter(profile, {.run_cv = 0.0, .worker_cv = 0.2, .iteration_cv = 0.3});
  CHECK(stated.jitter.run_cv == 0.0);
  CHECK(stated.jitter.worker_cv == 0.2);
  CHECK(stated.jitter.iteration_cv == 0.3);
  CHECK(stated.notes.empty());

  profile.jitter.run_cv.reset();
  profile.jitter.processes = 2;
  const ResolvedJitter assumed =
      resolve_jitter(profile, {.run_cv = {}, .worker_cv = 0.0, .iteration_cv = {}});
  CHECK(assumed.jitter.run_cv == default_run_cv);
  REQUIRE(assumed.notes.size() == 1);
  CHECK(assumed.notes[0] ==
        "run-to-run jitter: 3 % assumed, because test.json was measured in fewer than 3 processes (2)");
}

TEST_CASE(
    "a profile that says its runs do not vary is not believed: the 95 % limit or the default stands in") {
  Profile profile = two_core_counts();
  profile.jitter.run_cv.reset();
  profile.jitter.run_cv_upper = 0.008;
  const ResolvedJitter limited =
      resolve_jitter(profile, {.run_cv = {}, .worker_cv = 0.0, .iteration_cv = {}});
  CHECK(limited.jitter.run_cv == 0.008);
  CHECK(limited.notes.size() == 1);
  profile.jitter.run_cv_upper = 0.5;  // a few noisy processes exclude little: never more than the default
  CHECK(resolve_jitter(profile).jitter.run_cv == default_run_cv);
  profile.jitter.run_cv_upper.reset();
  profile.jitter.run_cv = 0.0;
  const ResolvedJitter zero = resolve_jitter(profile, {.run_cv = {}, .worker_cv = 0.0, .iteration_cv = {}});
  CHECK(zero.jitter.run_cv == default_run_cv);
  REQUIRE(zero.notes.size() == 1);
  CHECK(zero.notes[0] ==
        "run-to-run jitter: 3 % assumed, because test.json says 0, which no measurement can show");
}

TEST_CASE("what processes on one machine differ by stands for workers") {
  Profile profile = two_core_counts();
  profile.jitter.process_cv = 0.02;
  const ResolvedJitter resolved = resolve_jitter(profile);
  CHECK(resolved.jitter.worker_cv == 0.02);
  CHECK(resolved.notes.size() == 1);
}

TEST_CASE(
    "a fixed part of the variation is a smaller share of longer iterations, whatever the worker's speed") {
  // 12 and 36 ms at speed 1, 3.6 ms fixed and 8 %: cv² = 0.08² + (3.6/t)² + their product: 0.312 and 0.128.
  // At speed 0.5 on two cores 7 ms at speed 1: 0.522. Means stay. Of n draws the cv is within four standard
  // errors, which skewed factors of this width have below 2.5/√n.
  const Jitter jitter{.iteration_cv = 0.08, .iteration_fixed = Seconds{3.6e-3}};
  const ComputeTimes times(two_core_counts(), uneven, jitter, Seed{1, 0});
  constexpr int count = 40000;
  const auto check_cv = [&](WorkerId worker, std::int64_t batch, double at_speed_1_s) {
    const Moments found = moments_of(
        [&](int k) { return times.iteration(worker, static_cast<std::uint64_t>(k), batch).value(); }, count);
    const double fixed_cv = 3.6e-3 / at_speed_1_s;
    const double expected = std::sqrt(0.08 * 0.08 + fixed_cv * fixed_cv + 0.08 * 0.08 * fixed_cv * fixed_cv);
    CHECK(test::relative_difference(found.cv, expected) < 4.0 * 2.5 / std::sqrt(count));
    CHECK(test::relative_difference(found.mean, times.mean_iteration(worker, batch).value()) <
          4.0 * expected / std::sqrt(count));
  };
  check_cv(worker0, 8, 0.012);
  check_cv(worker0, 32, 0.036);
  check_cv(worker1, 8, 0.007);
  CHECK(times.has_iteration_jitter());
}

TEST_CASE("a fixed part alone makes iterations vary, also beside measured quantiles") {
  Jitter jitter{.iteration_fixed = Seconds{1e-3}};
  CHECK(ComputeTimes(two_core_counts(), uneven, jitter, Seed{1, 0}).has_iteration_jitter());
  CHECK_FALSE(ComputeTimes(two_core_counts(), uneven, Jitter{}, Seed{1, 0}).has_iteration_jitter());
  // Quantiles that are all 1 leave the fixed part: 1 ms of 12.
  jitter.iteration_quantiles = {1.0, 1.0};
  const ComputeTimes times(two_core_counts(), uneven, jitter, Seed{1, 0});
  const Moments found = moments_of(
      [&](int k) { return times.iteration(worker0, static_cast<std::uint64_t>(k), 8).value(); }, 20000);
  CHECK(test::relative_difference(found.cv, 1.0 / 12.0) < 0.05);
}

TEST_CASE("an empirical iteration factor is drawn between its quantiles, with mean 1") {
  Jitter jitter;
  jitter.iteration_quantiles = {0.8, 0.9, 1.4};  // mean (0.85 + 1.15) / 2 = 1
  const ComputeTimes times(two_core_counts(), uneven, jitter, Seed{1, 0});
  const double mean = times.mean_iteration(worker0, 32).value();
  const auto draw = [&](int k) {
    return times.iteration(worker0, static_cast<std::uint64_t>(k), 32).value() / mean;
  };
  constexpr int count = 20000;
  int below = 0;
  for (int k = 0; k < count; ++k) {
    REQUIRE(draw(k) > 0.8);
    REQUIRE(draw(k) < 1.4);
    below += draw(k) < 0.9 ? 1 : 0;
  }
  // ∫Q² = (0.64 + 0.72 + 0.81)/6 + (0.81 + 1.26 + 1.96)/6 = 1.0333: sd 0.183. Standard error 0.183/√n; four
  // of them.
  CHECK(std::abs(moments_of(draw, count).mean - 1.0) < 4.0 * 0.183 / std::sqrt(count));
  CHECK(std::abs(below - count / 2) < 4.0 * std::sqrt(count / 4.0));  // binomial
}

TEST_CASE("cores and batches in use stand beside those that were measured, for the core counts in use") {
  const Profile profile = two_core_counts();  // 1 core: 8-64, 2 cores: 8-128
  const auto rows = validity_rows(profile, uneven, {8.0, 64.0});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].quantity == "cores");
  CHECK(rows[0].fitted == ValueRange{1.0, 2.0});
  CHECK(rows[0].validity() == Validity::inside);
  CHECK(rows[1].fitted == ValueRange{8.0, 64.0});
  CHECK(rows[1].validity() == Validity::inside);
  // Beyond an end by a factor of 1.5 is near, by more outside.
  CHECK(validity_rows(profile, uneven, {8.0, 96.0})[1].validity() == Validity::near);
  CHECK(validity_rows(profile, uneven, {8.0, 97.0})[1].validity() == Validity::outside);
  CHECK(validity_rows(profile, uneven, {6.0, 64.0})[1].validity() == Validity::near);
  CHECK(validity_rows(profile, uneven, {5.0, 64.0})[1].validity() == Validity::outside);
  CHECK(validity_rows(profile, {{.cores = 2, .speed = 1.0}}, {32.0, 128.0})[1].validity() ==
        Validity::inside);
}

TEST_CASE("the server takes bytes / rate") {
  const ServerTimes server(two_core_counts());
  CHECK(server.accumulate(Bytes{4e6}) == Seconds{4e6 / 4e9});
  CHECK(server.step(Bytes{4e6}) == Seconds{4e6 / 2e9});
}

TEST_CASE("fetching a batch comes before an iteration, meanwhile, or takes no time, at the worker's speed") {
  // batch 32 on worker 0: law 4 ms + 32 · 1 ms = 36 ms, loading 2 ms + 32 · 0.5 ms = 18 ms; worker 1 (2
  // cores, half the speed): (3 + 16) · 2 = 38 ms, and 36 ms; batch 320 on worker 1: 326 ms, 324 ms
  Profile profile = two_core_counts();
  profile.loading = LoadingFit{"cifar10", Seconds{0.002}, Seconds{0.0005}};
  const auto mean = [&](DataLoading loading, WorkerId worker) {
    return ComputeTimes({profile}, {0, 0}, uneven, Jitter{}, Seed{}, loading)
        .mean_iteration(worker, 32)
        .value();
  };
  CHECK(mean(DataLoading::inline_, worker0) == doctest::Approx(0.054).epsilon(rounding));
  CHECK(mean(DataLoading::inline_, worker1) == doctest::Approx(0.074).epsilon(rounding));
  CHECK(mean(DataLoading::prefetched, worker0) == doctest::Approx(0.036).epsilon(rounding));
  CHECK(mean(DataLoading::free, worker1) == doctest::Approx(0.038).epsilon(rounding));
  const auto share = [&](DataLoading loading) {
    return ComputeTimes({profile}, {0, 0}, uneven, Jitter{}, Seed{}, loading).loading_share(worker0, 32);
  };
  CHECK(share(DataLoading::inline_) == doctest::Approx(18.0 / 54.0).epsilon(rounding));
  CHECK(share(DataLoading::prefetched) == 0.0);
  CHECK(share(DataLoading::free) == 0.0);
  profile.loading->per_sample = Seconds{0.01};
  CHECK(mean(DataLoading::prefetched, worker0) == doctest::Approx(0.322).epsilon(rounding));
  CHECK(share(DataLoading::prefetched) == doctest::Approx(1.0 - 36.0 / 322.0).epsilon(rounding));
}

TEST_CASE("a quota of processor time lengthens the mean by cores over quota, and not the single iteration") {
  // worker 1: 2 cores under a quota of 0.5: four times 38 ms on average
  std::vector<Worker> workers = uneven;
  workers[1].quota = CpuQuota{0.5, Seconds{0.1}};
  const ComputeTimes times(two_core_counts(), workers, Jitter{}, Seed{});
  CHECK(times.mean_iteration(worker1, 32).value() == doctest::Approx(0.152).epsilon(rounding));
  CHECK(times.iteration(worker1, 0, 32).value() == doctest::Approx(0.038).epsilon(rounding));
  const auto clocks = times.quota_clocks();
  REQUIRE(clocks.size() == 2);
  CHECK_FALSE(clocks[0]);
  REQUIRE(clocks[1]);
  // its allowance is 25 ms of each 100 ms: 60 ms of work meet a pause whatever the phase, and end before the
  // fourth period
  const double end = clocks[1]->end_of(Seconds{}, Seconds{0.06}).value();
  CHECK(end > 0.06);
  CHECK(end < 0.3);
}

}  // namespace paceline
