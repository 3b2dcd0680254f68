// What `paceline predict` does.
#pragma once

#include <string>

namespace paceline {

struct PredictArguments {
  std::string file;     // configurations, one a row
  std::string records;  // folder of recorded asynchronous jobs
  std::string joint;    // folder in the layout of the Sync-Switch curves: its asynchronous runs; empty: none
  std::string output;   // empty: to the terminal
  bool same_cluster = false;
  bool force = false;  // replace an output that is there
  int draws = 100;
};
void predict_configurations(const PredictArguments& arguments);

}  // namespace paceline
