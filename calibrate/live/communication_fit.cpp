#include "calibrate/live/communication_fit.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/live/emulated_links.hpp"
#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

struct FixedAndPerByte {
  double fixed_s = 0.0;
  double seconds_per_byte = 0.0;
};

template <class SecondsOf>
FixedAndPerByte line_through(const std::vector<TimedWork>& times, SecondsOf seconds_of) {
  std::vector<calibrate::LinearEquation> equations;
  for (const TimedWork& time : times) equations.push_back({seconds_of(time), {time.count, time.bytes}});
  const std::vector<double> x = calibrate::relative_least_squares(equations).unknowns;
  return {x[0], x[1]};
}

double half_width(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double t = boost::math::quantile(boost::math::students_t_distribution<>(count - 1.0), 0.975);
  return t * spread_of(values).deviation / std::sqrt(count);
}

bool has_time_of_its_own(const std::vector<RequestPass>& passes) {
  constexpr double least_s = 1e-6;
  constexpr double least_share = 0.01;
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    std::vector<double> seconds;
    for (const RequestPass& pass : passes) seconds.push_back(pass.at(i).connection.value());
    const RequestTime& time = passes.front()[i];
    const double processors_s = (time.server + time.applying + time.worker).value();
    if (median(seconds) < std::max(least_s, least_share * processors_s)) return false;
  }
  return true;
}

std::string rate_words(BytesPerSecond rate) {
  return fmt::format("{:.4g} Gbit/s", 8e-9 * rate.value());
}

// Of each, over the mean.
std::vector<double> shares_of(const std::vector<Seconds>& of_worker) {
  std::vector<double> shares;
  for (const Seconds one : of_worker) shares.push_back(one.value());
  if (shares.empty()) return {};
  const double mean = spread_of(shares).mean;
  for (double& share : shares) share /= mean;
  return shares;
}

}  // namespace

FittedTime fit_time(const std::vector<TimedWork>& times) {
  check(times.size() >= 2, "a line needs two sizes");
  const auto middle = [](const TimedWork& time) { return median(time.seconds); };
  const FixedAndPerByte line = line_through(times, middle);
  FittedTime fit{.fixed_s = line.fixed_s, .seconds_per_byte = line.seconds_per_byte};
  for (const TimedWork& time : times)
    fit.error +=
        std::abs(fit.of(time.count, time.bytes) / middle(time) - 1.0) / static_cast<double>(times.size());
  const std::size_t passes = times.front().seconds.size();
  if (passes < 2) return fit;
  std::vector<double> fixed;
  std::vector<double> per_byte;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const FixedAndPerByte one =
        line_through(times, [pass](const TimedWork& time) { return time.seconds.at(pass); });
    fixed.push_back(one.fixed_s);
    per_byte.push_back(one.seconds_per_byte);
  }
  fit.fixed_half_width_s = half_width(fixed);
  fit.per_byte_half_width = half_width(per_byte);
  return fit;
}

std::vector<TimedWork> part_of(const std::vector<RequestPass>& passes, Seconds RequestTime::*part) {
  constexpr double resolution_s = 1e-9;
  std::vector<TimedWork> times;
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    TimedWork time{1.0, passes.front()[i].bytes.value(), {}};
    for (const RequestPass& pass : passes)
      time.seconds.push_back(std::max(resolution_s, (pass.at(i).*part).value()));
    times.push_back(std::move(time));
  }
  return times;
}

std::vector<Disturbances> disturbances(const std::vector<RequestPass>& one,
                                       const std::vector<RequestPass>& several, std::uint32_t workers,
                                       const RequestPlan& plan, int cores) {
  const std::optional<NetworkConfig>& links = plan.links;
  NetworkConfig network = links.value_or(NetworkConfig{});
  if (links) {
    network.model.burst = burst_of(*links, links->bandwidth);
    network.bandwidth = network.server_bandwidth = links->bandwidth * share_without_headers;
  } else {
    network.bandwidth = network.server_bandwidth = Connection{}.bandwidth;
  }
  const auto measured = [&](const RequestTime& time, std::uint32_t many, Seconds busy,
                            double variation_alone) {
    return MeasuredWorkers{
        .job = {.workers = many,
                .policy = plan.policy,
                .busy = busy,
                .shares = many <= static_cast<std::uint32_t>(cores) ? shares_of(time.of_worker)
                                                                    : std::vector<double>{},
                // On too few cores wall-clock times vary by the turns, too, which are simulated.
                .variation = many > static_cast<std::uint32_t>(cores) ? variation_alone : time.variation,
                .bytes = time.bytes,
                .cost = {.server_request = time.server + time.applying, .per_message = 0.5 * time.worker},
                .network = network,
                .cores = cores},
        .cycle = time.cycle,
        .processor = time.processor};
  };
  std::vector<Disturbances> by_size;
  for (std::size_t size = 0; size < one.front().size(); ++size) {
    Disturbances& found = by_size.emplace_back(Disturbances{one.front()[size].bytes, {}});
    for (std::size_t pass = 0; pass < several.size(); ++pass) {
      const RequestTime& alone = one.at(pass).at(size);
      const RequestTime& together = several[pass].at(size);
      if (alone.processor <= Seconds{})
        throw UserError("steps of the loop that computes take no processor time, as it says",
                        "`step <n> <wall_s> <cpu_s> <samples>`: <cpu_s> of the whole process");
      const Seconds busy = alone.cycle.iteration;
      found.of_pass.push_back(disturbance_of(measured(alone, 1, busy, alone.variation),
                                             measured(together, workers, busy, alone.variation)));
    }
  }
  return by_size;
}

CommunicationFit fit_communication(const std::vector<RequestPass>& passes) {
  return {.server = fit_time(part_of(passes, &RequestTime::server)),
          .applying = fit_time(part_of(passes, &RequestTime::applying)),
          .worker = fit_time(part_of(passes, &RequestTime::worker)),
          .connection = has_time_of_its_own(passes)
                            ? std::optional(fit_time(part_of(passes, &RequestTime::connection)))
                            : std::nullopt};
}

CommunicationCost cost_of(const CommunicationFit& fit) {
  CommunicationCost cost;
  cost.server_request = Seconds{fit.server.fixed_s + fit.applying.fixed_s};
  if (fit.server.seconds_per_byte > 0.0) cost.server_rate = BytesPerSecond{1.0 / fit.server.seconds_per_byte};
  cost.per_message = Seconds{0.5 * fit.worker.fixed_s};
  if (fit.worker.seconds_per_byte > 0.0) cost.rate = BytesPerSecond{2.0 / fit.worker.seconds_per_byte};
  return cost;
}

Connection connection_of(const CommunicationFit& fit) {
  Connection connection;
  if (!fit.connection) return connection;
  connection.latency = Seconds{0.5 * fit.connection->fixed_s};
  if (fit.connection->seconds_per_byte > 0.0)
    connection.bandwidth = BytesPerSecond{2.0 / fit.connection->seconds_per_byte};
  return connection;
}

std::string scenario_words(const Connection& connection) {
  return fmt::format("latency: {:.3g} us, bandwidth: {}", 1e6 * connection.latency.value(),
                     rate_words(connection.bandwidth));
}

std::string scenario_words(const CommunicationCost& cost) {
  std::vector<std::string> words;
  if (cost.server_request > Seconds{})
    words.push_back(fmt::format("server_request: {:.3g} us", 1e6 * cost.server_request.value()));
  if (cost.server_rate) words.push_back("server_rate: " + rate_words(*cost.server_rate));
  words.push_back(fmt::format("per_message: {:.3g} us", 1e6 * cost.per_message.value()));
  if (cost.rate) words.push_back("rate: " + rate_words(*cost.rate));
  return fmt::format("communication: {{{}}}", fmt::join(words, ", "));
}

}  // namespace paceline::live
