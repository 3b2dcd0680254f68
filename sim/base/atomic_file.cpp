#include "sim/base/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"

namespace paceline {

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path partial = fmt::format("{}.partial-{}", path.string(), getpid());
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  std::error_code renaming;
  if (out) std::filesystem::rename(partial, path, renaming);
  if (out && !renaming) return;
  const std::string reason = renaming ? renaming.message() : std::strerror(errno);
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw UserError(fmt::format("cannot write {}: {}", path.string(), reason),
                  "check that the folder exists, is writable and has space left");
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    throw UserError(fmt::format("cannot read {}: it is a folder", path.string()), "name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)), "");
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

}  // namespace paceline
