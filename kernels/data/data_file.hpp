// A file of a dataset, read with the errors a user can act on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace paceline::kernels {

class DataFile {
 public:
  // `expected` says what the file should hold, for the message when it is missing.
  DataFile(std::filesystem::path path, const std::string& expected);

  // The first `wanted` bytes from where the last read ended. Throws when the file is shorter than that.
  [[nodiscard]] std::span<const std::uint8_t> read(std::int64_t wanted);
  [[nodiscard]] std::uint32_t read_big_endian_u32();
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Throws a UserError about this file.
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  std::filesystem::path path_;
  std::string expected_;
  std::string bytes_;
  std::size_t position_ = 0;
};

// Throws when a user asked for more samples than a dataset holds.
void require_samples(const std::filesystem::path& folder, const std::string& what, std::int64_t wanted,
                     std::int64_t available);

}  // namespace paceline::kernels
