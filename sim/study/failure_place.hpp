// A user's mistake at the key of a scenario that makes it. Private to sim/study.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

[[noreturn]] inline void fail_at(const LoadedScenario& loaded, const std::string& key,
                                 const std::string& message, const std::string& hint) {
  throw UserError(fmt::format("{}: error: `{}`: {}\nhint: {}\n", origin_of(loaded, key), key, message, hint));
}

}  // namespace paceline
