// Gradients of one update that are summed in buckets while they are still computed: how far that is.
//
// Models:      one bucket after the other, in the order in which they get ready. The first that has not been
//              summed can begin once every gradient of the update has got that far, or the update asks for
//              the rest.
// Assumptions: who computes now takes part in the update, and nobody joins it once sums have begun. When a
//              gradient is called off, the sums so far are of no use: they are begun again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/policy/synchronization/gradient_buckets.hpp"
#include "sim/training/action.hpp"

namespace paceline {

class BucketedRound {
 public:
  // Of the rounds that follow.
  void set_buckets(std::vector<GradientBucket> buckets) {
    check(gradients_.empty(), "a round keeps its buckets");
    buckets_ = std::move(buckets);
    ready_before_end_.clear();
    for (const GradientBucket& bucket : buckets_)
      if (bucket.ready < 1.0) ready_before_end_.push_back(bucket.ready);
  }

  // Shares of an iteration at which a bucket gets ready, before its end.
  [[nodiscard]] std::span<const double> marks() const { return ready_before_end_; }

  void begin(WorkerId worker, GradientId gradient, Transport transport) {
    check(!under_way_ && done_ == 0, "an update whose gradients are being summed gets no more of them");
    gradients_[worker] = {gradient, 0};
    transport_ = transport;
  }
  void pass_mark(WorkerId worker) { ++gradients_.at(worker).ready; }
  // Returns the sum under way that is of no use any more.
  [[nodiscard]] std::optional<std::uint64_t> call_off(GradientId gradient) {
    const auto is_it = [&](const auto& entry) { return entry.second.gradient == gradient; };
    if (std::erase_if(gradients_, is_it) == 0) return std::nullopt;
    update_.reset();
    done_ = 0;
    return std::exchange(under_way_, std::nullopt);
  }
  [[nodiscard]] bool has_gradients() const { return !gradients_.empty(); }
  // All of them are computed: what is left is summed now.
  void finish(const AllReduce& update) {
    check(std::ranges::equal(gradients_ | std::views::keys, update.members), "who computes takes part");
    update_ = update.update;
  }

  // The sum of a bucket begins, if one can now; `gradients`: of how many workers the update will be.
  struct Sum {
    Transport transport = Transport::ring;
    std::vector<WorkerId> members;
    Bytes size;
    std::uint64_t number = 0;
  };
  [[nodiscard]] std::optional<Sum> begin_next(std::size_t gradients) {
    if (gradients_.empty() || under_way_ || done_ == buckets_.size()) return std::nullopt;
    const auto is_ready = [&](const auto& entry) { return entry.second.ready > done_; };
    if (!update_ && (gradients_.size() != gradients || !std::ranges::all_of(gradients_, is_ready)))
      return std::nullopt;
    under_way_ = ++sums_begun_;
    const auto members = gradients_ | std::views::keys;
    return Sum{transport_, {members.begin(), members.end()}, buckets_[done_].bytes, sums_begun_};
  }
  // Unless one of its gradients has been called off since.
  void end(std::uint64_t number) {
    if (under_way_ != number) return;
    under_way_.reset();
    ++done_;
  }
  // Set once everything that it asks for is summed: the round is over.
  [[nodiscard]] std::optional<UpdateId> over() {
    if (!update_ || done_ < buckets_.size()) return std::nullopt;
    gradients_.clear();
    done_ = 0;
    return std::exchange(update_, std::nullopt);
  }

 private:
  struct Gradient {
    GradientId gradient;
    std::size_t ready = 0;  // buckets
  };

  std::vector<GradientBucket> buckets_;
  std::vector<double> ready_before_end_;
  std::map<WorkerId, Gradient> gradients_;
  Transport transport_ = Transport::ring;
  std::optional<UpdateId> update_;
  std::size_t done_ = 0;
  std::uint64_t sums_begun_ = 0;
  std::optional<std::uint64_t> under_way_;
};

}  // namespace paceline
