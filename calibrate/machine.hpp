// The machine a profile is measured on, as far as it decides how fast kernels run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::calibrate {

struct Machine {
  std::string cpu_model;
  int logical_cores = 1;   // that this process may use
  int physical_cores = 1;  // of these
  std::int64_t memory_bytes = 0;
  std::optional<std::string>
      governor;  // frequency governor of the first core; absent where it cannot be read
  std::vector<std::string> cpu_flags;
  std::vector<int> core_order;  // system numbers of the logical cores, one of each physical core first
};

struct CpuInfo {
  std::string model;
  std::vector<std::string> flags;
};

// The first processor of the text of /proc/cpuinfo. A model that is not named there is "unknown CPU".
[[nodiscard]] CpuInfo parse_cpu_info(const std::string& text);

// Reads the present machine.
[[nodiscard]] Machine read_machine();

// 1, 2, 4 … up to the physical cores, and these themselves.
[[nodiscard]] std::vector<int> default_core_counts(int physical_cores);

}  // namespace paceline::calibrate
