#include "sim/learning/batch_norm_averages.hpp"

#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

BatchNormAverages::BatchNormAverages(std::vector<float> initial, BatchNormRule rule,
                                     std::uint32_t worker_count, double share_of_newest)
    : rule_(rule),
      share_of_newest_(static_cast<float>(share_of_newest)),
      averages_(rule == BatchNormRule::averaged ? worker_count : 1, std::move(initial)) {
  check(!averages_.empty(), "a job has workers");
}

void BatchNormAverages::hold(WorkerId worker, GradientId gradient, std::vector<float> statistics) {
  check(statistics.size() == averages_.front().size(), "one value for each average");
  held_.emplace(gradient, Held{worker, std::move(statistics)});
}

void BatchNormAverages::apply(GradientId gradient) {
  const auto found = held_.find(gradient);
  check(found != held_.end(), "statistics count once, with their gradient");
  const auto [worker, statistics] = std::move(found->second);
  held_.erase(found);
  if (rule_ == BatchNormRule::chief && worker.value != 0) return;
  std::vector<float>& averages = averages_.at(rule_ == BatchNormRule::averaged ? worker.value : 0);
  for (std::size_t i = 0; i < averages.size(); ++i)
    averages[i] = (1.0F - share_of_newest_) * averages[i] + share_of_newest_ * statistics[i];
}

std::vector<float> BatchNormAverages::global() const {
  std::vector<float> mean(averages_.front().size());
  const float weight = 1.0F / static_cast<float>(averages_.size());
  for (const std::vector<float>& averages : averages_)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += weight * averages[i];
  return mean;
}

}  // namespace paceline
