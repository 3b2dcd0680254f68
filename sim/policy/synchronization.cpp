#include "sim/policy/synchronization.hpp"

#include "sim/base/check.hpp"
#include "sim/policy/synchronization_factories.hpp"

namespace paceline {

std::unique_ptr<SynchronizationPolicy> make_synchronization(SynchronizationKind kind) {
  switch (kind) {
    case SynchronizationKind::bsp:
      return make_bsp();
    case SynchronizationKind::asp:
      return make_asp();
  }
  throw ProgrammingError("unknown synchronization policy");
}

}  // namespace paceline
