#include "calibrate/live/communication_fit.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"

using namespace paceline;
using namespace paceline::live;

namespace {

// A server that takes 40 us and 0.2 ns a byte, applies at 1 us and 0.1 ns a byte; a worker that takes 30 us
// and 0.4 ns a byte for both of its messages; a connection of 50 us and 1 ns a byte both ways.
RequestPass exact_pass(double factor) {
  RequestPass pass;
  for (const double bytes : {4e3, 4e4, 4e5})
    pass.push_back({.bytes = Bytes{bytes},
                    .server = factor * Seconds{40e-6 + 0.2e-9 * bytes},
                    .applying = factor * Seconds{1e-6 + 0.1e-9 * bytes},
                    .worker = factor * Seconds{30e-6 + 0.4e-9 * bytes},
                    .connection = factor * Seconds{50e-6 + 1e-9 * bytes}});
  return pass;
}

// A pass of one size in which workers that are busy for 2 ms, `slowdown` times as long, exchange gradients
// with the server; on a machine that takes `slower` times as long for everything in it.
RequestPass pass_of(std::uint32_t workers, double slowdown, double slower, int cores = 4) {
  const BusyWorkers job{
      .workers = workers,
      .busy = slower * Seconds{2e-3},
      .slowdown = slowdown,
      .bytes = Bytes{4e3},
      .cost = {.server_request = slower * Seconds{1e-4}},
      .network = {.bandwidth = BytesPerSecond{125e9}, .server_bandwidth = BytesPerSecond{125e9}},
      .cores = cores};
  RequestTime time{};
  time.bytes = job.bytes;
  time.server = job.cost.server_request;
  time.cycle = simulated_cycle(job);
  time.processor = slowdown * job.busy;
  return {time};
}

}  // namespace

TEST_CASE(
    "several workers are held against one in the same pass: a machine that changes in between slows none") {
  // Two take 1.2 times as long as one. The third pass meets a machine at two thirds of its speed.
  const std::vector<RequestPass> one = {pass_of(1, 1.0, 1.0), pass_of(1, 1.0, 1.0), pass_of(1, 1.0, 1.5)};
  const std::vector<RequestPass> two = {pass_of(2, 1.2, 1.0), pass_of(2, 1.2, 1.0), pass_of(2, 1.2, 1.5)};
  const std::vector<Disturbances> found = disturbances(one, two, 2, {.values = {1000}}, 4);
  REQUIRE(found.size() == 1);
  REQUIRE(found.front().of_pass.size() == 3);
  for (const Disturbance& pass : found.front().of_pass)
    CHECK(pass.slowdown == doctest::Approx(1.2).epsilon(0.01));
}

TEST_CASE("workers are as slow as their processor time says, however times of more than cores vary") {
  // Three on two cores, 1.3 times the processor time of one: half a millisecond more of the wall clock in
  // each iteration, and times that vary by the turns, are waits for a core.
  const std::vector<RequestPass> one = {pass_of(1, 1.0, 1.0, 2)};
  std::vector<RequestPass> three = {pass_of(3, 1.3, 1.0, 2)};
  const auto found = [&] {
    return disturbances(one, three, 3, {.values = {1000}}, 2).front().of_pass.front();
  };
  const Disturbance steady = found();
  CHECK(steady.slowdown == doctest::Approx(1.3).epsilon(1e-9));
  three[0][0].variation = 0.5;
  CHECK(found().wait == steady.wait);
  three[0][0].cycle.iteration += Seconds{0.5e-3};
  CHECK(found().slowdown == doctest::Approx(1.3).epsilon(1e-9));
  CHECK((found().wait - steady.wait).value() > 0.1e-3);
}

TEST_CASE("synchronous workers that have a core each are slowed each as its own processor time says") {
  // The first takes 1.5 times as long as the second. Of more than cores the order changes.
  const auto found = [](std::uint32_t workers) {
    const std::vector<RequestPass> one = {pass_of(1, 1.0, 1.0, 2)};
    std::vector<RequestPass> several = {pass_of(workers, 1.2, 1.0, 2)};
    several[0][0].of_worker.assign(workers, Seconds{2e-3});
    several[0][0].of_worker[0] = Seconds{3e-3};
    return disturbances(one, several, workers, {.values = {1000}, .policy = "bsp"}, 2)
        .front()
        .of_pass.front();
  };
  const Disturbance two = found(2);
  CHECK(two.of_worker.at(0) / two.of_worker.at(1) == doctest::Approx(1.5));
  CHECK(two.of_worker.at(0) + two.of_worker.at(1) == doctest::Approx(2.0 * two.slowdown));
  const Disturbance three = found(3);
  CHECK(three.of_worker == std::vector(3, three.slowdown));
}

TEST_CASE("a loop that says no processor time is refused: that tells how slow workers are") {
  RequestPass silent = pass_of(1, 1.0, 1.0, 2);
  silent[0].processor = Seconds{};
  const RequestPass two = pass_of(2, 1.2, 1.0, 2);
  CHECK_THROWS_WITH_AS(static_cast<void>(disturbances({silent}, {two}, 2, {.values = {1000}}, 2)),
                       doctest::Contains("take no processor time"), UserError);
}

TEST_CASE("requests on a line give the costs of a scenario back") {
  const CommunicationFit fit = fit_communication({exact_pass(1.0), exact_pass(1.0)});
  CHECK(fit.server.error < 1e-9);
  CHECK(*fit.server.fixed_half_width_s < 1e-12);
  REQUIRE(fit.connection.has_value());
  CHECK(connection_of(fit).latency.value() == doctest::Approx(25e-6));
  CHECK(scenario_words(connection_of(fit)) == "latency: 25 us, bandwidth: 16 Gbit/s");
  const CommunicationCost cost = cost_of(fit);
  // A request pays the fixed times of receiving and of applying; a message half of what both take.
  CHECK(cost.server_request.value() == doctest::Approx(41e-6));
  CHECK(cost.server_rate->value() == doctest::Approx(5e9));
  CHECK(cost.per_message.value() == doctest::Approx(15e-6));
  CHECK(cost.rate->value() == doctest::Approx(5e9));
  // The model's own words for it: 2 messages and 2 · B bytes of an iteration.
  CHECK(cost.of(2.0, Bytes{8e4}).value() == doctest::Approx(30e-6 + 0.4e-9 * 4e4));
  CHECK(cost.of_request({Bytes{4e4}}).value() == doctest::Approx(41e-6 + 0.2e-9 * 4e4));
  CHECK(
      scenario_words(cost) ==
      "communication: {server_request: 41 us, server_rate: 40 Gbit/s, per_message: 15 us, rate: 40 Gbit/s}");
}

TEST_CASE("passes that differ give the middle one, and an interval as wide as Student's t says") {
  // Factors 0.9, 1, 1.1: deviation 0.1 of the fixed 40 us; t(0.975, 2) = 4.3027; 4.3027 · 4 us / √3.
  const CommunicationFit fit = fit_communication({exact_pass(1.1), exact_pass(0.9), exact_pass(1.0)});
  CHECK(fit.server.fixed_s == doctest::Approx(40e-6));
  CHECK(*fit.server.fixed_half_width_s == doctest::Approx(4.3027 * 4e-6 / std::sqrt(3.0)).epsilon(1e-4));
}

TEST_CASE("one pass has no interval, and bytes that cost nothing no rate") {
  const std::vector<TimedWork> flat = {{1.0, 1e3, {20e-6}}, {1.0, 1e6, {20e-6}}};
  const FittedTime fit = fit_time(flat);
  CHECK_FALSE(fit.fixed_half_width_s.has_value());
  CHECK(fit.fixed_s == doctest::Approx(20e-6));
  CommunicationFit all{.server = fit, .applying = fit, .worker = fit, .connection = fit};
  CHECK(scenario_words(cost_of(all)) == "communication: {server_request: 40 us, per_message: 10 us}");
}

TEST_CASE("a connection whose time both ends spend at work has none of its own") {
  RequestPass pass = exact_pass(1.0);
  pass[1].connection = Seconds{0.5e-6};
  const CommunicationFit fit = fit_communication({pass});
  CHECK_FALSE(fit.connection.has_value());
  CHECK(scenario_words(connection_of(fit)) == "latency: 0 us, bandwidth: 1000 Gbit/s");
}
