// Fetching mini-batches out of a data set, for measuring.
//
// Models:      what a worker does before each iteration: samples at random places copied together and
//              normalized.
// Units:       batches in samples.
// Assumptions: the data set is in memory (dataset.hpp); one thread.
// Not modelled: reading from disk, decoding, augmentation.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/learning/network_learner.hpp"

namespace paceline::kernels {

class BatchLoading {
 public:
  // Throws UserError as load_dataset does (dataset_source.hpp).
  explicit BatchLoading(const DatasetSource& source);
  ~BatchLoading();

  void load(std::int64_t batch_samples);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline::kernels
