#include "calibrate/cli/output_file.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

namespace fs = std::filesystem;

void check_output_file(const fs::path& file, bool may_replace) {
  if (file.empty()) throw UserError("--output: the file's name is empty", "name a file");
  std::error_code status;
  if (fs::is_directory(file, status))
    throw UserError(fmt::format("cannot write {}: it is a folder", file.string()),
                    "name a file with --output");
  if (fs::exists(file, status) && !may_replace)
    throw UserError(fmt::format("{} exists", file.string()),
                    "choose another file with --output, or replace it with --force");
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw UserError(
        fmt::format("cannot write {}: folder {}: {}", file.string(), folder.string(), std::strerror(errno)),
        "create the folder first, or choose another file with --output");
}

}  // namespace paceline::calibrate
