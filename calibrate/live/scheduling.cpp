#include "calibrate/live/scheduling.hpp"

#include <cmath>
#include <cstdint>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paceline::live {
namespace {

constexpr std::uint64_t usual_again_in_children = 1;  // SCHED_FLAG_RESET_ON_FORK

// The kernel's first version of it; later ones only add to it.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = usual_again_in_children;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

}  // namespace

Scheduling scheduling() {
  Attributes attributes;
  syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0);
  Scheduling now{.nice = attributes.nice};
  if (attributes.runtime_ns > 0) now.slice = Seconds{1e-9 * static_cast<double>(attributes.runtime_ns)};
  return now;
}

bool adopt(const Scheduling& wanted) {
  Attributes attributes;
  attributes.nice = wanted.nice;
  if (wanted.slice)
    attributes.runtime_ns = static_cast<std::uint64_t>(std::llround(1e9 * wanted.slice->value()));
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace paceline::live
