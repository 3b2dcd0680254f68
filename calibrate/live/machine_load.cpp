#include "calibrate/live/machine_load.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace paceline::live {
namespace {

struct ProcessorTimes {
  double busy = 0.0;
  double idle = 0.0;
};

// The first line: cpu user nice system idle iowait irq softirq steal …
ProcessorTimes processor_times() {
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  ProcessorTimes times;
  for (int field = 0; field < 8; ++field) {
    double ticks = 0.0;
    if (!(file >> ticks)) break;
    (field == 3 || field == 4 ? times.idle : times.busy) += ticks;
  }
  return times;
}

}  // namespace

double other_load(Seconds stretch) {
  const ProcessorTimes before = processor_times();
  std::this_thread::sleep_for(std::chrono::duration<double>(stretch.value()));
  const ProcessorTimes after = processor_times();
  const double busy = after.busy - before.busy;
  const double all = busy + after.idle - before.idle;
  return all > 0.0 ? std::clamp(busy / all, 0.0, 1.0) : 0.0;
}

}  // namespace paceline::live
