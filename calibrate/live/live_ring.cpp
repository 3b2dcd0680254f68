#include "calibrate/live/live_ring.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline::live {
namespace {

constexpr int most_attempts = 3;

}  // namespace

void LiveRing::begin(UpdateId update, const std::vector<RingPart>& parts) {
  check(!is_under_way() || update_ == update, "one all-reduce at a time");
  if (update_ != update) attempts_ = 0;
  update_ = update;
  parts_.clear();
  for (const RingPart& part : parts) parts_.push_back({part});
  ask();
}

void LiveRing::ask() {
  const auto worker_of = [](const Part& part) { return part.part.worker; };
  if (!is_whole_ || !std::ranges::equal(parts_, places_, {}, worker_of, &Place::worker)) form();
  for (const Part& part : parts_)
    crew_.send(part.part.worker.value,
               Reduce{ring_, update_->value, part.part.gradient.value, part.part.weight, momentum_});
}

void LiveRing::form() {
  ++ring_;
  is_whole_ = true;
  places_.clear();
  for (const Part& part : parts_) places_.push_back({part.part.worker});
  for (std::uint64_t rank = 0; rank < places_.size(); ++rank)
    crew_.send(places_[rank].worker.value, FormRing{ring_, rank, places_.size()});
}

bool LiveRing::on(WorkerId worker, const RingAddress& message) {
  if (message.ring != ring_) return message.ring < ring_;
  const auto place = std::ranges::find(places_, worker, &Place::worker);
  if (place == places_.end() || place->address) return false;
  place->address = message.address;
  RingMembers members{ring_, {}};
  for (const Place& one : places_) {
    if (!one.address) return true;
    members.addresses.push_back(*one.address);
  }
  for (Place& one : places_) {
    crew_.send(one.worker.value, members);
    one.address.reset();  // a library may have several things to tell
  }
  return true;
}

bool LiveRing::on(WorkerId worker, const Reduced& message) {
  if (message.ring != ring_) return message.ring < ring_;
  Part* const part = find(worker);
  if (part == nullptr || part->answer != Answer::none || message.update != update_->value) return false;
  part->answer = Answer::reduced;
  processor_ns_ += message.processor_ns;
  messages_ += 4 * (parts_.size() - 1);
  ask_again_if_broken();
  return true;
}

bool LiveRing::on(WorkerId worker, const RingBroke& message) {
  if (message.ring != ring_) return message.ring < ring_;
  Part* const part = find(worker);
  if (part == nullptr || part->answer != Answer::none) return false;
  part->answer = Answer::broke;
  is_whole_ = false;
  reason_ = message.reason;
  ask_again_if_broken();
  return true;
}

// Who ended it is still to be heard of, unless everybody has answered.
void LiveRing::ask_again_if_broken() {
  if (!is_under_way() || is_whole_ || std::ranges::find(parts_, Answer::none, &Part::answer) != parts_.end())
    return;
  if (++attempts_ == most_attempts)
    throw std::runtime_error(
        fmt::format("the ring of update {} broke {} times: {}", update_->value, most_attempts, reason_));
  for (Part& one : parts_) one.answer = Answer::none;
  ask();
}

std::optional<UpdateId> LiveRing::take_finished() {
  const auto has_sum = [](const Part& part) { return part.answer == Answer::reduced; };
  if (!is_under_way() || !std::ranges::all_of(parts_, has_sum)) return std::nullopt;
  parts_.clear();
  return std::exchange(update_, std::nullopt);
}

void LiveRing::forget(WorkerId worker) {
  if (std::ranges::find(places_, worker, &Place::worker) != places_.end()) is_whole_ = false;
  std::erase_if(parts_, [&](const Part& one) { return one.part.worker == worker; });
  if (parts_.empty()) update_.reset();
}

bool LiveRing::awaits(WorkerId worker) const {
  const Part* const part = find(worker);
  return part != nullptr && part->answer == Answer::none;
}

const LiveRing::Part* LiveRing::find(WorkerId worker) const {
  const auto found = std::ranges::find(parts_, worker, [](const Part& one) { return one.part.worker; });
  return found == parts_.end() ? nullptr : &*found;
}
LiveRing::Part* LiveRing::find(WorkerId worker) {
  return const_cast<Part*>(std::as_const(*this).find(worker));
}

}  // namespace paceline::live
