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
  // When each asks the servers next; of those who are yet to join, when they do.
  std::vector<double> asks(queue.workers.size());
  std::vector<bool> has_joined(queue.workers.size(), true);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const double joins = queue.workers[i].joins_s;
    has_joined[i] = joins <= 0.0;
    asks[i] = has_joined[i] ? compute(i) * (static_cast<double>(i) + 1.0) / static_cast<double>(asks.size())
                            : joins;
  }
  std::vector<double> free_at(queue.service_s.size(), 0.0);
  std::vector<std::int64_t> read_version(queue.workers.size(), 0);
  double next_pause = queue.pause_updates;
  bool pauses = false;
  double staleness = 0.0;
  QueueResult result;
  const auto total = static_cast<std::int64_t>(queue.updates);
  for (std::int64_t done = 0; done < total;) {
    const auto first = static_cast<std::size_t>(std::ranges::min_element(asks) - asks.begin());
    check(std::isfinite(asks[first]), "some worker stays until the end");
    if (asks[first] > queue.workers[first].leaves_s) {
      asks[first] = std::numeric_limits<double>::infinity();
      continue;
    }
    if (!has_joined[first]) {
      has_joined[first] = true;
      read_version[first] = done;
      asks[first] += compute(first);
      continue;
    }
    double end = 0.0;
    for (std::size_t j = 0; j < free_at.size(); ++j) {
      free_at[j] = std::max(asks[first], free_at[j]) + service(queue.service_s[j]);
      end = std::max(end, free_at[j]);
    }
    staleness += static_cast<double>(done - read_version[first]);
    read_version[first] = ++done;
    result.seconds = std::max(result.seconds, end);
    const auto evaluated = static_cast<std::int64_t>(result.evaluations.size());
    if (done * queue.evaluations >= (evaluated + 1) * total)
      result.evaluations.push_back({result.seconds, staleness / static_cast<double>(done)});
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
  result.rate = static_cast<double>(total) / result.seconds;
  result.mean_staleness = staleness / static_cast<double>(total);
  return result;
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
