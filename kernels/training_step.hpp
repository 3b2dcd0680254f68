// One worker's real computation, for measuring: forward, backward and optimizer step of a network on
// synthetic data. LibTorch stays behind this header so that only kernels/ compiles against it.
//
// Units:       batches in samples, sizes in bytes.
// Assumptions: the caller has set CPU affinity; `set_compute_threads` is called before the first step.
// Not modelled: loading and augmenting data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paceline::kernels {

struct NetworkFacts {
  std::string name;                       // e.g. "resnet20"
  std::string description;                // one line: layers, input, what it is for
  std::vector<std::int64_t> input_shape;  // one sample: {channels, height, width}
  std::int64_t classes = 0;
  std::int64_t parameter_count = 0;  // trainable numbers
};

// Every network that can be calibrated and trained, in a fixed order.
[[nodiscard]] std::vector<NetworkFacts> list_networks();
// Throws UserError naming the closest network when there is no such name.
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
  TrainingStep(const std::string& network, std::int64_t batch_samples);
  ~TrainingStep();
  TrainingStep(TrainingStep&&) noexcept;
  TrainingStep& operator=(TrainingStep&&) noexcept;

  // Loss and gradients of one batch; gradients are overwritten, not accumulated.
  void forward_backward();
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
