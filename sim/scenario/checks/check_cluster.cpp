// Rules that join the keys of `cluster.workers`, `cluster.machines` and `heterogeneity`.
#include <map>
#include <set>
#include <utility>

#include "sim/cost/quota_clock.hpp"
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

double amount_of(const Moment& moment) {
  if (const auto* date = std::get_if<Seconds>(&moment)) return date->value();
  if (const auto* at = std::get_if<AtEpoch>(&moment)) return at->epoch;
  return std::get<AtProgress>(moment).fraction;
}

class ClusterRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    for (std::size_t w = 0; w < workers.size(); ++w) check_quota(w);
    if (sound("cluster.workers")) {
      check_worker_names();
      check_random_streams();
      check_prices();
      if (sound("cluster.machines", "heterogeneity.schedule")) check_machines();
    }
    for (std::size_t i = 0; i < changes.schedule.size(); ++i)
      check_level(changes.schedule[i], fmt::format("heterogeneity.schedule.{}", i));
    for (std::size_t i = 0; i < changes.stragglers.size(); ++i) {
      const std::string path = fmt::format("heterogeneity.stragglers.{}", i);
      static_cast<void>(check_worker(changes.stragglers[i].worker, path + ".worker"));
      check_straggling(changes.stragglers[i], path);
      check_times(changes.stragglers[i], path);
    }
    if (changes.random_stragglers)
      check_straggling(*changes.random_stragglers, "heterogeneity.random_stragglers");
    if (sound("cluster.workers")) check_membership();
    if (sound("resume")) check_resume();
  }

 private:
  const std::vector<Worker>& workers = scenario.cluster.workers;
  const std::vector<Machine>& machines = scenario.cluster.machines;
  const Heterogeneity& changes = scenario.heterogeneity.changes;

  void check_quota(std::size_t w) const {
    const std::string path = fmt::format("cluster.workers.{}", w);
    const Worker& worker = workers[w];
    if (sound(path) && worker.quota && worker.quota->cores >= worker.cores)
      warn(path + ".quota", fmt::format("a quota of {:g} cores never holds up a worker that has {}",
                                        worker.quota->cores, worker.cores));
    if (!sound(path) || !worker.quota || !worker.quota->resume) return;
    const Seconds allowance = allowance_of(*worker.quota, worker.cores);
    if (*worker.quota->resume >= allowance)
      error(path + ".quota.resume",
            fmt::format("of {:g} ms in each period nothing is left when going on takes {:g} ms",
                        1e3 * allowance.value(), 1e3 * worker.quota->resume->value()),
            "it is what computing takes longer after each time the worker stood still, some milliseconds");
  }

  void check_resume() const {
    const std::vector<RestCost>& costs = scenario.resume;
    for (std::size_t i = 1; i < costs.size(); ++i)
      if (costs[i].rest <= costs[i - 1].rest)
        error(fmt::format("resume.{}.rest", i),
              fmt::format("{:g} ms does not lie beyond the rest before it, {:g} ms",
                          1e3 * costs[i].rest.value(), 1e3 * costs[i - 1].rest.value()),
              "list rests from the shortest to the longest");
  }

  // A cost without some of the machines would look low.
  void check_prices() const {
    const auto has_price = [](const Worker& worker) { return worker.price_per_hour.has_value(); };
    if (std::ranges::none_of(workers, has_price)) return;
    for (std::size_t w = 0; w < workers.size(); ++w)
      if (!has_price(workers[w]))
        error(fmt::format("cluster.workers.{}", w), "it has no `price`, though other workers have one",
              "for example `price: 0.90 per hour`; 0 for one that costs nothing");
  }

  void check_worker_names() const {
    std::map<std::string, std::size_t> owners;
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (workers[w].name.empty()) continue;
      const auto [other, is_new] = owners.emplace(workers[w].name, w);
      if (!is_new)
        error(fmt::format("cluster.workers.{}.name", w),
              fmt::format("workers {} and {} have the same name, `{}`", other->second, w, other->first),
              "give each a name of its own; those of one `repeat: 2` are numbered");
    }
  }

  void check_random_streams() const {
    const std::vector<std::uint32_t> streams = random_streams(workers);
    std::map<std::uint32_t, std::size_t> owners;
    for (std::size_t w = 0; w < streams.size(); ++w) {
      const auto [other, is_new] = owners.emplace(streams[w], w);
      if (is_new) continue;
      const std::size_t stated = workers[w].random_stream ? w : other->second;
      error(fmt::format("cluster.workers.{}.random_stream", stated),
            fmt::format("workers {} and {} have the same random stream, {}", other->second, w, streams[w]),
            "give each worker one of its own; without `random_stream` it is its place in the list, from 0");
    }
  }

  // Whether there is such a worker; nothing is said where that is not known.
  bool check_worker(std::uint64_t worker, const std::string& path) const {
    if (!sound("cluster.workers", path) || worker < workers.size()) return true;
    error(path, fmt::format("there is no worker {}: they are 0 to {}", worker, workers.size() - 1));
    return false;
  }

  void check_machines() const {
    std::set<std::uint64_t> placed;
    bool hosts_servers = false;
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const std::string path = fmt::format("cluster.machines.{}", m);
      check_machine(m);
      check_sharing(machines[m], path);
      for (const std::uint64_t worker : workers_on(machines[m], workers.size()))
        if (!placed.insert(worker).second)
          return error(given(path + ".workers") ? path + ".workers" : path, "a worker runs on two machines",
                       "name it once; a machine without `workers` has all");
      if (machines[m].hosts_servers && std::exchange(hosts_servers, true))
        return error(path + ".servers", "the servers run on two machines", "say so of one");
    }
  }

  void check_sharing(const Machine& machine, const std::string& path) const {
    if (!sound(path)) return;
    if (!machine.speeds.empty() && machine.speeds.front() != 1.0)
      error(path + ".speeds.0",
            fmt::format("the first speed is {:g}, and has to be 1", machine.speeds.front()),
            "they are relative to a process that is alone: divide all by the first");
    for (std::size_t m = 1; m < machine.speeds.size(); ++m)
      if (machine.speeds[m] > machine.speeds[m - 1])
        error(fmt::format("{}.speeds.{}", path, m),
              fmt::format("{} busy processes would be faster than {}: {:g} after {:g}", m + 1, m,
                          machine.speeds[m], machine.speeds[m - 1]),
              "one that was measured a little above the one before is the same: repeat that");
    constexpr double rounded = 1.01;
    for (std::size_t m = static_cast<std::size_t>(machine.cores); m < machine.speeds.size(); ++m) {
      const double most = static_cast<double>(machine.cores) / static_cast<double>(m + 1);
      if (machine.speeds[m] > rounded * most)
        return error(
            fmt::format("{}.speeds.{}", path, m),
            fmt::format("{} busy processes share {} core{}: each gets {:.3g} of one, and cannot go on at "
                        "{:g} of its speed",
                        m + 1, machine.cores, machine.cores == 1 ? "" : "s", most, machine.speeds[m]),
            "measured while not all of them were busy? `paceline calibrate own --copies` times them "
            "while all are");
    }
    if (machine.hosts_servers && scenario.cluster.servers.placement == ServerPlacement::with_workers)
      error(path + ".servers", "the servers run with workers, on the machines of these",
            "leave `servers` out, or `cluster.servers: {placement: separate}`");
  }

  // The workers of one machine must fit its cores, as they begin and under every level, in the order written.
  void check_machine(std::size_t index) const {
    const Machine& machine = machines[index];
    const std::string path = fmt::format("cluster.machines.{}", index);
    if (!sound(path)) return;
    bool all_known = true;
    for (std::size_t i = 0; i < machine.workers.size(); ++i)
      all_known = check_worker(machine.workers[i], fmt::format("{}.workers.{}", path, i)) && all_known;
    if (!all_known) return;
    std::vector<int> cores;
    for (const Worker& worker : workers) cores.push_back(worker.cores);
    check_cores(index, cores, "cluster.workers");
    for (std::size_t i = 0; i < changes.schedule.size(); ++i) {
      const Level& level = changes.schedule[i];
      if (level.cores.empty()) continue;
      const std::vector<int> before = cores;
      // Lists of unequal lengths are refused elsewhere.
      for (std::size_t k = 0; k < level.cores.size(); ++k) {
        if (!level.workers.empty() && k >= level.workers.size()) break;
        const std::uint64_t worker = level.workers.empty() ? k : level.workers[k];
        if (worker < cores.size()) cores[worker] = level.cores[k];
      }
      check_cores(index, cores, fmt::format("heterogeneity.schedule.{}.cores", i));
      if (level.for_long) cores = before;
    }
  }

  void check_cores(std::size_t index, const std::vector<int>& cores, const std::string& place) const {
    const Machine& machine = machines[index];
    int sum = 0;
    for (const std::uint64_t worker : workers_on(machine, workers.size())) sum += cores[worker];
    if (machine.is_shared) {
      for (const std::uint64_t worker : workers_on(machine, workers.size()))
        if (cores[worker] > machine.cores)
          error(place,
                fmt::format("{} needs {} cores, and machine {} has {}", name_of(workers, worker),
                            cores[worker], index, machine.cores),
                "give it fewer cores, or the machine more");
        else if (machine.turns && cores[worker] > 1)
          error(place,
                fmt::format("{} has {} cores, and processes take turns on machine {} with one each",
                            name_of(workers, worker), cores[worker], index),
                "leave `turns` out: then all are slowed down alike");
    } else if (sum > machine.cores) {
      error(place,
            fmt::format("the workers of machine {} need {} cores, and it has {}", index, sum, machine.cores),
            "give them fewer cores, or the machine more; `shared: true` lets them share");
    }
  }

  void check_level(const Level& level, const std::string& path) const {
    check_recurrence(level, path);
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
      if (!check_worker(worker, level.workers.empty() ? path : fmt::format("{}.workers.{}", path, i)))
        continue;
      if (level.cores.size() == expected && workers[worker].quota)
        error(fmt::format("{}.cores.{}", path, i),
              fmt::format("worker {} has a quota of processor time, and so keeps its cores", worker),
              "change its `speed`, or give it no quota");
    }
    if (std::set(level.workers.begin(), level.workers.end()).size() < level.workers.size())
      error(path + ".workers", "a worker is named twice");
    if (level.speeds.empty() && level.cores.empty() && level.bandwidths.empty())
      error(path, "a level that changes nothing", "give `speed`, `cores` or `bandwidth`");
  }

  // How long it lasts and how often it comes: levels and scripted stragglers alike.
  template <class Item>
  void check_recurrence(const Item& item, const std::string& path) const {
    if (!sound(path + ".every", path + ".for")) return;
    if (item.every && !item.for_long)
      error(path + ".every", "`every` needs `for`", "how long it lasts each time, for example `for: 20 min`");
    if (item.every && item.for_long && *item.for_long > *item.every)
      error(path + ".for", "`for` is longer than `every`: it would begin again before it ends",
            "shorten `for`, or leave `every` out");
  }

  void check_times(const Straggler& straggler, const std::string& path) const {
    check_recurrence(straggler, path);
    if (!sound(path + ".duration", path + ".every", path + ".for")) return;
    if (straggler.duration && straggler.for_long)
      error(path + ".for", "both `duration` and `for` say how long it lasts",
            "`duration` is for a straggler that comes once, `every` with `for` for one that comes again");
    else if (straggler.duration && straggler.every)
      error(path + ".duration", "a straggler that comes again lasts as long as `for` says",
            "write `for` instead of `duration`");
    else if (straggler.for_long && !straggler.every)
      error(path + ".for", "`for` needs `every`", "for a straggler that comes once write `duration`");
    else if (!straggler.duration && !straggler.every)
      error(path, "nothing says how long the straggler lasts",
            "write `duration: 20 min`, or `every: 1 h, for: 20 min` for one that comes again and again");
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
    std::map<std::uint64_t, const MembershipChange*> last;
    for (std::size_t i = 0; i < changes.membership.size(); ++i) {
      const MembershipChange& change = changes.membership[i];
      const std::string path = fmt::format("heterogeneity.membership.{}", i);
      if (!check_worker(change.worker, path + ".worker") || !sound(path)) continue;
      check_change(change, std::exchange(last[change.worker], &change), path);
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

void check_cluster(const Scenario& scenario, const Reading& reading) {
  ClusterRules(scenario, reading).check();
}

}  // namespace paceline
