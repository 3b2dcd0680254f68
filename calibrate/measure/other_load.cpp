#include "calibrate/measure/other_load.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <sys/times.h>

namespace paceline::calibrate {
namespace {

// Fields of a cpu line: user nice system idle iowait irq softirq steal; guest time is part of user.
constexpr int counted_fields = 8;
constexpr int idle_field = 3;
constexpr int iowait_field = 4;
constexpr double shortest_ticks = 50.0;  // below, the ticks' rounding shows

std::string read_stat() {
  std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

double own_ticks() {
  tms own{};
  times(&own);
  return static_cast<double>(own.tms_utime + own.tms_stime + own.tms_cutime + own.tms_cstime);
}

}  // namespace

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
    : cores_(std::move(cores)), start_(parse_cpu_ticks(read_stat(), cores_)), own_at_start_(own_ticks()) {}

std::optional<double> OtherLoad::share() const {
  const std::optional<CpuTicks> now = parse_cpu_ticks(read_stat(), cores_);
  if (!start_ || !now || now->total - start_->total < shortest_ticks) return std::nullopt;
  const double others = (now->busy - start_->busy) - (own_ticks() - own_at_start_);
  return std::clamp(others / (now->total - start_->total), 0.0, 1.0);
}

}  // namespace paceline::calibrate
