// One worker's real computation, for measuring: fetching a batch; forward, backward and optimizer step of a
// network on synthetic data. LibTorch stays behind this header so that only kernels/ compiles against it.
//
// Models:      a network of the list, or one of the user's own: a TorchScript file, which maps {batch,
//              shape…} to logits {batch, classes} or {batch, length, classes}. Its parameters must be 32-bit
//              floats.
// Units:       batches in samples, sizes in bytes.
// Assumptions: the caller has set CPU affinity; `set_compute_threads` is called before the first step.
// Not modelled: reading data from disk, decoding and augmenting them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/learning/network_learner.hpp"

namespace paceline::kernels {

struct Batch;  // kernels/data/dataset.hpp

// What a worker does before each iteration: samples at random places of a data set in memory, drawn with
// replacement, are copied together and normalized by one thread.
class BatchLoading {
 public:
  // Throws UserError as load_dataset does (dataset_source.hpp).
  explicit BatchLoading(const DatasetSource& source);
  ~BatchLoading();

  // Replaced by the next call.
  const Batch& load(std::int64_t batch_samples);
  [[nodiscard]] std::int64_t classes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct NetworkSummary {
  std::string name;         // e.g. "resnet20"
  std::string description;  // one line: layers, input, what it is for
};

struct NetworkFacts {
  std::string name;
  std::string description;
  std::vector<std::int64_t> input_shape;  // one sample: {channels, height, width}, or {tokens}
  std::int64_t classes = 0;               // or the size of the vocabulary
  std::int64_t parameter_count = 0;       // trainable numbers
  std::vector<std::int64_t> variables{};  // how many of them are in each tensor, in order of creation
};

// Which network to measure.
struct NetworkChoice {
  std::string name;  // of the list, or a TorchScript file: a path that ends in ".pt"
  std::vector<std::int64_t> input_shape = {};  // of a TorchScript file: one sample, one number for tokens
  std::int64_t classes = 0;                    // 0: those of a listed network

  [[nodiscard]] bool is_file() const { return name.ends_with(".pt"); }
};

// Every network that can be calibrated, in a fixed order.
[[nodiscard]] std::vector<NetworkSummary> list_networks();
// Throws UserError naming the closest network when there is no such name, or saying what is wrong with the
// file.
[[nodiscard]] NetworkFacts network_facts(const NetworkChoice& choice);
[[nodiscard]] NetworkFacts network_facts(const std::string& name);

// Versions and settings that decide how fast the kernels run.
struct KernelSoftware {
  std::string libtorch;  // e.g. "1.13.1"
  std::string blas;      // the library actually loaded, e.g. "OpenBLAS 0.3.21" or "reference BLAS"
  int threads = 0;       // intra-op threads in force
};

void set_compute_threads(int threads);
[[nodiscard]] KernelSoftware kernel_software();

class TrainingStep {
 public:
  TrainingStep(const NetworkChoice& choice, std::int64_t batch_samples);
  ~TrainingStep();
  TrainingStep(TrainingStep&&) noexcept;
  TrainingStep& operator=(TrainingStep&&) noexcept;

  // The same network with another batch.
  void set_batch(std::int64_t batch_samples);
  [[nodiscard]] std::int64_t parameter_count() const;

  // The loss of one batch …
  void forward();
  // … and its gradients, which are overwritten, not accumulated. Once after each forward().
  void backward();
  // Both, for their times alone: from the beginning until the gradient of each variable was there (in order
  // of creation), and until the end; `now` tells the time, in seconds.
  [[nodiscard]] std::vector<double> gradient_times(const std::function<double()>& now);
  // SGD with momentum and weight decay on this worker's own parameters, as after an all-reduce.
  void optimizer_step();
  // What a server does with one arriving gradient: the flat float32 gradient of `network` added into an
  // accumulator (a push that waits for others) …
  void server_accumulate();
  // … and velocity and parameters updated from the accumulator (one step of the server).
  void server_step();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline::kernels
