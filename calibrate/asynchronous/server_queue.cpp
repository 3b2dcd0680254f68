#include "calibrate/asynchronous/server_queue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/base/check.hpp"

namespace paceline {

QueueResult simulate_queue(const ServerQueue& queue, RandomStream random) {
  check(!queue.workers.empty() && !queue.service_s.empty(), "a queue has workers and servers");
  const double visible = *std::ranges::max_element(queue.service_s);
  const auto compute = [&](std::size_t worker) {
    const double mean = std::max(queue.workers[worker].alone_s - visible, 0.0);
    return queue.compute_variation > 0.0 && mean > 0.0 ? random.log_normal(mean, queue.compute_variation)
                                                       : mean;
  };
  const auto service = [&](double mean) {
    if (queue.variation == ServiceVariation::exponential) return -mean * std::log1p(-random.uniform());
    return queue.service_variation > 0.0 ? random.log_normal(mean, queue.service_variation) : mean;
  };
  std::vector<double> asks(queue.workers.size());
  for (std::size_t i = 0; i < asks.size(); ++i)
    asks[i] = compute(i) * (static_cast<double>(i) + 1.0) / static_cast<double>(asks.size());
  std::vector<double> free_at(queue.service_s.size(), 0.0);
  std::vector<std::int64_t> read_version(queue.workers.size(), 0);
  double next_pause = queue.pause_updates;
  bool pauses = false;
  double staleness = 0.0;
  double now = 0.0;
  const auto total = static_cast<std::int64_t>(queue.updates);
  for (std::int64_t done = 0; done < total;) {
    const auto first = static_cast<std::size_t>(std::ranges::min_element(asks) - asks.begin());
    double end = 0.0;
    for (std::size_t j = 0; j < free_at.size(); ++j) {
      free_at[j] = std::max(asks[first], free_at[j]) + service(queue.service_s[j]);
      end = std::max(end, free_at[j]);
    }
    staleness += static_cast<double>(done - read_version[first]);
    read_version[first] = ++done;
    now = std::max(now, end);
    asks[first] = end + compute(first);
    if (next_pause > 0.0 && static_cast<double>(done) >= next_pause) {
      pauses = true;
      next_pause += queue.pause_updates;
    }
    if (pauses && first == 0) {
      asks[first] += queue.pause_s;
      pauses = false;
    }
  }
  return {now, static_cast<double>(total) / now, staleness / static_cast<double>(total)};
}

double mean_value_rate(int workers, double alone_s, double service_s) {
  double waiting = 0.0;
  double rate = 0.0;
  for (int n = 1; n <= workers; ++n) {
    const double response = service_s * (1.0 + waiting);
    rate = n / (response + alone_s - service_s);
    waiting = rate * response;
  }
  return rate;
}

}  // namespace paceline
