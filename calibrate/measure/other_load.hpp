// Who else used the measured cores: a disturbed measurement can be wrong and yet look even.
//
// Models:      the share of the cores' time that other programs (and, on a virtual machine, other guests)
//              took.
// Equation:    share = (Δbusy − Δown) / Δtotal, clock ticks summed over the cores: busy and total from
//              /proc/stat, own = processor time of this process and of the children it has waited for.
// Units:       0-1.
// Assumptions: this process and its children run on these cores only.
// Not modelled: other programs' use of caches and memory bandwidth from other cores.
// Source:      proc(5), times(2).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paceline::calibrate {

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
