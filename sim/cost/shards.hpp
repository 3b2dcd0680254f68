// Which part of the parameters each server holds.
//
// Models:      a network's variables (weights of a layer, shifts of a normalization, …) on S servers.
// Equation:    even:            each server holds 1/S of the bytes, and answers for 1/S of the V variables
//              whole variables: variable k = 0 … V − 1, in order of creation, is on server k mod S, whatever
//                               its size. One of 0 bytes (not trained: a counter of steps, a running
//                               average) takes its turn and is no work
// Units:       bytes.
// Assumptions: nothing but the order decides.
// Not modelled: placing by size; variables cut into parts.
// Source:      TensorFlow 1, tf.train.replica_device_setter: its strategy by default is this turn.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline {

struct ServerShard {
  Bytes bytes;
  double variables = 0.0;
};

// `variables`: the bytes of each, in order of creation; may be unknown (empty) where the split is even.
[[nodiscard]] inline std::vector<ServerShard> shards_of(Bytes parameters, std::span<const Bytes> variables,
                                                        std::size_t servers, ParameterSplit split) {
  check(servers > 0, "parameters are on at least one server");
  const auto count = static_cast<double>(servers);
  std::vector<ServerShard> shards(servers);
  for (std::size_t k = 0; k < variables.size(); ++k) {
    ServerShard& shard = shards[k % servers];
    shard.bytes += variables[k];
    shard.variables += variables[k] > Bytes{} ? 1.0 : 0.0;
  }
  if (split == ParameterSplit::whole_variables) return shards;
  double trained = 0.0;
  for (const ServerShard& shard : shards) trained += shard.variables;
  return {servers, {parameters / count, trained / count}};
}

}  // namespace paceline
