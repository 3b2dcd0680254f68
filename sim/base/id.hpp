// Identifiers that cannot be mixed up: a worker is not a server, a gradient is not an update.
//
// Ids are dense and start at 0; ordering by value is the tie-break everywhere in paceline (never by
// address), so that equal inputs give equal results.
#pragma once

#include <compare>
#include <cstdint>

namespace paceline {

template <class Tag>
struct Id {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(Id, Id) = default;
};

using WorkerId = Id<struct WorkerTag>;
using ServerId = Id<struct ServerTag>;  // server k holds shard k of the parameters
using GradientId =
    Id<struct GradientTag>;  // one iteration's result, from its release until it is applied or dropped
using UpdateId = Id<struct UpdateTag>;  // one change of the global parameters

}  // namespace paceline
