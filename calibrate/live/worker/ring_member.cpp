#include "calibrate/live/worker/ring_member.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "calibrate/live/worker/own_copy.hpp"

namespace paceline::live {
namespace {

constexpr WorkerId own_id{0};
constexpr ServerId only_server{0};
// Who stands still the server gives up, which breaks the ring.
constexpr auto as_long_as_it_takes = std::chrono::hours(24);
constexpr auto patience_with_members = std::chrono::seconds(10);

std::int64_t process_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

RingMember::RingMember(Link& link, const NetworkLearnerConfig& learner, std::vector<float> initial,
                       std::string token, const RingWay& way)
    : link_(link),
      token_(std::move(token)),
      way_(way),
      store_(std::move(initial), config_of_one_worker(learner)) {}

void RingMember::keep(std::uint64_t gradient, std::span<const float> values) {
  store_.hold(own_id, GradientId{gradient}, {values.begin(), values.end()});
  kept_ = gradient;
  kept_at_ns_ = process_time_ns();
}

void RingMember::forget(std::uint64_t gradient) {
  if (kept_ != gradient) return;
  store_.discard(GradientId{gradient});
  kept_.reset();
}

void RingMember::carry_out(const FormRing& request) {
  ring_.reset();
  failure_.clear();
  if (request.members == 1) return;
  calibrate::RingPlace place{.meet = {},
                             .rank = request.rank,
                             .members = request.members,
                             .token = token_,
                             .address = link_.own_address(),
                             .patience = patience_with_members,
                             .message_patience = as_long_as_it_takes,
                             .latency = way_.latency,
                             .gives_way = true};
  place.meet = [&](const std::string& own) {
    link_.send(RingAddress{request.ring, own});
    std::optional<std::vector<std::string>> members = link_.members_of(request.ring);
    if (!members) throw std::runtime_error("another ring is to be formed");
    return *std::move(members);
  };
  const Link::SayingSo saying(link_);
  try {
    ring_ = calibrate::has_gloo() && !way_.is_own ? make_gloo_ring(place) : make_own_ring(place);
  } catch (const std::exception& error) {
    failure_ = fmt::format("no ring was formed: {}", error.what());
  }
}

// λ · g, in the place of the sum.
std::span<float> RingMember::weighted(const Reduce& request) {
  if (reducing_ != request.gradient) {
    if (kept_ != request.gradient) throw BadMessage("a sum of a gradient that is not here");
    const WeightedGradient own{GradientId{request.gradient}, own_id, 1.0, 0.0};
    sum_ = store_.combine(only_server, std::span(&own, 1), request.momentum);
    part_.assign(sum_.begin(), sum_.end());
    reducing_ = request.gradient;
    kept_.reset();
  }
  const auto weight = static_cast<float>(request.weight);
  std::ranges::transform(part_, sum_.begin(), [weight](float value) { return weight * value; });
  return sum_;
}

void RingMember::carry_out(const Reduce& request) {
  const std::int64_t began = std::exchange(kept_at_ns_, std::nullopt).value_or(process_time_ns());
  const std::span<float> sum = weighted(request);
  try {
    if (!failure_.empty()) return link_.send(RingBroke{request.ring, failure_});
    const Link::SayingSo saying(link_);
    if (ring_) ring_->all_reduce(sum);
  } catch (const std::exception& error) {
    ring_.reset();
    failure_ = fmt::format("it broke: {}", error.what());
    return link_.send(RingBroke{request.ring, failure_});
  }
  link_.send(Reduced{request.ring, request.update, process_time_ns() - began});
}

void RingMember::carry_out(const TakeStep& request) {
  store_.step(only_server, {.learning_rate = request.learning_rate, .momentum = request.momentum});
  store_.pull(own_id, only_server);
  reducing_.reset();
}

void RingMember::carry_out(const AskHandover&) {
  link_.send(Handover{0, store_.replica_for(own_id)});
}

void RingMember::carry_out(Handover handover) {
  store_.adopt(own_id, std::move(handover.replica));
  store_.pull(own_id, only_server);
  link_.send(Received{handover.gradient});
}

}  // namespace paceline::live
