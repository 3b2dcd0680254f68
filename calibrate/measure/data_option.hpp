// `--data KIND:FOLDER` of the command line: which data set.
#pragma once

#include <string>

#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

inline constexpr const char* data_option_type = "KIND:FOLDER";
inline constexpr const char* data_kinds_text =
    "built-in-images, cifar10:FOLDER, cifar100:FOLDER or mnist:FOLDER";

// "cifar10:/data/cifar" or "built-in-images". Throws UserError for an unknown kind or a folder that is not there.
[[nodiscard]] DataChoice parse_data_option(const std::string& text);

}  // namespace paceline::calibrate
