// A network as seen by the rest of kernels/: flat float32 parameters in, loss and flat gradient out.
//
// Models:      the loss f(x; batch) = mean cross-entropy of the network with parameters x over the labels of
//              the batch: one for each image, of a text one for each token.
// Equation:    gradient = ∂f/∂x, in the order of the parameters, overwritten by every call.
// Units:       loss in nats; pixels are normalized values in channel-row-column order.
// Assumptions: one call at a time; the result depends on the number of compute threads (training_step.hpp).
// Not modelled: weight decay and momentum (sim/learning/sgd.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/data/dataset.hpp"
#include "sim/base/random.hpp"

namespace paceline::kernels {

// Sums over a batch, so that batches of different sizes combine.
struct BatchScore {
  double loss_sum = 0.0;
  std::int64_t correct = 0;
  std::int64_t labels = 0;
};

class Network {
 public:
  // One of the list, or a TorchScript file, for data of this shape (dataset.hpp). Throws UserError naming the
  // closest network when `name` is unknown, and when it takes other data.
  Network(const std::string& name, std::int64_t classes,
          const std::vector<std::int64_t>& input_shape = {image_channels, image_size, image_size});
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  [[nodiscard]] std::int64_t parameter_count() const;
  // The parameters used by the next call; write them freely between calls. Zero until written.
  [[nodiscard]] std::span<float> parameters();
  [[nodiscard]] std::span<const float> gradient() const;

  // Loss and gradient of one batch.
  double forward_backward(const Batch& batch);
  // What batch normalization saw in the last call of forward_backward (flat_network.hpp); empty without it.
  [[nodiscard]] std::span<const float> batch_statistics() const;
  // As many: mean 0 and variance 1 for every channel; those of a TorchScript file.
  [[nodiscard]] std::vector<float> initial_batch_statistics() const;

  // Loss and hits of one batch, without a gradient: normalized by the statistics of this batch …
  [[nodiscard]] BatchScore score(const Batch& batch);
  // … or by those given.
  [[nodiscard]] BatchScore score(const Batch& batch, std::span<const float> statistics);

  // Kaiming-normal initial values; one stream per parameter tensor. A TorchScript file has its own values,
  // whatever the seed, which then is that of its dropout.
  void initialize(std::span<float> parameters, Seed seed) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline::kernels
