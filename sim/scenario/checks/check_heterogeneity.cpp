// Rules that join the keys of `heterogeneity`.
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

double amount_of(const Moment& moment) {
  if (const auto* date = std::get_if<Seconds>(&moment)) return date->value();
  if (const auto* at = std::get_if<AtEpoch>(&moment)) return at->epoch;
  return std::get<AtProgress>(moment).fraction;
}

class HeterogeneityRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    for (std::size_t i = 0; i < changes.schedule.size(); ++i)
      check_level(changes.schedule[i], fmt::format("heterogeneity.schedule.{}", i));
    for (std::size_t i = 0; i < changes.stragglers.size(); ++i) {
      const std::string path = fmt::format("heterogeneity.stragglers.{}", i);
      check_worker(changes.stragglers[i].worker, path + ".worker");
      check_straggling(changes.stragglers[i], path);
    }
    if (changes.random_stragglers)
      check_straggling(*changes.random_stragglers, "heterogeneity.random_stragglers");
    if (sound("cluster.workers")) check_membership();
  }

 private:
  const Heterogeneity& changes = scenario.heterogeneity.changes;
  const std::vector<Worker>& workers = scenario.cluster.workers;

  void check_worker(std::uint64_t worker, const std::string& path) const {
    if (sound("cluster.workers", path) && worker >= workers.size())
      error(path, fmt::format("there is no worker {}: they are 0 to {}", worker, workers.size() - 1));
  }

  void check_level(const Level& level, const std::string& path) const {
    if (!sound(path, "cluster.workers")) return;
    const std::size_t expected = level.workers.empty() ? workers.size() : level.workers.size();
    const std::pair<const char*, std::size_t> lists[] = {{"speed", level.speeds.size()},
                                                         {"cores", level.cores.size()},
                                                         {"bandwidth", level.bandwidths.size()}};
    for (const auto& [key, entries] : lists)
      if (entries != 0 && entries != expected)
        error(fmt::format("{}.{}", path, key), fmt::format("{} entries for {} workers", entries, expected),
              "write one for each worker");
    for (std::size_t i = 0; i < expected; ++i) {
      const std::uint64_t worker = level.workers.empty() ? i : level.workers[i];
      if (!level.workers.empty()) check_worker(worker, fmt::format("{}.workers.{}", path, i));
      if (level.cores.size() == expected && worker < workers.size() && workers[worker].quota)
        error(fmt::format("{}.cores.{}", path, i),
              fmt::format("worker {} has a quota of processor time, and so keeps its cores", worker),
              "change its `speed`, or give it no quota");
    }
    std::vector<std::uint64_t> named = level.workers;
    std::sort(named.begin(), named.end());
    if (std::adjacent_find(named.begin(), named.end()) != named.end())
      error(path + ".workers", "a worker is named twice");
    if (level.speeds.empty() && level.cores.empty() && level.bandwidths.empty())
      error(path, "a level that changes nothing", "give `speed`, `cores` or `bandwidth`");
  }

  // Scripted and random stragglers alike.
  template <class AnyStraggler>
  void check_straggling(const AnyStraggler& straggler, const std::string& path) const {
    if (!sound(path)) return;
    if (straggler.slowdown == 1.0 && straggler.round_trips * straggler.added_latency == Seconds{})
      error(path, "a straggler that is not slower",
            "give `slowdown`, or `added_latency` with `round_trips` above 0");
    if (given(path + ".round_trips") && straggler.added_latency == Seconds{})
      warn(path + ".round_trips", "`round_trips` is not used without `added_latency`");
  }

  void check_membership() const {
    if (!changes.membership.empty() && scenario.cluster.servers.count > 1)
      error("heterogeneity.membership", "workers that leave or join need a single server",
            "set `cluster.servers.count` to 1");
    std::vector<const MembershipChange*> last(workers.size(), nullptr);
    for (std::size_t i = 0; i < changes.membership.size(); ++i) {
      const MembershipChange& change = changes.membership[i];
      const std::string path = fmt::format("heterogeneity.membership.{}", i);
      check_worker(change.worker, path + ".worker");
      if (!sound(path) || change.worker >= last.size()) continue;
      check_change(change, last[change.worker], path);
      last[change.worker] = &change;
    }
  }

  // `before`: the change of the same worker before this one, if any.
  void check_change(const MembershipChange& change, const MembershipChange* before,
                    const std::string& path) const {
    if (before != nullptr && before->event == change.event)
      error(path,
            fmt::format("worker {} is {} already", change.worker,
                        change.event == MembershipEvent::joins ? "there" : "gone"),
            "its changes must alternate, in the order they happen");
    else if (amount_of(change.at) <= 0.0)
      error(path + ".at", "the job has not begun yet",
            "a worker whose first event is to join is absent at the start; leave out one that never takes "
            "part");
    else if (before != nullptr && before->at.index() == change.at.index() &&
             amount_of(change.at) <= amount_of(before->at))
      error(path + ".at", fmt::format("the changes of worker {} must follow each other", change.worker),
            "write them in the order they happen");
  }
};

}  // namespace

void check_heterogeneity(const Scenario& scenario, const Reading& reading) {
  HeterogeneityRules(scenario, reading).check();
}

}  // namespace paceline
