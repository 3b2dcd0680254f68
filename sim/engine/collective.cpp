#include "sim/engine/collective.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

Bytes whole_bytes(Bytes size) {
  return Bytes{std::ceil(size.value())};
}

CollectiveSchedule::CollectiveSchedule(Transport algorithm, std::size_t members, Bytes size)
    : algorithm_(algorithm), members_(members), size_(size) {
  check(members > 0 && algorithm != Transport::server, "a collective without members, or over a server");
  if (members == 1) return;
  if (algorithm == Transport::ring) {
    rounds_ = 2 * (members - 1);
  } else if (algorithm == Transport::tree) {
    levels_ = static_cast<std::size_t>(std::bit_width(members - 1));
    rounds_ = 2 * levels_;
  } else {
    levels_ = static_cast<std::size_t>(std::bit_width(members)) - 1;
    rounds_ = 2 * levels_ + (std::has_single_bit(members) ? 0 : 2);
  }
}

Turn CollectiveSchedule::turn(std::size_t member, std::size_t round) const {
  check(member < members_ && round < rounds_, "a turn that the schedule does not have");
  if (algorithm_ == Transport::ring) return ring_turn(member);
  if (algorithm_ == Transport::tree) return tree_turn(member, round);
  return halving_doubling_turn(member, round);
}

Turn CollectiveSchedule::ring_turn(std::size_t member) const {
  return {(member + 1) % members_, (member + members_ - 1) % members_,
          whole_bytes(size_ / static_cast<double>(members_))};
}

Turn CollectiveSchedule::tree_turn(std::size_t member, std::size_t round) const {
  const bool goes_up = round < levels_;
  const std::size_t level =
      goes_up ? levels_ - 1 - round : round - levels_;  // 0: the whole order is one range
  std::size_t begin = 0;
  std::size_t end = members_;
  const auto middle = [&] { return begin + (end - begin + 1) / 2; };
  for (std::size_t l = 0; l < level; ++l) (member < middle() ? end : begin) = middle();
  if (end - begin < 2) return {};
  if (member == begin) return goes_up ? Turn{{}, middle(), {}} : Turn{middle(), {}, whole_bytes(size_)};
  if (member == middle()) return goes_up ? Turn{begin, {}, whole_bytes(size_)} : Turn{{}, begin, {}};
  return {};
}

Turn CollectiveSchedule::halving_doubling_turn(std::size_t member, std::size_t round) const {
  const std::size_t power = std::size_t{1} << levels_;
  const std::size_t pairs = members_ - power;
  const bool in_pair = member < 2 * pairs;
  if (pairs > 0 && (round == 0 || round + 1 == rounds_)) {
    if (!in_pair) return {};
    const bool first_sends = round == 0;
    const bool sends = (member % 2 == 0) == first_sends;
    const std::size_t partner = member % 2 == 0 ? member + 1 : member - 1;
    return sends ? Turn{partner, {}, whole_bytes(size_)} : Turn{{}, partner, {}};
  }
  if (in_pair && member % 2 == 0) return {};
  // Those who take part are numbered without gaps: the second of each pair, then all who stand alone.
  const std::size_t number = in_pair ? member / 2 : member - pairs;
  const std::size_t exchange = round - (pairs > 0 ? 1 : 0);
  const std::size_t step = exchange < levels_ ? exchange : 2 * levels_ - 1 - exchange;
  const std::size_t partner_number = number ^ (std::size_t{1} << step);
  const std::size_t partner = partner_number < pairs ? 2 * partner_number + 1 : partner_number + pairs;
  return {partner, partner, whole_bytes(size_ / static_cast<double>(std::size_t{2} << step))};
}

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
