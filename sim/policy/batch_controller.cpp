#include "sim/policy/batch_controller.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/policy/batch_controllers.hpp"

namespace paceline {
namespace {

class FixedBatches final : public BatchController {
 public:
  explicit FixedBatches(Batches batches) : batches_(std::move(batches)) {}
  Batches initial() const override { return batches_; }
  std::optional<Batches> on_iteration(WorkerId, std::int64_t, Seconds) override { return std::nullopt; }

 private:
  Batches batches_;
};

}  // namespace

// Largest remainders: whole samples that sum to the total and follow the shares as closely as possible.
Batches split_by_share(std::int64_t total, std::span<const double> shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  check(sum > 0.0, "shares of a batch must be positive");
  Batches batches;
  std::vector<std::pair<double, std::size_t>> remainders;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const double exact = static_cast<double>(total) * shares[k] / sum;
    batches.push_back(static_cast<std::int64_t>(exact));
    remainders.emplace_back(static_cast<double>(batches.back()) - exact, k);
  }
  std::sort(remainders.begin(), remainders.end());
  std::int64_t missing = total - std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
  for (std::size_t i = 0; missing > 0; ++i, --missing) ++batches[remainders[i % remainders.size()].second];
  return batches;
}

std::unique_ptr<BatchController> make_batch_controller(const BatchingConfig& config,
                                                       std::span<const double> calibrated_throughput) {
  const auto workers = static_cast<std::int64_t>(calibrated_throughput.size());
  switch (config.controller) {
    case BatchControllerKind::uniform:
      return std::make_unique<FixedBatches>(Batches(calibrated_throughput.size(), config.initial_samples));
    case BatchControllerKind::static_by_throughput: {
      Batches batches = split_by_share(workers * config.initial_samples, calibrated_throughput);
      for (std::int64_t& batch : batches)
        batch = std::clamp(batch, config.minimum_samples, config.maximum_samples);
      return std::make_unique<FixedBatches>(std::move(batches));
    }
    case BatchControllerKind::dynamic:
      return make_dynamic_batches(config, calibrated_throughput.size());
  }
  throw ProgrammingError("unknown batch controller");
}

}  // namespace paceline
