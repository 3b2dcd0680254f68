#include "calibrate/collective/ring_fit.hpp"

#include <algorithm>

#include "calibrate/live/message_wait.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

double round_count(std::size_t members) {
  return 2.0 * (static_cast<double>(members) - 1.0);
}

// Of a ring of loops that say their steps.
template <typename Value>
Value mean_of(const std::vector<RingPass>& passes, std::size_t i, Value LoopSteps::*part) {
  Value sum{};
  for (const RingPass& pass : passes) sum += *pass.at(i).steps.*part;
  return sum / static_cast<double>(passes.size());
}

Seconds processor_of(const std::vector<RingPass>& passes, std::size_t i) {
  Seconds sum;
  for (const RingPass& pass : passes) sum += pass.at(i).processor;
  return sum / static_cast<double>(passes.size());
}

RingDisturbance disturbance_of(const std::vector<RingPass>& passes, std::size_t i, std::size_t cores) {
  const RingTime& first = passes.front()[i];
  RingDisturbance found{.members = first.members, .bytes = first.bytes, .slowdowns = {}, .round = {}};
  for (const RingPass& pass : passes)
    found.slowdowns.push_back(pass.at(i).steps->beside / pass.at(i).steps->alone);
  const Seconds alone = mean_of(passes, i, &LoopSteps::alone);
  found.slowdown = mean_of(passes, i, &LoopSteps::beside) / alone;
  const double rounds = round_count(first.members);
  live::BusyWorkers job{.workers = static_cast<std::uint32_t>(first.members),
                        .policy = "bsp",
                        .transport = Transport::ring,
                        .busy = alone,
                        .slowdown = found.slowdown,
                        .variation = mean_of(passes, i, &LoopSteps::variation),
                        .bytes = first.bytes,
                        .cores = static_cast<int>(cores)};
  job.cost.per_message = processor_of(passes, i) / (2.0 * rounds);
  job.network.bandwidth = job.network.server_bandwidth = live::Connection{}.bandwidth;
  const auto of_round = [&](const std::vector<Seconds>& added) {
    job.network.latency = added.front();
    const live::CycleTime cycle = simulated_cycle(job);
    return std::vector{cycle.iteration + cycle.between};
  };
  const Seconds update = mean_of(passes, i, &LoopSteps::update);
  found.round = live::added_to_messages({update}, of_round, rounds).added.front();
  return found;
}

std::vector<RingDisturbance> disturbances(const std::vector<RingPass>& passes, std::size_t cores) {
  std::vector<RingDisturbance> found;
  const bool have_steps = std::ranges::all_of(passes, [](const RingPass& pass) {
    return std::ranges::all_of(pass, [](const RingTime& time) { return time.steps.has_value(); });
  });
  for (std::size_t i = 0; have_steps && i < passes.front().size(); ++i)
    found.push_back(disturbance_of(passes, i, cores));
  return found;
}

// What is left of the wall-clock time, of each pass, or as simulated.
live::TimedWork connection_work(const std::vector<RingPass>& passes, std::size_t i,
                                const std::vector<RingDisturbance>& disturbances) {
  constexpr double resolution_s = 1e-9;
  const RingTime& first = passes.front()[i];
  const double rounds = round_count(first.members);
  live::TimedWork work{rounds, rounds / static_cast<double>(first.members) * first.bytes.value(), {}};
  if (!disturbances.empty())
    work.seconds.push_back(std::max(resolution_s, rounds * disturbances.at(i).round.value()));
  else
    for (const RingPass& pass : passes)
      work.seconds.push_back(std::max(resolution_s, (pass[i].wall - pass[i].processor).value()));
  return work;
}

}  // namespace

CollectiveFit fit_collectives(const std::vector<RingPass>& passes, std::size_t cores) {
  CollectiveFit fit{.processor = {}, .connection = std::nullopt, .disturbances = disturbances(passes, cores)};
  std::vector<live::TimedWork> processor;
  std::vector<live::TimedWork> connection;
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    const RingTime& first = passes.front()[i];
    const auto n = static_cast<double>(first.members);
    live::TimedWork work{4.0 * (n - 1.0), 4.0 * (n - 1.0) / n * first.bytes.value(), {}};
    for (const auto& pass : passes) work.seconds.push_back(pass.at(i).processor.value());
    processor.push_back(std::move(work));
    if (first.members <= cores) connection.push_back(connection_work(passes, i, fit.disturbances));
  }
  fit.processor = live::fit_time(processor);
  constexpr double least_s = 1e-6;
  const bool has_time_of_its_own = std::ranges::all_of(
      connection, [](const live::TimedWork& work) { return median(work.seconds) > least_s; });
  if (connection.size() >= 2 && has_time_of_its_own) fit.connection = live::fit_time(connection);
  return fit;
}

CommunicationCost cost_of(const CollectiveFit& fit) {
  CommunicationCost cost;
  cost.per_message = Seconds{fit.processor.fixed_s};
  if (fit.processor.seconds_per_byte > 0.0) cost.rate = BytesPerSecond{1.0 / fit.processor.seconds_per_byte};
  return cost;
}

live::Connection connection_of(const RingDisturbance& disturbance) {
  live::Connection connection;
  connection.latency = disturbance.round;
  return connection;
}

live::Connection connection_of(const CollectiveFit& fit) {
  live::Connection connection;
  if (!fit.connection) return connection;
  connection.latency = Seconds{fit.connection->fixed_s};
  if (fit.connection->seconds_per_byte > 0.0)
    connection.bandwidth = BytesPerSecond{1.0 / fit.connection->seconds_per_byte};
  return connection;
}

}  // namespace paceline::calibrate
