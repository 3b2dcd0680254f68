// The all-reduce of a live job as its server sees it: who is a member of which ring, and who has the sum.
//
// Models:      nothing: workers sum their gradients among themselves (calibrate/collective/ring.hpp), by Gloo
//              where the program was built with it. The server tells them when, with which weights, and
//              where the others listen; no gradient passes through it.
// Assumptions: - One all-reduce at a time. Its members form a ring when they differ from those before, and
//                when it broke: every ring has a number of its own, and an answer about another one is late.
//              - A ring that breaks although nobody is lost is formed again, a few times.
// Not modelled: all-reduces that overlap computing; other orders of the ring than by worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/crew.hpp"
#include "sim/base/id.hpp"

namespace paceline::live {

// What a member adds to the sum.
struct RingPart {
  WorkerId worker;
  GradientId gradient;
  double weight = 1.0;
};

class LiveRing {
 public:
  LiveRing(Crew& crew, double momentum) : crew_(crew), momentum_(momentum) {}

  void begin(UpdateId update, const std::vector<RingPart>& parts);
  [[nodiscard]] bool is_under_way() const { return update_.has_value(); }
  [[nodiscard]] bool combines(WorkerId worker) const { return is_under_way() && find(worker) != nullptr; }
  // It has been asked for its part, and has not answered.
  [[nodiscard]] bool awaits(WorkerId worker) const;

  // Answers of a worker that is not lost; false when they cannot be its. Throws std::runtime_error when the
  // ring breaks again and again.
  [[nodiscard]] bool on(WorkerId worker, const RingAddress& message);
  [[nodiscard]] bool on(WorkerId worker, const Reduced& message);
  [[nodiscard]] bool on(WorkerId worker, const RingBroke& message);
  // The update whose sum all members hold, once: nothing is under way any more.
  [[nodiscard]] std::optional<UpdateId> take_finished();
  // The process is gone, and with it the ring. The others are asked again, for the same or another update.
  void forget(WorkerId worker);
  void ask_again_if_broken();

  // Processor time of all members, and messages: one in and one out in each round.
  [[nodiscard]] std::int64_t processor_ns() const { return processor_ns_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  enum class Answer { none, reduced, broke };
  struct Part {
    RingPart part;
    Answer answer = Answer::none;
  };
  struct Place {
    WorkerId worker;
    std::optional<std::string> address{};
  };
  [[nodiscard]] const Part* find(WorkerId worker) const;
  Part* find(WorkerId worker);
  void ask();
  void form();

  Crew& crew_;
  double momentum_;
  std::uint64_t ring_ = 0;  // number of the present one, or of the last
  bool is_whole_ = false;
  std::vector<Place> places_;  // by rank
  std::optional<UpdateId> update_;
  std::vector<Part> parts_;
  int attempts_ = 0;
  std::string reason_;  // why it broke last
  std::int64_t processor_ns_ = 0;
  std::uint64_t messages_ = 0;
};

}  // namespace paceline::live
