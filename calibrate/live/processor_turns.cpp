#include "calibrate/live/processor_turns.hpp"

#include <cstdint>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paceline::live {
namespace {

// The kernel's first version of it; later ones only add to it.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

Seconds slice_of_usual_thread() {
  SchedulingAttributes attributes;
  // A new thread has the usual policy: a real-time priority is not inherited.
  std::jthread([&] { syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0); }).join();
  return Seconds{1e-9 * static_cast<double>(attributes.runtime_ns)};
}

}  // namespace

std::optional<Turns> processor_turns() {
  const Seconds length = slice_of_usual_thread();
  if (length == Seconds{}) return std::nullopt;
  return Turns{length, (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO};
}

std::string scenario_words(const Turns& turns) {
  return fmt::format("turns: {{length: {:.3g} ms, servers_first: {}}}", 1e3 * turns.length.value(),
                     turns.servers_first);
}

}  // namespace paceline::live
