#include "sim/policy/synchronization.hpp"

#include "sim/base/check.hpp"
#include "sim/policy/synchronization_factories.hpp"

namespace paceline {

std::unique_ptr<SynchronizationPolicy> make_synchronization(const PhaseConfig& phase) {
  switch (phase.policy) {
    case SynchronizationKind::bsp:
      return make_bsp();
    case SynchronizationKind::asp:
      return make_asp();
    case SynchronizationKind::k_sync:
      return make_k_sync(static_cast<std::size_t>(phase.gradients_per_update));
    case SynchronizationKind::backup_workers:
      return make_backup_workers(static_cast<std::size_t>(phase.backups));
  }
  throw ProgrammingError("unknown synchronization policy");
}

}  // namespace paceline
