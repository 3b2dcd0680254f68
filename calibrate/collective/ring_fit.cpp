#include "calibrate/collective/ring_fit.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/live/message_wait.hpp"
#include "calibrate/logs/statistics.hpp"
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

RingDisturbance disturbance_of(const std::vector<RingPass>& passes, std::size_t i, std::size_t cores,
                               const CommunicationCost& cost) {
  const RingTime& first = passes.front()[i];
  RingDisturbance found{.members = first.members, .bytes = first.bytes, .slowdowns = {}, .round = {}};
  for (const RingPass& pass : passes)
    found.slowdowns.push_back(pass.at(i).steps->beside / pass.at(i).steps->alone);
  const Seconds alone = mean_of(passes, i, &LoopSteps::alone);
  found.slowdown = mean_of(passes, i, &LoopSteps::beside) / alone;
  live::BusyWorkers job{.workers = static_cast<std::uint32_t>(first.members),
                        .policy = "bsp",
                        .transport = Transport::ring,
                        .busy = alone,
                        .slowdown = found.slowdown,
                        .variation = mean_of(passes, i, &LoopSteps::variation),
                        .bytes = first.bytes,
                        .cost = cost,
                        .cores = static_cast<int>(cores)};
  job.network.bandwidth = job.network.server_bandwidth = live::Connection{}.bandwidth;
  const auto update = [&job](Seconds round) {
    job.network.latency = round;
    const live::CycleTime cycle = simulated_cycle(job);
    return cycle.iteration + cycle.between;
  };
  const Seconds without_rounds = update({});
  const auto of_rounds = [&](const std::vector<Seconds>& added) {
    return std::vector{update(added.front()) - without_rounds};
  };
  const Seconds measured = mean_of(passes, i, &LoopSteps::update) - without_rounds;
  if (measured > Seconds{})
    found.round = live::added_to_messages({measured}, of_rounds, round_count(first.members)).added.front();
  return found;
}

bool all_have_steps(const std::vector<RingPass>& passes) {
  return std::ranges::all_of(passes, [](const RingPass& pass) {
    return std::ranges::all_of(pass, [](const RingTime& time) { return time.steps.has_value(); });
  });
}

std::vector<RingDisturbance> disturbances(const std::vector<RingPass>& passes, std::size_t cores,
                                          const CommunicationCost& cost) {
  if (!all_have_steps(passes)) return {};
  std::vector<RingDisturbance> found;
  for (std::size_t i = 0; i < passes.front().size(); ++i)
    found.push_back(disturbance_of(passes, i, cores, cost));
  return found;
}

std::vector<RingResume> resumes(const std::vector<RingPass>& passes) {
  std::map<std::size_t, RingResume> by_members;
  const auto add = [](HeldUp& sum, const HeldUp& one) {
    sum.longer += one.longer;
    sum.stops += one.stops;
  };
  for (const RingPass& pass : passes) {
    std::map<std::size_t, HeldUp> of_pass;
    for (const RingTime& time : pass)
      if (time.held_up) add(of_pass[time.members], *time.held_up);
    for (const auto& [members, held_up] : of_pass) {
      RingResume& resume = by_members[members];
      resume.members = members;
      add(resume.all, held_up);
      if (held_up.stops > 0)
        resume.seconds.push_back((held_up.longer / static_cast<double>(held_up.stops)).value());
    }
  }
  std::vector<RingResume> all;
  for (auto& [members, resume] : by_members) all.push_back(std::move(resume));
  return all;
}

// Of each ring a line through the rounds of its sizes.
void tell_bytes_from_latency(std::vector<RingDisturbance>& rings) {
  std::map<std::size_t, std::vector<LinearEquation>> lines;
  const auto part_of = [](const RingDisturbance& ring) {
    return ring.bytes.value() / static_cast<double>(ring.members);
  };
  for (const RingDisturbance& ring : rings)
    if (ring.round > Seconds{}) lines[ring.members].push_back({ring.round.value(), {1.0, part_of(ring)}});
  for (RingDisturbance& ring : rings) {
    const std::vector<LinearEquation>& line = lines[ring.members];
    if (line.size() < 2) continue;
    const double seconds_per_byte = relative_least_squares(line).unknowns.at(1);
    ring.carried = std::min(ring.round, Seconds{seconds_per_byte * part_of(ring)});
  }
}

// What is left of the wall-clock time, of each pass, or as simulated.
live::TimedWork connection_work(const std::vector<RingPass>& passes, std::size_t i,
                                const std::vector<RingDisturbance>& of_loops) {
  constexpr double resolution_s = 1e-9;
  const RingTime& first = passes.front()[i];
  const double rounds = round_count(first.members);
  live::TimedWork work{rounds, rounds / static_cast<double>(first.members) * first.bytes.value(), {}};
  if (!of_loops.empty())
    work.seconds.push_back(std::max(resolution_s, rounds * of_loops.at(i).round.value()));
  else
    for (const RingPass& pass : passes)
      work.seconds.push_back(std::max(resolution_s, (pass[i].wall - pass[i].processor).value()));
  return work;
}

}  // namespace

CollectiveFit fit_collectives(const std::vector<RingPass>& passes, std::size_t cores) {
  std::vector<live::TimedWork> processor;
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    const RingTime& first = passes.front()[i];
    const double messages = 2.0 * round_count(first.members);
    processor.push_back({messages, messages / static_cast<double>(first.members) * first.bytes.value(), {}});
    for (const RingPass& pass : passes) processor.back().seconds.push_back(pass.at(i).processor.value());
  }
  CollectiveFit fit{.processor = live::fit_time(processor),
                    .connection = std::nullopt,
                    .disturbances = {},
                    .resumes = resumes(passes)};
  fit.disturbances = disturbances(passes, cores, cost_of(fit));
  tell_bytes_from_latency(fit.disturbances);
  std::vector<live::TimedWork> connection;
  for (std::size_t i = 0; i < passes.front().size(); ++i)
    if (passes.front()[i].members <= cores)
      connection.push_back(connection_work(passes, i, fit.disturbances));
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
  connection.latency = disturbance.round - disturbance.carried;
  if (disturbance.carried > Seconds{})
    connection.bandwidth = disturbance.bytes / static_cast<double>(disturbance.members) / disturbance.carried;
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
