// Which training samples a worker draws its batches from.
//
// Models:      every worker the whole training set in its own order, or one shuffle cut into equal shards.
// Equation:    the worker with the w-th random stream of K has places [w·N/K, (w+1)·N/K) of the shuffle. With
//              batch b_k it makes K·b_k / Σ b passes over its shard while the job makes one over the data.
// Units:       samples.
// Assumptions: equal shards whatever the batches: a fast worker reads its shard again before others are done.
//              A worker that leaves takes its shard with it.
// Source:      OmniLearn's released code: equal shards under BSP, the whole data under ASP.
#pragma once

#include <cstdint>

namespace paceline {

enum class DataPartition { whole, equal_shards };

struct DataPart {
  std::int64_t first = 0;
  std::int64_t end = 0;  // the first place that is no longer part of it
  [[nodiscard]] std::int64_t size() const { return end - first; }
};

[[nodiscard]] inline DataPart part_of(DataPartition partition, std::int64_t samples, std::uint64_t worker,
                                      std::uint64_t workers) {
  if (partition == DataPartition::whole) return {0, samples};
  const auto place = [&](std::uint64_t w) {
    return samples * static_cast<std::int64_t>(w) / static_cast<std::int64_t>(workers);
  };
  return {place(worker), place(worker + 1)};
}

}  // namespace paceline
