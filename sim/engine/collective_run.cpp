#include "sim/engine/collective_run.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace paceline {

CollectiveRun::CollectiveRun(CollectiveSchedule schedule, Start start)
    : schedule_(schedule),
      start_(std::move(start)),
      members_(schedule.members()),
      unfinished_(schedule.members()) {
  check(schedule.rounds() > 0, "a collective without rounds is over before it begins");
}

void CollectiveRun::begin() {
  // All enter before the first message starts: a start looks at both its ends.
  for (Member& member : members_) member.waits = true;
  release();
}

void CollectiveRun::release() {
  held_ = false;
  for (std::size_t m = 0; m < members_.size(); ++m)
    if (members_[m].waits) enter_round(m);
}

bool CollectiveRun::is_in_round(std::size_t member, std::size_t round) const {
  return members_[member].round == round && !members_[member].waits;
}

// Rounds without a message for this member are over at once.
void CollectiveRun::enter_round(std::size_t member) {
  Member& self = members_[member];
  while (self.round < schedule_.rounds()) {
    if (held_) {
      self.waits = true;
      return;
    }
    self.waits = false;
    const Turn turn = schedule_.turn(member, self.round);
    self.messages_left = (turn.send_to ? 1 : 0) + (turn.receive_from ? 1 : 0);
    if (self.messages_left > 0) return start_messages(member);
    ++self.round;
  }
  --unfinished_;
}

void CollectiveRun::start_messages(std::size_t member) {
  const std::size_t round = members_[member].round;
  const Turn turn = schedule_.turn(member, round);
  if (turn.send_to && is_in_round(*turn.send_to, round)) start_({member, *turn.send_to, turn.send_size});
  if (turn.receive_from && is_in_round(*turn.receive_from, round))
    start_({*turn.receive_from, member, schedule_.turn(*turn.receive_from, round).send_size});
}

bool CollectiveRun::arrived(std::size_t from, std::size_t to) {
  one_less(from);
  one_less(to);
  return unfinished_ == 0;
}

void CollectiveRun::one_less(std::size_t member) {
  Member& self = members_[member];
  check(self.messages_left > 0, "a message of a collective arrived twice");
  if (--self.messages_left > 0) return;
  ++self.round;
  enter_round(member);
}

bool CollectiveRun::all_finished_first_round() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.round == 1; });
}

}  // namespace paceline
