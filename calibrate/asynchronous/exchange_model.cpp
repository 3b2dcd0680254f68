#include "calibrate/asynchronous/exchange_model.hpp"

#include <algorithm>
#include <cmath>

namespace paceline {
namespace {

constexpr double bits_per_byte = 8.0;
constexpr double least_error = 0.02;  // relative, of an exchange predicted from others at the same rate

std::string measured_like(const std::string& algorithm) {
  return algorithm == "diloco" ? "local-sgd" : algorithm;
}

}  // namespace

double ring_seconds(double bytes, int nodes, double rate_mbit) {
  return 2.0 * (nodes - 1.0) / nodes * bytes * bits_per_byte / (rate_mbit * 1e6);
}

std::optional<ExchangeTime> predict_exchange(const std::vector<ExchangeRecord>& records,
                                             const Configuration& configuration,
                                             const std::string& left_out) {
  const std::string algorithm = measured_like(configuration.algorithm);
  double nearest = 0.0;  // ratio of local steps, at least 1
  double factor = 0.0;
  double fixed_s = 0.0;
  double first_s = 0.0;
  double firsts = 0.0;
  double bytes = 0.0;
  for (const ExchangeRecord& record : records) {
    if (record.configuration.name == left_out || record.configuration.algorithm != algorithm ||
        !record.blocked_s)
      continue;
    const double ring = ring_seconds(record.bytes, exchange_nodes, record.configuration.rate_mbit);
    const double ratio = std::exp(std::abs(std::log(static_cast<double>(record.configuration.local_steps) /
                                                    static_cast<double>(configuration.local_steps))));
    first_s += record.first_s - *record.blocked_s;
    firsts += 1.0;
    if (nearest > 0.0 && ratio >= nearest) continue;
    nearest = ratio;
    factor = *record.blocked_s / ring;
    fixed_s = *record.blocked_s - ring;
    bytes = record.bytes;
  }
  if (firsts == 0.0) return std::nullopt;
  const double ring = ring_seconds(bytes, exchange_nodes, configuration.rate_mbit);
  const double once =
      configuration.local_steps >= single_exchange_steps ? std::max(first_s / firsts, 0.0) : 0.0;
  const double by_share = ring * factor;
  const double by_time = ring + fixed_s;
  return ExchangeTime{by_share + once, (1.0 - least_error) * (std::min(by_share, by_time) + 0.8 * once),
                      (1.0 + least_error) * (std::max(by_share, by_time) + 1.3 * once)};
}

}  // namespace paceline
