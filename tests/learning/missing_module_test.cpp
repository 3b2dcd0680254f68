#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/learning/network_learner.hpp"

using namespace paceline;

// This program lies in a folder without the module.
TEST_CASE("without the kernels module beside the program, the user reads which file is missing and where") {
  NetworkLearnerConfig config;
  config.network = "small-cnn";
  config.worker_count = 1;
  CHECK_THROWS_WITH_AS(static_cast<void>(load_network_learner(config)),
                       doctest::Contains("paceline-kernels.so"), UserError);
  CHECK_THROWS_WITH_AS(static_cast<void>(load_network_learner(config)), doctest::Contains("lib/paceline"),
                       UserError);
  // The same before any run: a study of hundreds says it once.
  CHECK_THROWS_WITH_AS(require_network_module(), doctest::Contains("paceline-kernels.so"), UserError);
}
