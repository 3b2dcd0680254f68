// All-reduce algorithms as pure schedules: who sends how much to whom in which round.
//
// Models:      n members that each hold B bytes and all need their sum. A member goes through the rounds in
//              order; in a round it sends at most one message and receives at most one. A message starts when
//              both its ends have finished their earlier rounds, and takes L + bytes / bw alone on links of
//              one speed.
// Equation:    ring:             2(n-1) rounds, each member sends ceil(B/n) to the next:
//                                2(n-1)·(L + ceil(B/n)/bw).
//              tree:             halves of the order, recursively: the first of a range and the first of its
//                                second half exchange B; the sums go up, the result comes down:
//                                2·ceil(log2 n)·(L + B/bw).
//              halving-doubling: p = 2^floor(log2 n) members exchange B/2 with the neighbour, B/4 at distance
//                                2, … B/p at distance p/2, and the same backwards:
//                                2·log2(p)·L + 2·(p-1)/p·B/bw.
//                                When n > p, the first 2(n-p) members stand in pairs: before, the first gives
//                                all its data to the second, which takes part; afterwards it gets the result:
//                                + 2(L + B/bw).
// Units:       bytes; a message has whole bytes, rounded up.
// Assumptions: adding up costs nothing here (sim/cost/compute_time.hpp has servers' costs).
// Not modelled: pipelining of one message in pieces, several messages of one member at a time.
// Source:      P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms (2009); R. Thakur, R.
//              Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH (2005).
//
// A schedule is asked for one member and round at a time and holds nothing per message, a run a few words for
// each member: 1024 members on a ring are two million messages.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline {

// One member's part in one round; peers are positions in the order of the members.
struct Turn {
  std::optional<std::size_t> send_to;
  std::optional<std::size_t> receive_from;
  Bytes send_size;
};

class CollectiveSchedule {
 public:
  CollectiveSchedule(Transport algorithm, std::size_t members, Bytes size);

  [[nodiscard]] std::size_t members() const { return members_; }
  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  // Every round moves the same sizes between the same members.
  [[nodiscard]] bool repeats_one_round() const { return algorithm_ == Transport::ring; }
  [[nodiscard]] Turn turn(std::size_t member, std::size_t round) const;

 private:
  [[nodiscard]] Turn ring_turn(std::size_t member) const;
  [[nodiscard]] Turn tree_turn(std::size_t member, std::size_t round) const;
  [[nodiscard]] Turn halving_doubling_turn(std::size_t member, std::size_t round) const;

  Transport algorithm_;
  std::size_t members_;
  Bytes size_;
  std::size_t rounds_ = 0;
  std::size_t levels_ = 0;  // tree: ceil(log2 n); halving-doubling: floor(log2 n)
};

// One collective under way: starts the messages of its schedule as its members get ready. Whoever carries
// them calls `arrived` once for each, at the time of its arrival.
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

// A message has whole bytes.
[[nodiscard]] Bytes whole_bytes(Bytes size);

}  // namespace paceline
