#include "calibrate/network/network_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t fewest_in_segment = 3;
constexpr int most_segments = 3;
constexpr double must_be_better_by = 0.9;

TransferLine fit_line(std::span<const TransferTime> times) {
  std::vector<LinearEquation> equations;
  for (const TransferTime& time : times) {
    check(time.seconds > 0.0, "a transfer takes time");
    equations.push_back({time.seconds, {1.0, static_cast<double>(time.bytes)}});
  }
  const std::vector<double> x = relative_least_squares(equations).unknowns;
  return {x[0], x[1]};
}

template <class Curve>
double error_sum(const Curve& curve, std::span<const TransferTime> times) {
  double sum = 0.0;
  for (const TransferTime& time : times)
    sum += std::abs(curve.at(static_cast<double>(time.bytes)) / time.seconds - 1.0);
  return sum;
}

struct Division {
  std::vector<TransferSegment> segments;
  double error_sum = std::numeric_limits<double>::infinity();
};

// The best division into exactly `count` segments; infinite error when there are too few sizes.
Division best_division(std::span<const TransferTime> times, int count) {
  if (times.size() < fewest_in_segment * static_cast<std::size_t>(count)) return {};
  if (count == 1) {
    const TransferLine line = fit_line(times);
    return {{{times.front().bytes, line}}, error_sum(line, times)};
  }
  Division best;
  for (std::size_t first = fewest_in_segment; first + fewest_in_segment <= times.size(); ++first) {
    const Division rest = best_division(times.subspan(first), count - 1);
    if (rest.segments.empty()) continue;
    const TransferLine line = fit_line(times.first(first));
    const double error = error_sum(line, times.first(first)) + rest.error_sum;
    if (error >= best.error_sum) continue;
    best.error_sum = error;
    best.segments = {{times.front().bytes, line}};
    best.segments.insert(best.segments.end(), rest.segments.begin(), rest.segments.end());
  }
  return best;
}

const TransferSegment& find_segment(const std::vector<TransferSegment>& segments, double bytes) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < segments.size(); ++i)
    if (bytes >= static_cast<double>(segments[i].from_bytes)) found = i;
  return segments[found];
}

TransferBucket fit_beyond(double bytes, std::span<const TransferTime> times) {
  std::vector<LinearEquation> equations;
  for (const TransferTime& time : times) {
    const auto size = static_cast<double>(time.bytes);
    equations.push_back({time.seconds, {1.0, std::min(size, bytes), std::max(0.0, size - bytes)}});
  }
  const std::vector<double> x = relative_least_squares(equations).unknowns;
  return {bytes, {x[0], x[1]}, x[2]};
}

// None where what passes first is not much faster than the rest.
std::optional<TransferBucket> best_bucket(std::span<const TransferTime> times) {
  constexpr int parts = 17;
  constexpr double fast = 0.2;
  std::optional<TransferBucket> best;
  for (std::size_t i = fewest_in_segment; i + fewest_in_segment <= times.size(); ++i)
    for (int part = 0; part < parts; ++part) {
      const auto before = static_cast<double>(times[i - 1].bytes);
      const double growth = static_cast<double>(times[i].bytes) / before;
      const TransferBucket bucket = fit_beyond(before * std::pow(growth, part / double{parts}), times);
      const bool is_fast = bucket.at_once.seconds_per_byte <= fast * bucket.seconds_per_byte;
      if (is_fast && (!best || error_sum(bucket, times) < error_sum(*best, times))) best = bucket;
    }
  return best;
}

// The error of each inner size beyond that as `predicted` from the others; infinite where those do not tell.
template <class Predicted>
double leave_one_out(std::span<const TransferTime> times, double beyond_bytes, const Predicted& predicted) {
  double sum = 0.0;
  for (std::size_t out = 1; out + 1 < times.size(); ++out) {
    if (static_cast<double>(times[out].bytes) <= beyond_bytes) continue;
    std::vector<TransferTime> others(times.begin(), times.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
    const std::optional<double> seconds = predicted(others, static_cast<double>(times[out].bytes));
    if (!seconds) return std::numeric_limits<double>::infinity();
    sum += std::abs(*seconds / times[out].seconds - 1.0);
  }
  return sum;
}

double error_left_out(std::span<const TransferTime> times, int segments, double beyond_bytes = 0.0) {
  return leave_one_out(times, beyond_bytes, [&](std::span<const TransferTime> others, double bytes) {
    const Division division = best_division(others, segments);
    return division.segments.empty() ? std::nullopt
                                     : std::optional(find_segment(division.segments, bytes).line.at(bytes));
  });
}

double error_left_out_of_bucket(std::span<const TransferTime> times, double beyond_bytes) {
  return leave_one_out(times, beyond_bytes, [&](std::span<const TransferTime> others, double bytes) {
    const std::optional<TransferBucket> bucket = best_bucket(others);
    return bucket ? std::optional(bucket->at(bytes)) : std::nullopt;
  });
}

}  // namespace

const TransferSegment& NetworkFit::segment_of(double bytes) const {
  return find_segment(segments, bytes);
}

std::optional<SimulatedNetwork> simulated_network(const NetworkFit& fit) {
  constexpr double flat = 1e-3;
  if (fit.segments.back().line.seconds_per_byte <= 0.0) return std::nullopt;
  SimulatedNetwork network;
  if (fit.bucket) {
    network.latency_s = fit.bucket->at_once.latency_s;
    network.bandwidth_bytes_per_s = 1.0 / fit.bucket->seconds_per_byte;
    network.burst_bytes =
        fit.bucket->bytes * (1.0 - fit.bucket->at_once.seconds_per_byte / fit.bucket->seconds_per_byte);
    return network;
  }
  network.bandwidth_bytes_per_s = 1.0 / fit.segments.back().line.seconds_per_byte;
  network.latency_s = fit.segments.front().line.latency_s;
  if (network.latency_s <= 0.0)
    for (const TransferSegment& segment : fit.segments)
      network.latency_s = std::max(network.latency_s, segment.line.latency_s);
  for (std::size_t i = 0; i < fit.segments.size(); ++i) {
    const TransferLine& line = fit.segments[i].line;
    double seconds_per_byte = line.seconds_per_byte;
    if (i + 1 < fit.segments.size())
      seconds_per_byte = std::max(
          seconds_per_byte, flat * line.latency_s / static_cast<double>(fit.segments[i + 1].from_bytes));
    network.segments.push_back({i == 0 ? 0 : fit.segments[i].from_bytes,
                                network.latency_s > 0.0 ? line.latency_s / network.latency_s : 1.0,
                                1.0 / (network.bandwidth_bytes_per_s * seconds_per_byte)});
  }
  return network;
}

NetworkFit fit_network(std::span<const TransferTime> times) {
  check(times.size() >= fewest_in_segment, "a line over message sizes needs three of them");
  NetworkFit fit;
  fit.line = fit_line(times);
  int chosen = 1;
  double error = error_left_out(times, 1);
  for (int count = 2; count <= most_segments; ++count) {
    const double other = error_left_out(times, count);
    if (other >= must_be_better_by * error || error <= 1e-9) continue;
    chosen = count;
    error = other;
  }
  const Division division = best_division(times, chosen);
  fit.segments = division.segments;
  const auto size = static_cast<double>(times.size());
  fit.line_error = error_sum(fit.line, times) / size;
  fit.segments_error = division.error_sum / size;
  const std::optional<TransferBucket> bucket = best_bucket(times);
  if (!bucket ||
      error_left_out_of_bucket(times, bucket->bytes) > error_left_out(times, chosen, bucket->bytes))
    return fit;
  fit.bucket = bucket;
  fit.bucket_error = error_sum(*bucket, times) / size;
  return fit;
}

}  // namespace paceline::calibrate
