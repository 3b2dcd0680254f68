#include "sim/policy/synchronization/synchronization.hpp"

#include <array>

namespace paceline {

// One line for each policy here and in the list below.
SynchronizationRule bsp_rule();
SynchronizationRule asp_rule();
SynchronizationRule k_sync_rule();
SynchronizationRule backup_workers_rule();
SynchronizationRule ssp_rule();
SynchronizationRule dssp_rule();

std::span<const SynchronizationRule> SynchronizationRule::all() {
  static const std::array rules{
      bsp_rule(), asp_rule(), k_sync_rule(), backup_workers_rule(), ssp_rule(), dssp_rule(),
  };
  return rules;
}

std::unique_ptr<SynchronizationPolicy> make_synchronization(const SynchronizationChoice& policy) {
  return policy->make(policy.parameters());
}

std::optional<Complaint> complaint_about(const SynchronizationChoice& policy, std::int64_t workers) {
  return policy->complaint == nullptr ? std::nullopt : policy->complaint(policy.parameters(), workers);
}

std::size_t gradients_per_update(const SynchronizationChoice& policy, std::size_t workers) {
  std::vector<WorkerId> members;
  for (std::uint64_t w = 0; w < workers; ++w) members.push_back(WorkerId{w});
  const auto running = make_synchronization(policy);
  running->begin(members);
  return running->gradients_per_update();
}

}  // namespace paceline
