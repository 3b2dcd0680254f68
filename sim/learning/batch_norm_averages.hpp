// The running averages of batch normalization in a distributed job: what evaluation normalizes with.
//
// Models:      every gradient carries the statistics s of its batch (means and variances of all normalized
//              channels). They are not parameters: no gradient, no velocity, no learning rate. When they
//              count is the job's choice.
// Equation:    as a gradient of worker w is applied, at the servers or on its own copy, with ρ the share of
//              the newest:
//                per-push: r ← (1 − ρ) · r + ρ · s                       every gradient, in the order applied
//                chief:    the same, for the gradients of worker 0 only
//                averaged: r_w ← (1 − ρ) · r_w + ρ · s;  evaluation uses mean_w r_w
// Units:       those of the channels.
// Assumptions: the chief is worker 0 for the whole job, also when it leaves. A worker that has applied
//              nothing yet takes part in the mean with its initial averages. With several servers the
//              statistics travel with shard 0.
// Not modelled: statistics synchronized within a forward pass; averages that workers pull.
// Source:      chief: what data-parallel training usually saves (the first worker's buffers); per push: what
//              asynchronous update operations on a parameter server do.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/learning/optimizer.hpp"

namespace paceline {

class BatchNormAverages {
 public:
  BatchNormAverages(const std::vector<float>& initial, BatchNormRule rule, std::uint32_t worker_count,
                    double share_of_newest)
      : rule_(rule),
        share_of_newest_(static_cast<float>(share_of_newest)),
        averages_(rule == BatchNormRule::averaged ? worker_count : 1, initial) {
    check(!averages_.empty(), "a job has workers");
  }

  // Keeps what the batch of this gradient looked like.
  void hold(WorkerId worker, GradientId gradient, std::vector<float> statistics) {
    check(statistics.size() == averages_.front().size(), "one value for each average");
    held_.emplace(gradient, Held{worker, std::move(statistics)});
  }

  void apply(GradientId gradient) {
    const auto found = held_.find(gradient);
    check(found != held_.end(), "statistics count once, with their gradient");
    const auto [worker, statistics] = std::move(found->second);
    held_.erase(found);
    if (rule_ == BatchNormRule::chief && worker.value != 0) return;
    std::vector<float>& averages = averages_.at(rule_ == BatchNormRule::averaged ? worker.value : 0);
    for (std::size_t i = 0; i < averages.size(); ++i)
      averages[i] = (1.0F - share_of_newest_) * averages[i] + share_of_newest_ * statistics[i];
  }

  void discard(GradientId gradient) { held_.erase(gradient); }

  // One, or one for each worker.
  [[nodiscard]] const std::vector<std::vector<float>>& all() const { return averages_; }
  void restore(std::vector<std::vector<float>> averages) {
    check(averages.size() == averages_.size() && averages.front().size() == averages_.front().size(),
          "averages of the same job");
    averages_ = std::move(averages);
  }
  [[nodiscard]] std::vector<float> global() const {
    std::vector<float> mean(averages_.front().size());
    const float weight = 1.0F / static_cast<float>(averages_.size());
    for (const std::vector<float>& averages : averages_)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += weight * averages[i];
    return mean;
  }

 private:
  struct Held {
    WorkerId worker;
    std::vector<float> statistics;
  };

  BatchNormRule rule_;
  float share_of_newest_;
  std::vector<std::vector<float>> averages_;
  std::map<GradientId, Held> held_;
};

}  // namespace paceline
