// The kernels module's only export: how the simulator obtains a network learner
// (sim/learning/network_learner.hpp).
#include "kernels/training/network_learner.hpp"

extern "C" __attribute__((visibility("default"))) paceline::Learner* paceline_make_network_learner_v7(
    const paceline::NetworkLearnerConfig& config) {
  return new paceline::kernels::NetworkLearner(config);
}

// The loader looks the function up by name: a changed signature must not compile.
static_assert(std::is_same_v<decltype(&paceline_make_network_learner_v7), paceline::MakeNetworkLearner>);
