// `paceline validate live`: predict, seal, carry out for real, compare.
#pragma once

#include <string>
#include <vector>

namespace paceline {

struct ValidateLiveArguments {
  std::vector<std::string> files;      // scenarios
  std::vector<std::string> overrides;  // of each of them
  std::string output = "results/validation-live";
  int runs = 5;          // real ones of each scenario
  int replications = 0;  // simulated ones; 0: as many as the scenario says, and at least 20
  int jobs = 1;
  double patience = 60.0;       // s, with a worker that says nothing
  double most_deviation = 0.6;  // of an iteration's time from the profile's, and from that before the sealing
  double wait = 15.0;           // s, for each measurement and run, for the machine to be as fast as at first
  bool accept_load = false;
  bool as_it_is = false;  // the machine: nothing is asked of its kernel
  bool figures = true;
  bool force = false;
};

// `command` reproduces the results. Returns false when a real job lost a worker or stalled.
bool validate_live(const ValidateLiveArguments& arguments, const std::string& command);

}  // namespace paceline
