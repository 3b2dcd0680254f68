#include "sim/study/pool/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace paceline {
namespace {

constexpr double spare = 0.2;
constexpr double infinitely = std::numeric_limits<double>::infinity();
constexpr double mib = 1024.0 * 1024.0;

double number_in(const char* file) {
  double number = infinitely;
  std::ifstream(file) >> number;  // "max", or no file: no limit
  return number > 0.0 ? number : infinitely;
}

// What the control group leaves; files in memory that the system would give back count as used.
double left_in_control_group_mib() {
  const double limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit == infinitely) return infinitely;
  return std::max(0.0, limit - number_in("/sys/fs/cgroup/memory.current")) / mib;
}

double available_on_machine_mib() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  double kib = 0.0;
  while (info >> word)
    if (word == "MemAvailable:" && info >> kib) return kib / 1024.0;
  return infinitely;
}

}  // namespace

bool another_fits(double available_mib, const std::vector<double>& used_mib, double peak_mib) {
  double promised = 0.0;
  for (const double used : used_mib) promised += std::max(0.0, peak_mib - used);
  return (1.0 - spare) * available_mib - promised >= peak_mib;
}

double available_memory_mib() {
  return std::min(available_on_machine_mib(), left_in_control_group_mib());
}

double memory_of_process_mib(pid_t pid) {
  double pages_virtual = 0.0;
  double pages = 0.0;
  std::ifstream(fmt::format("/proc/{}/statm", pid)) >> pages_virtual >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / mib;
}

}  // namespace paceline
