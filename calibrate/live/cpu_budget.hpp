// Limits of processor time for processes, by the kernel's control groups.
//
// Models:      what sim/cost/quota_clock.hpp models: in each period a group of processes may use as much
//              processor time as so many cores give, and waits when it is used up.
// Units:       cores; seconds.
// Assumptions: version 1 (a hierarchy `cpu`) or 2 (this process's own group, with the controller `cpu` for
//              its children). A group lives as long as its object; groups that a killed process left behind
//              are removed by the next one that makes any, and by the job's evaluator, which outlives its
//              parent for that.
// Not modelled: cores the group is bound to; memory.
// Source:      Linux, Documentation/scheduler/sched-bwc.rst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

#include "sim/cluster/cluster.hpp"

namespace paceline::live {

// Why no group can be made here; empty when one can.
[[nodiscard]] std::string why_no_cpu_budget();

class CpuBudget {
 public:
  // Throws UserError when the system refuses.
  CpuBudget(const CpuQuota& quota, std::size_t number);
  CpuBudget(const CpuBudget&) = delete;
  CpuBudget& operator=(const CpuBudget&) = delete;
  ~CpuBudget();  // removes the group, whose processes must have ended or been released

  // From now on the process, with all its threads, lives on this budget.
  void add(pid_t process) const;
  // From now on all that live on it are in the group of this process again.
  void release() const;
  [[nodiscard]] std::int64_t stops() const;  // of the periods that have ended: those that held somebody up
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace paceline::live
