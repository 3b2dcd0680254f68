#include "kernels/data/data_file.hpp"

#include <system_error>

#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {

DataFile::DataFile(std::filesystem::path path, const std::string& expected)
    : path_(std::move(path)), expected_(expected) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) refuse("there is no such file");
  if (!std::filesystem::is_regular_file(path_, error)) refuse("it is not a regular file");
  bytes_ = read_file(path_);
}

std::span<const std::uint8_t> DataFile::read(std::int64_t wanted) {
  if (size() - static_cast<std::int64_t>(position_) < wanted) {
    refuse(fmt::format("it ends after {} bytes, {} are needed", size(),
                       static_cast<std::int64_t>(position_) + wanted));
  }
  const auto count = static_cast<std::size_t>(wanted);
  const std::span<const std::uint8_t> result(reinterpret_cast<const std::uint8_t*>(bytes_.data()) + position_,
                                             count);
  position_ += count;
  return result;
}

std::uint32_t DataFile::read_big_endian_u32() {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : read(4)) value = (value << 8U) | byte;
  return value;
}

void DataFile::refuse(const std::string& problem) const {
  throw UserError(fmt::format("cannot use {}: {}", path_.string(), problem),
                  fmt::format("expected {}", expected_));
}

void require_samples(const std::filesystem::path& folder, const std::string& what, std::int64_t wanted,
                     std::int64_t available) {
  if (wanted <= available) return;
  throw UserError(
      fmt::format("{} {} samples asked for, {} holds {}", wanted, what, folder.string(), available),
      fmt::format("ask for at most {}", available));
}

}  // namespace paceline::kernels
