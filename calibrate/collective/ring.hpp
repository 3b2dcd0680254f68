// All-reduce around a ring of processes on this machine, to be timed.
//
// Models:      nothing: the sum of float32 values of all members, in 2 (n - 1) rounds of ⌈values / n⌉, as
//              sim/engine/collective.hpp models it. By Gloo, where this program was built with it, or by a
//              ring of its own over TCP: each round writes to the next member and reads from the one before
//              at the same time, then adds. Gloo works in a thread of its own while its caller waits: a
//              thread that has just computed is more often preempted by the one of Gloo's that polls, and an
//              all-reduce takes half as long again. PyTorch's process group has two such threads, which
//              take all-reduces in turn: where three members share two cores, that costs a quarter more
//              processor time.
//              The thread that polls does not wait for a connection's lock: while another holds it, it asks
//              again and again. If it has interrupted that other one on the only core of both, it does so
//              until the kernel's next tick (4 ms), unless it gives way.
//              A latency of the ring of its own is real waiting: what a round sends leaves that much later.
// Equation:    each member waits for the one before in every round, and so the last one has the sum
//              2 (n - 1) · latency later than without.
// Assumptions: members tell each other where they listen by a way of their caller's choice. Of the ring of
//              its own, whoever connects says a token first; Gloo's connections are not asked for one.
// Source:      Patarasuk and Yuan 2009; Gloo 2022-05-18.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"

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

// Tells all members something about this one, such as where it listens, and returns what each of them has
// told, by rank. All come together equally often, of one library.
using Meeting = std::function<std::vector<std::string>(const std::string& own)>;

struct RingPlace {
  Meeting meet;
  std::size_t rank = 0;
  std::size_t members = 2;
  std::string token;  // 64 digits, the same for all
  std::string address = "127.0.0.1";
  std::chrono::milliseconds patience{30'000};          // until all are there
  std::chrono::milliseconds message_patience{30'000};  // of Gloo's; the other one waits until it breaks
  Seconds latency{};                                   // of each message; Gloo's cannot be held back
  bool gives_way = false;                              // Gloo's polling thread, to any other on its core
  std::size_t threads = 1;                             // of Gloo's that take all-reduces in turn
};

// Waits until all members are there. Throws std::exception when they do not come; so does an all-reduce
// whose ring is broken.
[[nodiscard]] std::unique_ptr<Ring> make_own_ring(const RingPlace& place);
[[nodiscard]] std::unique_ptr<Ring> make_gloo_ring(const RingPlace& place);

}  // namespace paceline::calibrate
