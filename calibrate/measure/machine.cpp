#include "calibrate/measure/machine.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include <hwloc.h>
#include <sys/times.h>
#include <unistd.h>

#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using CpuSet = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

// Fields of a cpu line: user nice system idle iowait irq softirq steal; guest time is part of user.
constexpr int counted_fields = 8;
constexpr int idle_field = 3;
constexpr int iowait_field = 4;
constexpr double shortest_ticks = 50.0;  // below, the ticks' rounding shows

Topology load_topology() {
  hwloc_topology_t topology = nullptr;
  check(hwloc_topology_init(&topology) == 0, "hwloc starts");
  Topology owner(topology, hwloc_topology_destroy);
  check(hwloc_topology_load(topology) == 0, "hwloc reads the machine's topology");
  return owner;
}

// What this process may run on: less than the machine inside a container or under taskset.
CpuSet usable_cores(hwloc_topology_t topology) {
  CpuSet usable(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (hwloc_get_cpubind(topology, usable.get(), HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_copy(usable.get(), hwloc_topology_get_allowed_cpuset(topology));
  hwloc_bitmap_and(usable.get(), usable.get(), hwloc_topology_get_allowed_cpuset(topology));
  return usable;
}

// Round r takes the r-th hardware thread of every physical core, so that small core counts share none.
void read_core_order(Machine& machine) {
  const Topology topology = load_topology();
  const CpuSet usable = usable_cores(topology.get());
  machine.logical_cores = hwloc_bitmap_weight(usable.get());
  const int core_objects = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  for (int round = 0; static_cast<int>(machine.core_order.size()) < machine.logical_cores; ++round) {
    const std::size_t before = machine.core_order.size();
    for (int i = 0; i < core_objects; ++i) {
      const hwloc_obj_t core =
          hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(i));
      CpuSet threads(hwloc_bitmap_dup(core->cpuset), hwloc_bitmap_free);
      hwloc_bitmap_and(threads.get(), threads.get(), usable.get());
      int thread = hwloc_bitmap_first(threads.get());
      for (int skip = 0; skip < round && thread >= 0; ++skip)
        thread = hwloc_bitmap_next(threads.get(), thread);
      if (thread >= 0) machine.core_order.push_back(thread);
    }
    if (round == 0) machine.physical_cores = static_cast<int>(machine.core_order.size());
    if (machine.core_order.size() > before) continue;
    // No core objects (some virtual machines): hardware threads in the system's order.
    machine.core_order.clear();
    for (int t = hwloc_bitmap_first(usable.get()); t >= 0; t = hwloc_bitmap_next(usable.get(), t))
      machine.core_order.push_back(t);
    machine.physical_cores = machine.logical_cores;
  }
}

std::optional<std::string> read_governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string governor;
  if (file >> governor) return governor;
  return std::nullopt;
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The group's limit where there is one: version 2, then version 1.
std::int64_t available_memory(std::int64_t of_machine) {
  std::int64_t available = parse_available_memory(text_of("/proc/meminfo")).value_or(of_machine);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t limit = 0;
    if (std::istringstream(text_of(path)) >> limit && limit > 0) available = std::min(available, limit);
  }
  return available;
}

std::optional<CpuQuota> read_quota() {
  if (const auto quota = parse_cpu_max(text_of("/sys/fs/cgroup/cpu.max"))) return quota;
  return parse_cpu_max(text_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") +
                       text_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
}

double own_ticks() {
  tms own{};
  times(&own);
  return static_cast<double>(own.tms_utime + own.tms_stime + own.tms_cutime + own.tms_cstime);
}

}  // namespace

CpuInfo parse_cpu_info(const std::string& text) {
  CpuInfo info{"unknown CPU", {}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
      if (!info.flags.empty()) break;  // an empty line ends the first processor
      continue;
    }
    std::istringstream words(line.substr(colon + 1));
    if (line.starts_with("model name") && std::getline(words >> std::ws, info.model))
      info.model.erase(info.model.find_last_not_of(" \t") + 1);
    if (line.starts_with("flags") || line.starts_with("Features"))  // x86 and ARM
      for (std::string flag; words >> flag;) info.flags.push_back(flag);
  }
  return info;
}

std::optional<std::int64_t> parse_available_memory(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemAvailable:") return 1024 * kibibytes;
  }
  return std::nullopt;
}

std::optional<CpuQuota> parse_cpu_max(const std::string& text) {
  std::istringstream words(text);
  double quota_us = 0.0;
  double period_us = 0.0;
  if (!(words >> quota_us >> period_us) || quota_us <= 0.0 || period_us <= 0.0) return std::nullopt;
  return CpuQuota{quota_us / period_us, Seconds{1e-6 * period_us}};
}

Machine read_machine() {
  Machine machine;
  CpuInfo info = parse_cpu_info(text_of("/proc/cpuinfo"));
  machine.cpu_model = std::move(info.model);
  machine.cpu_flags = std::move(info.flags);
  machine.memory_bytes =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  machine.available_memory_bytes = available_memory(machine.memory_bytes);
  machine.quota = read_quota();
  machine.governor = read_governor();
  read_core_order(machine);
  return machine;
}

int cores_within_quota(const Machine& machine) {
  if (!machine.quota) return machine.logical_cores;
  return std::clamp(static_cast<int>(machine.quota->cores), 1, machine.logical_cores);
}

double share_of_time(const Machine& machine) {
  return machine.quota ? std::min(1.0, machine.quota->cores) : 1.0;
}

std::vector<int> default_core_counts(int physical_cores) {
  std::vector<int> counts;
  for (int count = 1; count < physical_cores; count *= 2) counts.push_back(count);
  counts.push_back(physical_cores);
  return counts;
}

std::optional<CpuTicks> parse_cpu_ticks(const std::string& text, const std::vector<int>& cores) {
  std::set<std::string> wanted;
  for (const int core : cores) wanted.insert("cpu" + std::to_string(core));
  CpuTicks ticks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (wanted.erase(name) == 0) continue;
    for (int field = 0; field < counted_fields; ++field) {
      double value = 0.0;
      if (!(words >> value)) return std::nullopt;
      ticks.total += value;
      if (field != idle_field && field != iowait_field) ticks.busy += value;
    }
  }
  if (!wanted.empty()) return std::nullopt;
  return ticks;
}

OtherLoad::OtherLoad(std::vector<int> cores)
    : cores_(std::move(cores)),
      start_(parse_cpu_ticks(text_of("/proc/stat"), cores_)),
      own_at_start_(own_ticks()) {}

std::optional<double> OtherLoad::share() const {
  const std::optional<CpuTicks> now = parse_cpu_ticks(text_of("/proc/stat"), cores_);
  if (!start_ || !now || now->total - start_->total < shortest_ticks) return std::nullopt;
  const double others = (now->busy - start_->busy) - (own_ticks() - own_at_start_);
  return std::clamp(others / (now->total - start_->total), 0.0, 1.0);
}

}  // namespace paceline::calibrate
