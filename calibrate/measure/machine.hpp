// The machine a profile is measured on, as far as it decides how fast kernels run; and who else used it.
//
// Equation:    share of the measured cores' time that other programs (and, on a virtual machine, other
//              guests) took = (Δbusy − Δown) / Δtotal, clock ticks summed over the cores: busy and total from
//              /proc/stat, own = processor time of this process and of the children it has waited for.
// Assumptions: this process and its children run on these cores only.
// Not modelled: other programs' use of caches and memory bandwidth from other cores.
// Source:      proc(5), times(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace paceline::calibrate {

struct Machine {
  std::string cpu_model;
  int logical_cores = 1;   // that this process may use
  int physical_cores = 1;  // of these
  std::int64_t memory_bytes = 0;
  std::optional<std::string> governor;  // of the first core's frequency, where it can be read
  std::vector<std::string> cpu_flags;
  std::int64_t available_memory_bytes = 0;       // now, within the limits of this process's group
  std::optional<CpuQuota> quota = std::nullopt;  // of this process's group
  std::vector<int> core_order;  // system numbers of the logical cores, one of each physical core first
};

struct CpuInfo {
  std::string model;
  std::vector<std::string> flags;
};

// The first processor of the text of /proc/cpuinfo. A model that is not named there is "unknown CPU".
[[nodiscard]] CpuInfo parse_cpu_info(const std::string& text);

// MemAvailable of the text of /proc/meminfo; nothing where it is not named.
[[nodiscard]] std::optional<std::int64_t> parse_available_memory(const std::string& text);
// "50000 100000" of cgroup v2's cpu.max; nothing for "max 100000".
[[nodiscard]] std::optional<CpuQuota> parse_cpu_max(const std::string& text);

// Reads the present machine.
[[nodiscard]] Machine read_machine();

// 1, 2, 4 … up to the physical cores, and these themselves.
[[nodiscard]] std::vector<int> default_core_counts(int physical_cores);

// The most cores whose work a quota of processor time never holds up, 1 at least: what is measured on more
// would mix the work with the quota's pauses, which belong to a simulation (sim/cost/quota_clock.hpp).
[[nodiscard]] int cores_within_quota(const Machine& machine);
// Of the time, for which a quota lets one busy core compute. Below 1 a process's own time must be measured by
// the processor's clock, because the wall's would count the pauses.
[[nodiscard]] double share_of_time(const Machine& machine);

struct CpuTicks {
  double busy = 0.0;
  double total = 0.0;
};
// Summed over these cores of the text of /proc/stat; nothing when one of them is not there.
[[nodiscard]] std::optional<CpuTicks> parse_cpu_ticks(const std::string& text, const std::vector<int>& cores);

class OtherLoad {
 public:
  // Starts counting.
  explicit OtherLoad(std::vector<int> cores);
  // Since then; nothing when the system does not tell, or too little time has passed.
  [[nodiscard]] std::optional<double> share() const;

 private:
  std::vector<int> cores_;
  std::optional<CpuTicks> start_;
  double own_at_start_ = 0.0;
};

}  // namespace paceline::calibrate
