// Rules that join the keys of `cluster.workers` and `cluster.machines` with each other and with the levels.
#include <map>

#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

class ClusterRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    for (std::size_t w = 0; w < workers.size(); ++w) check_quota(w);
    if (!sound("cluster.workers")) return;
    check_random_streams();
    if (sound("cluster.machines", "heterogeneity.schedule")) check_machines();
  }

 private:
  const std::vector<Worker>& workers = scenario.cluster.workers;
  const std::vector<Machine>& machines = scenario.cluster.machines;

  void check_quota(std::size_t w) const {
    const std::string path = fmt::format("cluster.workers.{}", w);
    const Worker& worker = workers[w];
    if (!sound(path) || !worker.quota || worker.quota->cores < worker.cores) return;
    warn(path + ".quota", fmt::format("a quota of {:g} cores never holds up a worker that has {}",
                                      worker.quota->cores, worker.cores));
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

  void check_machines() const {
    std::map<std::uint64_t, std::size_t> machine_of;
    for (std::size_t m = 0; m < machines.size(); ++m) {
      check_machine(m);
      for (const std::uint64_t worker : machines[m].workers) {
        if (machine_of.emplace(worker, m).second) continue;
        return error(fmt::format("cluster.machines.{}.workers", m), "a worker runs on two machines",
                     "name it once");
      }
    }
  }

  // The workers of one machine must fit its cores, as they begin and under every level, in the order written.
  void check_machine(std::size_t index) const {
    const Machine& machine = machines[index];
    const std::string path = fmt::format("cluster.machines.{}", index);
    if (!sound(path)) return;
    bool all_known = true;
    for (std::size_t i = 0; i < machine.workers.size(); ++i) {
      if (machine.workers[i] < workers.size()) continue;
      error(fmt::format("{}.workers.{}", path, i),
            fmt::format("there is no worker {}: they are 0 to {}", machine.workers[i], workers.size() - 1));
      all_known = false;
    }
    if (!all_known) return;
    std::vector<int> cores;
    for (const Worker& worker : workers) cores.push_back(worker.cores);
    check_cores(index, cores, "cluster.workers");
    const std::vector<Level>& schedule = scenario.heterogeneity.changes.schedule;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      if (schedule[i].cores.empty()) continue;
      for (std::size_t k = 0; k < schedule[i].cores.size(); ++k) {
        const std::uint64_t worker = schedule[i].workers.empty() ? k : schedule[i].workers.at(k);
        if (worker < cores.size()) cores[worker] = schedule[i].cores[k];
      }
      check_cores(index, cores, fmt::format("heterogeneity.schedule.{}.cores", i));
    }
  }

  void check_cores(std::size_t index, const std::vector<int>& cores, const std::string& place) const {
    const Machine& machine = machines[index];
    int sum = 0;
    for (const std::uint64_t worker : machine.workers) sum += cores[worker];
    if (sum > machine.cores)
      error(place,
            fmt::format("the workers of machine {} need {} cores, and it has {}", index, sum, machine.cores),
            "give them fewer cores, or the machine more");
  }
};

}  // namespace

void check_cluster(const Scenario& scenario, const Reading& reading) {
  ClusterRules(scenario, reading).check();
}

}  // namespace paceline
