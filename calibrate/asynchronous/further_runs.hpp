// Asynchronous runs of another campaign that may have trained the same network at the same scaled rate.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/asynchronous/accuracy_model.hpp"

namespace paceline {

// Those of a folder in the layout of the Sync-Switch curves that train on 10 classes for as many
// mini-batches, wholly
// asynchronous, without a remark in their policy's name; none for an empty folder name. That their rate was
// divided by
// √n is an assumption.
[[nodiscard]] std::vector<AccuracyRun> further_runs(const std::filesystem::path& folder);

}  // namespace paceline
