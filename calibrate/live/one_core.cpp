#include "calibrate/live/one_core.hpp"

#include <cstddef>

namespace paceline::live {
namespace {

cpu_set_t set_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(process, sizeof set, &set);
  return set;
}

}  // namespace

std::vector<int> cores_of(pid_t process) {
  const cpu_set_t set = set_of(process);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  return cores;
}

OnOneCore::OnOneCore(pid_t process, int core) : process_(process), before_(set_of(process)) {
  if (!CPU_ISSET(static_cast<std::size_t>(core), &before_)) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  sched_setaffinity(process_, sizeof one, &one);
}

OnOneCore::~OnOneCore() {
  sched_setaffinity(process_, sizeof before_, &before_);
}

}  // namespace paceline::live
