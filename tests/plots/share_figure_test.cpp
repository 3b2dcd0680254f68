// Accuracy against the share of synchronous training: what the script holds.
#include <fstream>

#include <doctest/doctest.h>

#include "plots/figures/figures.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/plots/synthetic_results.hpp"

using namespace paceline;
using namespace paceline::plots;
using namespace paceline::testing;

namespace {

std::string script_of(const ShareResults& results) {
  return gnuplot_script(share_figure(results), "paceline timing x");
}

}  // namespace

TEST_CASE("points in percent, the chosen one filled, the tolerance as a band, recorded values as circles") {
  const ShareResults results{.tried = {{1.0, 0.92, 0.005}, {0.125, 0.915, 0.01}},
                             .target = 0.92,
                             .tolerance = 0.01,
                             .chosen = 0.125,
                             .recorded = {{0.05, 0.9174}}};
  const std::string script = script_of(results);
  CHECK(script.find("$tried << END_OF_DATA\n# share accuracy low high\n100 92 91.5 92.5\n"
                    "12.5 91.5 90.5 92.5\n") != std::string::npos);
  CHECK(script.find("$chosen << END_OF_DATA\n# share accuracy low high\n12.5 91.5 90.5 92.5\n"
                    "END_OF_DATA") != std::string::npos);
  CHECK(script.find("\n115 91 93\n") != std::string::npos);
  CHECK(script.find("\n5 91.74 91.74 91.74\n") != std::string::npos);
}

TEST_CASE("a share found with an assumed learner is marked in its figure, others are not") {
  ShareResults results{
      .tried = {{1.0, 0.92, 0.005}}, .target = 0.92, .tolerance = 0.01, .chosen = 1.0, .recorded = {}};
  CHECK(script_of(results).find("assumed learner") == std::string::npos);
  results.has_assumed_learner = true;
  CHECK(script_of(results).find("assumed learner") != std::string::npos);
}

TEST_CASE("recorded shares are percentages") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "recorded.csv";
  std::ofstream(file) << "share_percent,final_accuracy\n5,0.9174\n";
  CHECK(read_recorded_shares(file).at(0).share == 0.05);
  std::ofstream(file) << "share_percent,final_accuracy\n500,0.9174\n";
  CHECK_THROWS_AS(static_cast<void>(read_recorded_shares(file)), UserError);
}
