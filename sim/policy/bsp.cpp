// Bulk synchronous parallel: a round ends when every member's gradient is ready; they form one update.
#include <algorithm>

#include "sim/base/check.hpp"
#include "sim/policy/synchronization_factories.hpp"

namespace paceline {
namespace {

class Bsp final : public SynchronizationPolicy {
 public:
  void begin(std::span<const WorkerId> members) override {
    members_.assign(members.begin(), members.end());
    ready_.clear();
  }

  SynchronizationDecision on_gradient(WorkerId worker) override {
    check(std::find(ready_.begin(), ready_.end(), worker) == ready_.end(),
          "a worker's gradient is ready twice in one BSP round");
    ready_.push_back(worker);
    if (ready_.size() < members_.size()) return {};
    ready_.clear();
    return {.combine = members_, .release = members_};
  }

 private:
  std::vector<WorkerId> members_;
  std::vector<WorkerId> ready_;
};

}  // namespace

std::unique_ptr<SynchronizationPolicy> make_bsp() {
  return std::make_unique<Bsp>();
}

}  // namespace paceline
