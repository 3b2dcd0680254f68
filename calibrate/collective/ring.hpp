// All-reduce around a ring of processes on this machine, to be timed.
//
// Models:      nothing: the sum of float32 values of all members, in 2 (n - 1) rounds of ⌈values / n⌉, as
//              sim/engine/collective.hpp models it. By Gloo, where this program was built with it, or by a
//              ring of its own over TCP: each round writes to the next member and reads from the one before
//              at the same time, then adds.
// Assumptions: members find each other in a folder that only this user can enter; whoever connects says a
//              token first.
// Source:      Patarasuk and Yuan 2009; Gloo 2022-05-18.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace paceline::calibrate {

enum class RingLibrary { own, gloo };
[[nodiscard]] bool has_gloo();

class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  virtual ~Ring() = default;
  virtual void all_reduce(std::span<float> values) = 0;
};

struct RingPlace {
  std::filesystem::path folder;
  std::size_t rank = 0;
  std::size_t members = 2;
  std::string token;  // 64 digits, the same for all
};
// Waits until all members are there. Throws std::runtime_error when they do not come.
[[nodiscard]] std::unique_ptr<Ring> make_own_ring(const RingPlace& place);
[[nodiscard]] std::unique_ptr<Ring> make_gloo_ring(const RingPlace& place);

}  // namespace paceline::calibrate
