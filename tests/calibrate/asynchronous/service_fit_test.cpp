// Service times from jobs simulated with a known one; jobs that do not tell it.
#include "calibrate/asynchronous/service_fit.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "calibrate/asynchronous/server_queue.hpp"
#include "calibrate/asynchronous/service_files.hpp"
#include "calibrate/asynchronous/service_report.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/profile.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::calibrate {
namespace {

struct Truth {
  double alone_s = 0.1;
  double service_s = 0.04;
  ServiceVariation variation = ServiceVariation::lognormal;  // without one: constant
};

// Jobs of 1, 2, ... workers, each on machines that differ by 2 %.
std::vector<LoggedJob> simulated_jobs(const Truth& truth, const std::vector<int>& workers,
                                      std::uint32_t seed) {
  std::vector<LoggedJob> jobs;
  RandomStream machines({seed, 0}, Purpose::test);
  for (const int count : workers)
    for (int repeat = 0; repeat < 3; ++repeat) {
      ServerQueue queue;
      const double alone_s = truth.alone_s * std::exp(machines.normal(0.0, 0.02));
      queue.workers.assign(static_cast<std::size_t>(count), {alone_s});
      queue.service_s = {truth.service_s};
      queue.compute_variation = 0.1;
      queue.variation = truth.variation;
      queue.updates = 10'000.0;
      LoggedJob job;
      job.gpu = "fast";
      job.workers = count;
      job.updates = queue.updates;
      job.iteration_variation = 0.1;
      job.rate = simulate_queue(
                     queue, RandomStream({seed, 1}, Purpose::test, static_cast<std::uint32_t>(jobs.size())))
                     .rate;
      jobs.push_back(job);
    }
  return jobs;
}

}  // namespace

TEST_CASE(
    "service fit: a known constant service time is found, and lies in its 90 % range in most of 20 sets") {
  int inside = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const ServiceFit fit(simulated_jobs({}, {1, 2, 4}, seed), "");
    const auto service = fit.service();
    REQUIRE(service);
    CHECK(service->from->workers == 4);
    // Four workers of 0.1 s ask for 1.6 times what the server can do, so its rate is 1 / s.
    CHECK(service->seconds == doctest::Approx(0.04).epsilon(0.03));
    CHECK(fit.alone("fast", "")->seconds == doctest::Approx(0.1).epsilon(0.04));
    inside += service->low_s <= 0.04 && 0.04 <= service->high_s ? 1 : 0;
  }
  CHECK(inside >= 18);
}

TEST_CASE("service fit: a random service time lies within the range, too") {
  int inside = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto service =
        ServiceFit(simulated_jobs({.variation = ServiceVariation::exponential}, {1, 4}, seed), "").service();
    REQUIRE(service);
    inside += service->low_s <= 0.04 && 0.04 <= service->high_s ? 1 : 0;
    // At the very most the server is busy all the time.
    CHECK(service->high_s >= 1.0 / service->from->rate);
    CHECK(service->low_s < service->seconds);
  }
  CHECK(inside >= 18);
}

TEST_CASE("service fit: jobs whose server is not saturated tell no service time but an upper limit") {
  // Two workers ask for 0.8 of what the server can do and do not wait for it.
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const ServiceFit fit(simulated_jobs({}, {1, 2}, seed), "");
    CHECK_FALSE(fit.service());
    CHECK(*fit.most_service_s() >= 0.04);
    CHECK(fit.missing() == "jobs of more than 2 workers (fast), until more of them are hardly quicker");
    CHECK(no_service_text(fit).find("3 jobs of 2 workers (fast): ") != std::string::npos);
  }
}

TEST_CASE("service fit: without a job of one worker nothing is said of waiting") {
  const ServiceFit fit(simulated_jobs({}, {4, 8}, 1), "");
  CHECK_FALSE(fit.service());
  CHECK_FALSE(fit.alone("fast", ""));
  CHECK_FALSE(fit.predict("fast", "", 4));
  CHECK(fit.missing().starts_with("a job of one worker (fast), to say"));
  CHECK_THROWS_AS(ServiceFit({}, ""), UserError);
}

TEST_CASE("service fit: each group is predicted without itself, and those beyond saturation by the others") {
  const std::vector<LoggedJob> jobs = simulated_jobs({}, {1, 2, 3, 4, 8}, 3);
  const std::vector<LeftOutGroup> left_out = leave_groups_out(jobs, "");
  REQUIRE(left_out.size() == 4);
  for (const LeftOutGroup& left : left_out) {
    CAPTURE(left.group.workers);
    // 2 %, 3 jobs each: far within 5 %, where the sum of 8 alone is 200 % off.
    CHECK(std::abs(left.error()) < 0.05);
    CHECK(left.group.rate >= left.predicted.low);
    CHECK(left.group.rate <= left.predicted.high);
  }
  CHECK(left_out.back().null_error() == doctest::Approx(8.0 / 0.1 / 25.0 - 1.0).epsilon(0.1));
}

TEST_CASE("service fit: jobs alike and campaigns tell how much they differ, unless they are too few") {
  std::vector<LoggedJob> jobs = simulated_jobs({}, {1, 2, 4}, 5);
  const ServiceFit few({jobs.begin(), jobs.begin() + 3}, "");
  CHECK(few.machines().is_assumed);
  CHECK(few.machines().relative == 0.03);
  const ServiceFit enough(jobs, "");
  CHECK_FALSE(enough.machines().is_assumed);
  CHECK(enough.campaigns().is_assumed);
  // Seven campaigns that are 10 % apart from one to the next, with one exact job each.
  jobs.clear();
  for (int k = 0; k < 7; ++k) {
    LoggedJob job;
    job.campaign = std::to_string(k);
    job.rate = std::exp(0.1 * k);
    jobs.push_back(job);
  }
  const ServiceFit apart(jobs, "");
  // Variance of 0 … 6 is 28/6; less that of the machines.
  CHECK(apart.campaigns().relative ==
        doctest::Approx(std::sqrt(0.01 * 28.0 / 6.0 - 0.03 * 0.03)).epsilon(1e-9));
  // A campaign's own mean is drawn towards the others; another cluster is the mean of all.
  CHECK(apart.alone("", "0")->seconds < 1.0);
  CHECK(apart.alone("", "elsewhere")->seconds == doctest::Approx(std::exp(-0.3)).epsilon(1e-9));
  CHECK_FALSE(apart.alone("", "elsewhere")->is_own_campaign);
}

TEST_CASE("service fit: latency adds round trips, and only the nearest server is the worker alone") {
  std::vector<LoggedJob> jobs(2);
  jobs[0].rate = 1.0 / 0.22;
  jobs[0].latency_ms = 0.3;
  jobs[1].rate = 1.0 / 0.31;
  jobs[1].latency_ms = 30.3;
  // 90 ms more for 30 ms.
  CHECK(fit_latency(jobs).at(0).round_trips == doctest::Approx(3.0));
  CHECK(ServiceFit(jobs, "").alone("", "")->seconds == doctest::Approx(0.22));
}

TEST_CASE("service fit: the profile's iteration and its server's step are what was found") {
  const ServiceFit fit(simulated_jobs({}, {1, 4}, 1), "");
  LoggedJobFacts facts{
      .network = "net", .gpu = "fast", .alone = *fit.alone("fast", ""), .service = fit.service()};
  facts.service_s = facts.service->seconds;
  facts.batch = 32;
  facts.parameters = 1'000'000;
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "p.json", profile_from_logs(facts, fit));
  const Profile profile = read_profile(folder.path() / "p.json");
  CHECK(profile.is_derived);
  CHECK((32.0 * profile.compute.at(0).slope_per_sample).value() + facts.service_s ==
        doctest::Approx(facts.alone.seconds));
  CHECK((profile.parameter_bytes / profile.server_step_rate).value() == doctest::Approx(facts.service_s));
}

}  // namespace paceline::calibrate
