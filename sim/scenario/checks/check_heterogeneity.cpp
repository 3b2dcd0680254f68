// Rules that join the keys of `heterogeneity`.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/checks/semantic_check_parts.hpp"

namespace paceline {
namespace {

void check_worker(std::uint64_t worker, const std::string& path, const Scenario& scenario,
                  const Reading& reading) {
  if (!all_sound(reading, {"cluster.workers", path.c_str()}) || worker < scenario.cluster.workers.size())
    return;
  reading.problems().error(
      reading.spot(path),
      fmt::format("there is no worker {}: they are 0 to {}", worker, scenario.cluster.workers.size() - 1),
      "");
}

bool has_duplicates(std::vector<std::uint64_t> workers) {
  std::sort(workers.begin(), workers.end());
  return std::adjacent_find(workers.begin(), workers.end()) != workers.end();
}

void check_level(const Level& level, const std::string& path, const Scenario& scenario,
                 const Reading& reading) {
  if (!reading.is_sound(path) || !reading.is_sound("cluster.workers")) return;
  Problems& problems = reading.problems();
  for (std::size_t i = 0; i < level.workers.size(); ++i)
    check_worker(level.workers[i], fmt::format("{}.workers.{}", path, i), scenario, reading);
  const std::size_t expected = level.workers.empty() ? scenario.cluster.workers.size() : level.workers.size();
  const auto check_list = [&](const char* key, std::size_t entries) {
    if (entries == 0 || entries == expected) return;
    problems.error(reading.spot(fmt::format("{}.{}", path, key)),
                   fmt::format("{} entries for {} workers", entries, expected), "write one for each worker");
  };
  check_list("speed", level.speeds.size());
  check_list("cores", level.cores.size());
  check_list("bandwidth", level.bandwidths.size());
  for (std::size_t i = 0; i < level.cores.size() && level.cores.size() == expected; ++i) {
    const std::uint64_t worker = level.workers.empty() ? i : level.workers[i];
    if (worker < scenario.cluster.workers.size() && scenario.cluster.workers[worker].quota)
      problems.error(reading.spot(fmt::format("{}.cores.{}", path, i)),
                     fmt::format("worker {} has a quota of processor time, and so keeps its cores", worker),
                     "change its `speed`, or give it no quota");
  }
  if (has_duplicates(level.workers))
    problems.error(reading.spot(path + ".workers"), "a worker is named twice", "");
  if (level.speeds.empty() && level.cores.empty() && level.bandwidths.empty())
    problems.error(reading.spot(path), "a level that changes nothing",
                   "give `speed`, `cores` or `bandwidth`");
}

// Scripted and random stragglers alike.
template <class AnyStraggler>
void check_straggling(const AnyStraggler& straggler, const std::string& path, const Reading& reading) {
  if (!reading.is_sound(path)) return;
  if (straggler.slowdown == 1.0 && straggler.round_trips * straggler.added_latency == Seconds{})
    reading.problems().error(reading.spot(path), "a straggler that is not slower",
                             "give `slowdown`, or `added_latency` with `round_trips` above 0");
  if (reading.is_given(path + ".round_trips") && straggler.added_latency == Seconds{})
    reading.problems().warning(reading.spot(path + ".round_trips"),
                               "`round_trips` is not used without `added_latency`");
}

// The workers of one machine must fit its cores, as they begin and under every level, in the order written.
void check_machine(const Scenario& scenario, const Reading& reading, std::size_t index) {
  const Machine& machine = scenario.cluster.machines[index];
  const std::string path = fmt::format("cluster.machines.{}", index);
  if (!reading.is_sound(path)) return;
  const std::size_t count = scenario.cluster.workers.size();
  for (std::size_t i = 0; i < machine.workers.size(); ++i)
    check_worker(machine.workers[i], fmt::format("{}.workers.{}", path, i), scenario, reading);
  if (std::ranges::any_of(machine.workers, [=](std::uint64_t w) { return w >= count; })) return;
  std::vector<int> cores;
  for (const Worker& worker : scenario.cluster.workers) cores.push_back(worker.cores);
  const auto check_sum = [&](const std::string& place) {
    int sum = 0;
    for (const std::uint64_t worker : machine.workers) sum += cores[worker];
    if (sum <= machine.cores) return;
    reading.problems().error(
        reading.spot(place),
        fmt::format("the workers of machine {} need {} cores, and it has {}", index, sum, machine.cores),
        "give them fewer cores, or the machine more");
  };
  check_sum("cluster.workers");
  const std::vector<Level>& schedule = scenario.heterogeneity.changes.schedule;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i].cores.empty()) continue;
    for (std::size_t k = 0; k < schedule[i].cores.size(); ++k) {
      const std::uint64_t worker = schedule[i].workers.empty() ? k : schedule[i].workers.at(k);
      if (worker < count) cores[worker] = schedule[i].cores[k];
    }
    check_sum(fmt::format("heterogeneity.schedule.{}.cores", i));
  }
}

void check_machines(const Scenario& scenario, const Reading& reading) {
  if (!all_sound(reading, {"cluster.workers", "cluster.machines", "heterogeneity.schedule"})) return;
  std::vector<std::uint64_t> placed;
  for (std::size_t i = 0; i < scenario.cluster.machines.size(); ++i) {
    check_machine(scenario, reading, i);
    const std::vector<std::uint64_t>& workers = scenario.cluster.machines[i].workers;
    placed.insert(placed.end(), workers.begin(), workers.end());
    if (has_duplicates(placed)) {
      reading.problems().error(reading.spot(fmt::format("cluster.machines.{}.workers", i)),
                               "a worker runs on two machines", "name it once");
      return;
    }
  }
}

double amount_of(const Moment& moment) {
  struct Amount {
    double operator()(Seconds date) const { return date.value(); }
    double operator()(AtEpoch at) const { return at.epoch; }
    double operator()(AtProgress at) const { return at.fraction; }
  };
  return std::visit(Amount{}, moment);
}

void check_membership(const Scenario& scenario, const Reading& reading) {
  const std::vector<MembershipChange>& membership = scenario.heterogeneity.changes.membership;
  if (!membership.empty() && scenario.cluster.servers.count > 1)
    reading.problems().error(reading.spot("heterogeneity.membership"),
                             "workers that leave or join need a single server",
                             "set `cluster.servers.count` to 1");
  std::vector<const MembershipChange*> last(scenario.cluster.workers.size(), nullptr);
  for (std::size_t i = 0; i < membership.size(); ++i) {
    const MembershipChange& change = membership[i];
    const std::string path = fmt::format("heterogeneity.membership.{}", i);
    check_worker(change.worker, path + ".worker", scenario, reading);
    if (!reading.is_sound(path) || change.worker >= last.size()) continue;
    const MembershipChange*& before = last[change.worker];
    if (before != nullptr && before->event == change.event)
      reading.problems().error(reading.spot(path),
                               fmt::format("worker {} is {} already", change.worker,
                                           change.event == MembershipEvent::joins ? "there" : "gone"),
                               "its changes must alternate, in the order they happen");
    else if (amount_of(change.at) <= 0.0)
      reading.problems().error(
          reading.spot(path + ".at"), "the job has not begun yet",
          "a worker whose first event is to join is absent at the start; leave out one that never "
          "takes part");
    else if (before != nullptr && before->at.index() == change.at.index() &&
             amount_of(change.at) <= amount_of(before->at))
      reading.problems().error(reading.spot(path + ".at"),
                               fmt::format("the changes of worker {} must follow each other", change.worker),
                               "write them in the order they happen");
    before = &change;
  }
}

}  // namespace

void check_heterogeneity(const Scenario& scenario, const Reading& reading) {
  const Heterogeneity& changes = scenario.heterogeneity.changes;
  for (std::size_t i = 0; i < changes.schedule.size(); ++i)
    check_level(changes.schedule[i], fmt::format("heterogeneity.schedule.{}", i), scenario, reading);
  for (std::size_t i = 0; i < changes.stragglers.size(); ++i) {
    const std::string path = fmt::format("heterogeneity.stragglers.{}", i);
    check_worker(changes.stragglers[i].worker, path + ".worker", scenario, reading);
    check_straggling(changes.stragglers[i], path, reading);
  }
  if (changes.random_stragglers)
    check_straggling(*changes.random_stragglers, "heterogeneity.random_stragglers", reading);
  if (reading.is_sound("cluster.workers")) check_membership(scenario, reading);
  check_machines(scenario, reading);
}

}  // namespace paceline
