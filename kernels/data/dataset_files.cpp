// Downloaded datasets.
//
// CIFAR-10 and CIFAR-100, binary version: records of label byte(s) and 3072 pixel bytes, nothing else in the
// file. A record is 1 + 3072 bytes (CIFAR-10) or coarse label, fine label + 3072 bytes (CIFAR-100).
// MNIST in IDX files: big-endian magic number, extents, then bytes. Images: magic 2051, count, 28, 28;
// labels: magic 2049, count. Any dataset in this form with 28x28 images and 10 classes (Fashion-MNIST) loads
// as well.
// Source: Krizhevsky, "Learning multiple layers of features from tiny images", 2009; LeCun, Cortes, Burges,
// "The MNIST database of handwritten digits".
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/data/dataset_source.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {
namespace {

// A file of a dataset, read with the errors a user can act on.
class DataFile {
 public:
  // `expected` says what the file should hold, for the message when it does not.
  DataFile(std::filesystem::path path, std::string expected)
      : path_(std::move(path)), expected_(std::move(expected)) {
    std::error_code error;
    if (!std::filesystem::exists(path_, error)) refuse("there is no such file");
    if (!std::filesystem::is_regular_file(path_, error)) refuse("it is not a regular file");
    bytes_ = read_file(path_);
  }

  [[nodiscard]] std::int64_t size() const { return std::ssize(bytes_); }
  [[nodiscard]] std::string name() const { return path_.filename().string(); }

  // The first `wanted` bytes from where the last read ended.
  [[nodiscard]] std::span<const std::uint8_t> read(std::int64_t wanted) {
    if (size() - position_ < wanted)
      refuse(fmt::format("it ends after {} bytes, {} are needed", size(), position_ + wanted));
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes_.data()) + position_;
    position_ += wanted;
    return {first, static_cast<std::size_t>(wanted)};
  }

  [[nodiscard]] std::uint32_t read_big_endian_u32() {
    std::uint32_t value = 0;
    for (const std::uint8_t byte : read(4)) value = (value << 8U) | byte;
    return value;
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    throw UserError(fmt::format("cannot use {}: {}", path_.string(), problem),
                    fmt::format("expected {}", expected_));
  }

 private:
  std::filesystem::path path_;
  std::string expected_;
  std::string bytes_;
  std::int64_t position_ = 0;
};

void require_samples(const std::string& folder, const char* part, std::int64_t wanted,
                     std::int64_t available) {
  if (wanted > available)
    throw UserError(fmt::format("{} {} samples asked for, {} holds {}", wanted, part, folder, available),
                    fmt::format("ask for at most {}", available));
}

struct CifarFormat {
  const char* name;
  std::int64_t classes;
  std::int64_t label_bytes;  // the last one is the class
  PixelScaling scaling;
  std::vector<std::string> train_files;
  std::string test_file;
};

void append_record(const CifarFormat& format, DataFile& file, std::int64_t record, Dataset& dataset) {
  const std::span<const std::uint8_t> labels = file.read(format.label_bytes);
  const auto require_below = [&](std::uint8_t label, std::int64_t classes, const char* kind) {
    if (label >= classes)
      file.refuse(fmt::format("record {} has the {}label {}, {} goes from 0 to {}", record, kind, label,
                              format.name, classes - 1));
  };
  require_below(labels.back(), format.classes, "");
  // The coarse label of CIFAR-100 is not used, but tells a foreign file apart.
  if (format.label_bytes == 2) require_below(labels.front(), 20, "coarse ");
  dataset.append(file.read(image_values), labels.back());
}

// Every file is read and checked in size, even when its samples are not asked for, so that a damaged download
// does not go unnoticed until the day they are.
Dataset read_cifar(const CifarFormat& format, const std::string& folder,
                   const std::vector<std::string>& files, const char* part, std::int64_t wanted) {
  const std::int64_t record_bytes = format.label_bytes + image_values;
  Dataset dataset(format.classes, format.scaling);
  std::int64_t available = 0;
  for (const std::string& name : files) {
    DataFile file(std::filesystem::path(folder) / name,
                  fmt::format("{} in its binary version: records of {} bytes ({} label, 3072 pixels)",
                              format.name, record_bytes, format.label_bytes));
    if (file.size() == 0 || file.size() % record_bytes != 0)
      file.refuse(fmt::format("its {} bytes are not a whole number of records: truncated or another format",
                              file.size()));
    const std::int64_t records = file.size() / record_bytes;
    available += records;
    for (std::int64_t record = 0; record < records && dataset.sample_count() < wanted; ++record)
      append_record(format, file, record, dataset);
  }
  require_samples(folder, part, wanted, available);
  return dataset;
}

TrainAndTest load_cifar(const CifarFormat& format, const DatasetSource& source) {
  return {.train = read_cifar(format, source.path, format.train_files, "training", source.train_samples),
          .test = read_cifar(format, source.path, {format.test_file}, "test", source.test_samples)};
}

constexpr std::int64_t digit_size = 28;
constexpr std::int64_t digits = 10;

// The extents of an IDX file; then it stands at the first of its bytes.
std::vector<std::int64_t> read_idx_header(DataFile& file, std::uint32_t expected_magic, int dimensions) {
  const std::uint32_t magic = file.read_big_endian_u32();
  if (magic != expected_magic)
    file.refuse(fmt::format("it starts with {} instead of {}{}", magic, expected_magic,
                            magic >> 16U == 0x1f8bU ? "; it is still compressed by gzip" : ""));
  std::vector<std::int64_t> extents;
  for (int i = 0; i < dimensions; ++i) extents.push_back(file.read_big_endian_u32());
  if (dimensions == 3 && (extents[1] != digit_size || extents[2] != digit_size))
    file.refuse(fmt::format("its images are {}x{}, not 28x28", extents[1], extents[2]));
  std::int64_t promised = 4 + 4 * dimensions;
  promised += dimensions == 3 ? extents[0] * digit_size * digit_size : extents[0];
  if (file.size() != promised)
    file.refuse(
        fmt::format("it has {} bytes, its header promises {}: truncated or damaged", file.size(), promised));
  return extents;
}

// In the middle of each of the three channels.
std::array<std::uint8_t, image_values> padded(std::span<const std::uint8_t> digit) {
  constexpr std::int64_t padding = (image_size - digit_size) / 2;
  std::array<std::uint8_t, image_values> image{};
  for (std::int64_t channel = 0; channel < image_channels; ++channel)
    for (std::int64_t row = 0; row < digit_size; ++row)
      std::copy_n(digit.begin() + row * digit_size, digit_size,
                  image.begin() + (channel * image_size + row + padding) * image_size + padding);
  return image;
}

Dataset read_mnist(const std::filesystem::path& folder, const std::string& prefix, const char* part,
                   std::int64_t wanted) {
  DataFile images(folder / (prefix + "-images-idx3-ubyte"),
                  "MNIST images in the IDX format, uncompressed: magic number 2051, count, 28, 28, pixels");
  DataFile labels(folder / (prefix + "-labels-idx1-ubyte"),
                  "MNIST labels in the IDX format, uncompressed: magic number 2049, count, one byte each");
  const std::int64_t count = read_idx_header(images, 2051, 3).front();
  const std::int64_t label_count = read_idx_header(labels, 2049, 1).front();
  if (label_count != count)
    labels.refuse(fmt::format("it has {} labels for the {} images of {}", label_count, count, images.name()));
  require_samples(folder.string(), part, wanted, count);
  Dataset dataset(digits, {.mean = {0.1307F, 0.1307F, 0.1307F}, .deviation = {0.3081F, 0.3081F, 0.3081F}});
  for (std::int64_t sample = 0; sample < wanted; ++sample) {
    const std::uint8_t label = labels.read(1).front();
    if (label >= digits)
      labels.refuse(fmt::format("sample {} has the label {}, MNIST goes from 0 to 9", sample, label));
    dataset.append(padded(images.read(digit_size * digit_size)), label);
  }
  return dataset;
}

}  // namespace

TrainAndTest load_cifar10(const DatasetSource& source) {
  return load_cifar(
      {.name = "CIFAR-10",
       .classes = 10,
       .label_bytes = 1,
       .scaling = {.mean = {0.4914F, 0.4822F, 0.4465F}, .deviation = {0.2470F, 0.2435F, 0.2616F}},
       .train_files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                       "data_batch_5.bin"},
       .test_file = "test_batch.bin"},
      source);
}

TrainAndTest load_cifar100(const DatasetSource& source) {
  return load_cifar(
      {.name = "CIFAR-100",
       .classes = 100,
       .label_bytes = 2,
       .scaling = {.mean = {0.5071F, 0.4865F, 0.4409F}, .deviation = {0.2673F, 0.2564F, 0.2762F}},
       .train_files = {"train.bin"},
       .test_file = "test.bin"},
      source);
}

TrainAndTest load_mnist(const DatasetSource& source) {
  return {.train = read_mnist(source.path, "train", "training", source.train_samples),
          .test = read_mnist(source.path, "t10k", "test", source.test_samples)};
}

}  // namespace paceline::kernels
