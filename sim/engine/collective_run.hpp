// One collective under way: starts the messages of its schedule as its members get ready.
//
// Models:      the rule of collective.hpp: a message starts when both its ends have finished their earlier rounds.
// Assumptions: whoever carries messages calls `arrived` once for each, at the time of its arrival.
// Source:      collective.hpp.
//
// Holds a few words for each member, nothing for each message.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/collective.hpp"

namespace paceline {

class CollectiveRun {
 public:
  // A message of the schedule; `from` and `to` are positions.
  struct Message {
    std::size_t from;
    std::size_t to;
    Bytes size;
  };
  using Start = std::function<void(const Message&)>;

  CollectiveRun(CollectiveSchedule schedule, Start start);

  void begin();
  // True when that was the last message of all.
  bool arrived(std::size_t from, std::size_t to);

  // Holds back whatever would start next, until released.
  void hold() { held_ = true; }
  void release();
  // Whether every member has finished exactly the first round.
  [[nodiscard]] bool all_finished_first_round() const;
  [[nodiscard]] const CollectiveSchedule& schedule() const { return schedule_; }

 private:
  struct Member {
    std::size_t round = 0;  // finished so far
    int messages_left = 0;  // of the round under way
    bool waits = false;     // entered the round while held back
  };
  void enter_round(std::size_t member);
  void start_messages(std::size_t member);
  void one_less(std::size_t member);
  [[nodiscard]] bool is_in_round(std::size_t member, std::size_t round) const;

  CollectiveSchedule schedule_;
  Start start_;
  std::vector<Member> members_;
  std::size_t unfinished_;
  bool held_ = false;
};

}  // namespace paceline
