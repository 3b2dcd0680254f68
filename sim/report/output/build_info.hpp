// What this program was built from; filled in by the build (cmake/BuildInfo.cmake).
#pragma once

#include <string>

namespace paceline {

struct BuildInfo {
  std::string version;   // "0.1.0"
  std::string commit;    // short hash, "-dirty" appended if files differed from it; "unknown" outside git
  std::string libtorch;  // "1.13.1"; "not built" without the kernels
  std::string compiler;  // "GNU 12.2.0, Release"
};

[[nodiscard]] const BuildInfo& build_info();

}  // namespace paceline
