// Phases that exchange parameters: workers step on their own copies and send those; a step that the
// coordinator has no use for is taken back.
#include "calibrate/live/live_executor.hpp"

namespace paceline::live {

void LiveExecutor::carry_out(const ApplyLocally& action) {
  state_.use_statistics(action.gradient);
  own_.erase(action.gradient);
  if (Asked* const asked = find(action.worker, action.gradient.value)) asked->is_stepped = true;
}

void LiveExecutor::carry_out(const Overwrite& action) {
  if (action.completes_update) applied_samples_ += action.by.batch_samples;
  ++version_;
  servers_version_ = version_;
  const Seconds began = clock_.now();
  const std::int64_t used = processor_time_ns();
  state_.overwrite(action.server, action.by.worker);
  applying_ns_ += processor_time_ns() - used;
  observer_.on_server_work(action.server, action.update, began, clock_.now());
}

// False when it cannot be what its worker was asked for.
bool LiveExecutor::keep_own(WorkerId worker, const Computed& message, const Asked& computed) {
  if (message.statistics.size() != job_.statistics_count) {
    refuse(worker, "computed on another network");
    return false;
  }
  if (computed.is_started && !computed.is_called_off) {
    state_.hold_statistics(worker, computed.gradient, message.statistics);
    own_.insert(computed.gradient);
  }
  return true;
}

}  // namespace paceline::live
