#include "calibrate/network/network_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/random.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"

namespace paceline::calibrate {
namespace {

std::vector<TransferTime> line_times(double latency_s, double bandwidth, double cv = 0.0) {
  std::vector<TransferTime> times;
  for (const std::int64_t size : message_sizes(16'777'216)) {
    RandomStream stream(Seed{}, Purpose::test, static_cast<std::uint32_t>(times.size()));
    times.push_back({size, (latency_s + static_cast<double>(size) / bandwidth) * stream.log_normal(1.0, cv)});
  }
  return times;
}

std::vector<TransferTime> measured_on_loopback() {
  const EchoServer server("127.0.0.1", 0);
  std::jthread far_end([&] { server.serve_one(); });
  return measure_transfers("127.0.0.1", server.port(), message_sizes(4'194'304), 10, Seconds{});
}

// The simulator's time from a worker to another over a star network with these constants. One call for each
// process.
double simulated_seconds(const SimulatedNetwork& network, double bytes) {
  const BytesPerSecond bandwidth{network.bandwidth_bytes_per_s};
  NetworkModel model{.burst = Bytes{std::round(network.burst_bytes)}};
  for (const SimulatedNetwork::Segment& segment : network.segments)
    model.segments.push_back(
        {Bytes{static_cast<double>(segment.from_bytes)}, segment.latency_factor, segment.bandwidth_factor});
  const auto timeline = make_simgrid_timeline(Cluster{.workers = {Worker{}, Worker{}},
                                                      .network = {.bandwidth = bandwidth,
                                                                  .latency = Seconds{network.latency_s},
                                                                  .server_bandwidth = bandwidth,
                                                                  .model = model}});
  timeline->send(WorkerId{0}, WorkerId{1}, Bytes{bytes}, ConditionsChange{});
  double arrived = 0.0;
  static_cast<void>(timeline->run([&](Seconds now, const std::vector<Occurrence>&) {
    arrived = now.value();
    return false;
  }));
  return arrived;
}

}  // namespace

TEST_CASE("one line gives latency and bandwidth back, in one segment") {
  const NetworkFit fit = fit_network(line_times(50e-6, 1.25e9));
  CHECK(fit.line.latency_s == doctest::Approx(50e-6));
  CHECK(1.0 / fit.line.seconds_per_byte == doctest::Approx(1.25e9));
  CHECK(fit.segments.size() == 1);
  CHECK(fit.line_error < 1e-9);
  const NetworkFit noisy = fit_network(line_times(50e-6, 1.25e9, 0.05));
  // 13 sizes of 5 % noise, half of which see the latency, four the bandwidth: 2.5 %; three of them
  CHECK(noisy.line.latency_s == doctest::Approx(50e-6).epsilon(0.075));
  CHECK(1.0 / noisy.line.seconds_per_byte == doctest::Approx(1.25e9).epsilon(0.075));
}

TEST_CASE("a shaped link gives its burst and its rate back, not a bandwidth above its own") {
  // T(m) = 40 us + m / 5 GB/s + max(0, m - 30,000 B) / 25 MB/s, sizes 1 B, 4 B, ... 4 MiB
  const auto seconds = [](double bytes) { return 40e-6 + bytes / 5e9 + std::max(0.0, bytes - 30e3) / 25e6; };
  std::vector<TransferTime> times;
  for (const std::int64_t size : message_sizes(4'194'304))
    times.push_back({size, seconds(static_cast<double>(size))});
  const NetworkFit fit = fit_network(times);
  REQUIRE(fit.bucket);
  CHECK(fit.bucket->bytes == doctest::Approx(30e3).epsilon(0.05));  // as fine as the search
  const SimulatedNetwork network = *simulated_network(fit);
  CHECK(network.segments.empty());
  CHECK(network.bandwidth_bytes_per_s == doctest::Approx(25e6).epsilon(0.01));
  // a message it has not seen: what the simulator takes for 100 kB, within 3 %
  CHECK(simulated_seconds(network, 100e3) == doctest::Approx(seconds(100e3)).epsilon(0.03));
}

TEST_CASE("bug: small messages in two states hid the burst of a shaped link") {
  // Both ends shared a core until 1 kB, and had one each from there on: 13 and 42 us. Then as above.
  const auto seconds = [](double bytes) {
    return (bytes < 1000.0 ? 13e-6 : 42e-6) + bytes / 5e9 + std::max(0.0, bytes - 30e3) / 25e6;
  };
  std::vector<TransferTime> times;
  for (const std::int64_t size : message_sizes(4'194'304))
    times.push_back({size, seconds(static_cast<double>(size))});
  const NetworkFit fit = fit_network(times);
  REQUIRE(fit.bucket);
  CHECK(fit.bucket->bytes == doctest::Approx(30e3).epsilon(0.05));
  CHECK(simulated_network(fit)->bandwidth_bytes_per_s == doctest::Approx(25e6).epsilon(0.01));
}

TEST_CASE("a protocol that changes with the size gives two segments, with the border where it is") {
  std::vector<TransferTime> times = line_times(10e-6, 5e9);
  for (TransferTime& time : times)
    if (time.bytes >= 65536) time.seconds = 100e-6 + static_cast<double>(time.bytes) / 1e9;
  const NetworkFit fit = fit_network(times);
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit.segments[1].from_bytes == 65536);
  CHECK(fit.segments[0].line.latency_s == doctest::Approx(10e-6));
  CHECK(fit.segments[1].line.latency_s == doctest::Approx(100e-6));
  CHECK(1.0 / fit.segments[1].line.seconds_per_byte == doctest::Approx(1e9));
  CHECK(fit.segments_error < fit.line_error);
  CHECK(&fit.segment_of(65535.0) == &fit.segments[0]);
  CHECK(&fit.segment_of(65536.0) == &fit.segments[1]);
}

TEST_CASE("a simulation meets the segment of a message, here the small ones'") {
  // L + m/B of the first segment: 10 us + 1024 B / 5 GB/s
  std::vector<TransferTime> times = line_times(10e-6, 5e9);
  for (TransferTime& time : times)
    if (time.bytes >= 65536) time.seconds = 100e-6 + static_cast<double>(time.bytes) / 1e9;
  const std::optional<SimulatedNetwork> network = simulated_network(fit_network(times));
  REQUIRE(network);
  CHECK(network->segments.at(1).latency_factor == doctest::Approx(10.0));
  CHECK(network->segments.at(0).bandwidth_factor == doctest::Approx(5.0));
  CHECK(simulated_seconds(*network, 1024.0) == doctest::Approx(10e-6 + 1024.0 / 5e9).epsilon(1e-6));
}

TEST_CASE("what is measured on loopback is what the simulator then simulates") {
  const std::vector<TransferTime> times = measured_on_loopback();
  REQUIRE(times.size() == 12);
  const NetworkFit fit = fit_network(times);
  const std::optional<SimulatedNetwork> network = simulated_network(fit);
  REQUIRE(network);
  const TransferTime& largest = times.back();
  const double simulated = simulated_seconds(*network, static_cast<double>(largest.bytes));
  // The simulator meets the fitted segment, or the time beyond a burst, exactly …
  const auto bytes = static_cast<double>(largest.bytes);
  const double fitted = fit.bucket ? fit.bucket->at(bytes) : fit.segments.back().line.at(bytes);
  CHECK(simulated == doctest::Approx(fitted).epsilon(1e-6));
  // … and the line meets the measurement, however disturbed: an order of magnitude catches a wrong unit.
  CHECK(simulated < 10.0 * largest.seconds);
  CHECK(simulated > 0.1 * largest.seconds);
  MESSAGE("4 MiB on loopback: measured " << largest.seconds << " s, simulated " << simulated << " s");
}

TEST_CASE("nobody at the other end, or no address, is said") {
  const int unused = EchoServer("127.0.0.1", 0).port();
  CHECK_THROWS_WITH_AS(static_cast<void>(measure_transfers("127.0.0.1", unused, {1}, 1, Seconds{})),
                       doctest::Contains("nobody answers at 127.0.0.1"), UserError);
  CHECK_THROWS_WITH_AS(EchoServer("nonsense", 7000), doctest::Contains("cannot listen at nonsense:7000"),
                       UserError);
}

}  // namespace paceline::calibrate
