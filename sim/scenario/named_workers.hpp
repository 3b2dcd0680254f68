// Workers called by their `name` where a key takes a number: `stragglers: [{worker: big 1, …}]`.
//
// Models:      the places that name workers: stragglers, members that leave or join, levels, machines. A name
//              is replaced by the worker's place in the list, from 0; so both spellings are the same run.
// Assumptions: repeated workers are expanded. Digits without quotes are a number, whatever names there are.
#pragma once

#include <string>
#include <vector>

#include "sim/description/yaml_tree.hpp"

namespace paceline {

struct UnknownWorker {
  std::string path;  // "heterogeneity.stragglers.0.worker"
  Spot spot;
  std::string name;
  std::string hint;  // whom it may mean
};

// Replaces the names in the tree of a scenario; those that no worker has by 0, to be refused by the caller.
[[nodiscard]] std::vector<UnknownWorker> number_named_workers(YamlNode& scenario);

}  // namespace paceline
