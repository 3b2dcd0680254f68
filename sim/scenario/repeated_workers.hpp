// Workers written once for several: `{name: big, repeat: 2, cores: 16}` stands for two of them, `big 1` and
// `big 2`, that are counted, named and overridden one by one.
#pragma once

#include "sim/description/assignment.hpp"

namespace paceline {

// Puts so many workers in the place of each item of `cluster.workers` with a `repeat` that makes sense. One
// that does not is left to the reader of the file, which refuses it.
void expand_repeated_workers(YamlNode& scenario);

// Puts a value into the tree of a scenario whose repeated workers are expanded, and expands what it brings.
void apply_to_scenario(const Assignment& assignment, YamlNode& scenario, Problems& problems);

}  // namespace paceline
