// How the simulator obtains a learner that trains a real network without linking LibTorch.
//
// The network learner lives in a module of its own (kernels/), loaded the first time a scenario asks for it:
// loading LibTorch takes about 0.6 s, which a run without a network does not pay.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/optimizer.hpp"
#include "sim/learning/partition.hpp"

namespace paceline {

// Where labelled samples come from; `kind` is one of "built-in-images", "built-in-text", "cifar10",
// "cifar100", "mnist". Name and classes only say which data set it is.
struct DatasetSource {
  std::string kind = "built-in-images";
  std::string path;                // folder of the files; unused by what is built in
  std::int64_t train_samples = 0;  // the first n training samples; more than there are is an error
  std::int64_t test_samples = 0;   // the first n test samples
  DataPartition partition = DataPartition::whole;
  std::string name = {};                     // of the data set; empty: not stated
  std::optional<std::int64_t> classes = {};  // likewise
};

struct NetworkLearnerConfig {
  std::string network;  // a name of the network registry, e.g. "small-cnn"
  DatasetSource dataset;
  double weight_decay = 0.0;
  bool nesterov = false;
  std::optional<AdamW> adamw = {};  // absent: SGD
  MomentumPlace momentum_at = MomentumPlace::server;
  BatchNormRule batch_norm = BatchNormRule::chief;
  std::uint32_t worker_count = 0;
  std::uint32_t server_count = 1;                  // shards of the parameters
  Seed seed;                                       // parameter initialization and data order
  std::vector<std::uint32_t> random_streams = {};  // of each worker's data order; empty: 0, 1, 2, …
};

// Loads the kernels module and builds the learner. Throws UserError when the module is missing, the network
// is unknown or the data cannot be read.
[[nodiscard]] std::unique_ptr<Learner> load_network_learner(const NetworkLearnerConfig& config);

// Throws UserError when the module is missing, without loading it: before the first run of many.
void require_network_module();

// The symbol the module exports, found by name; both sides include this header.
inline constexpr const char* network_learner_symbol = "paceline_make_network_learner_v7";
using MakeNetworkLearner = Learner* (*)(const NetworkLearnerConfig&);

}  // namespace paceline
