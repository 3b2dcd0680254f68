#include "calibrate/live/machine_load.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "sim/base/interrupt.hpp"

namespace paceline::live {
namespace {

constexpr Seconds one_look{0.5};
constexpr std::chrono::seconds between_looks{2};

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

LoadedMachine::LoadedMachine(double load)
    : std::runtime_error(fmt::format(
          "{:.0f} % of this machine's processor time goes to other programs, or to its host, before the job "
          "begins: its times would say little (--accept-load carries it out all the same, and records that)",
          100.0 * load)) {}

double first_free(const LoadProbe& probe) {
  for (int looks = 1;; ++looks) {
    const double load = probe.look();
    if (load <= most_other_load) return load;
    if (looks == most_load_looks) throw LoadedMachine(load);
    probe.rest();
  }
}

double load_to_begin_with(bool accepts_any) {
  if (accepts_any) return other_load(one_look);
  return first_free({.look = [] { return other_load(one_look); },
                     .rest =
                         [] {
                           std::this_thread::sleep_for(between_looks);
                           throw_if_interrupted();
                         }});
}

}  // namespace paceline::live
