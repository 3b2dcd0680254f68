// MNIST in IDX files: big-endian magic number, extents, then bytes. Images: magic 2051, count, 28, 28;
// labels: magic 2049, count. Any dataset in this form with 28x28 images and 10 classes (Fashion-MNIST) loads
// as well.
// Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits".
#include <array>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "kernels/data/data_file.hpp"
#include "kernels/data/dataset_source.hpp"

namespace paceline::kernels {
namespace {

constexpr std::uint32_t images_magic = 2051;
constexpr std::uint32_t labels_magic = 2049;
constexpr std::int64_t digit_size = 28;
constexpr std::int64_t padding = (image_size - digit_size) / 2;
constexpr std::int64_t digit_classes = 10;
constexpr PixelScaling scaling{.mean = {0.1307F, 0.1307F, 0.1307F}, .deviation = {0.3081F, 0.3081F, 0.3081F}};

void require_magic(DataFile& file, std::uint32_t expected) {
  const std::uint32_t magic = file.read_big_endian_u32();
  if (magic != expected) {
    file.refuse(fmt::format("it starts with {} instead of {}{}", magic, expected,
                            magic >> 16U == 0x1f8bU ? "; it is still compressed by gzip" : ""));
  }
}

void require_size(const DataFile& file, std::int64_t header_bytes, std::int64_t payload_bytes) {
  if (file.size() != header_bytes + payload_bytes) {
    file.refuse(fmt::format("it has {} bytes, its header promises {}: truncated or damaged", file.size(),
                            header_bytes + payload_bytes));
  }
}

// Number of images; the file stands at the first one.
std::int64_t open_images(DataFile& file) {
  require_magic(file, images_magic);
  const std::int64_t count = file.read_big_endian_u32();
  const std::int64_t rows = file.read_big_endian_u32();
  const std::int64_t columns = file.read_big_endian_u32();
  if (rows != digit_size || columns != digit_size) {
    file.refuse(fmt::format("its images are {}x{}, not 28x28", rows, columns));
  }
  require_size(file, 16, count * digit_size * digit_size);
  return count;
}

std::int64_t open_labels(DataFile& file) {
  require_magic(file, labels_magic);
  const std::int64_t count = file.read_big_endian_u32();
  require_size(file, 8, count);
  return count;
}

std::array<std::uint8_t, image_values> pad_and_replicate(std::span<const std::uint8_t> digit) {
  std::array<std::uint8_t, image_values> image{};
  for (std::int64_t channel = 0; channel < image_channels; ++channel) {
    for (std::int64_t row = 0; row < digit_size; ++row) {
      const std::int64_t target = (channel * image_size + row + padding) * image_size + padding;
      for (std::int64_t column = 0; column < digit_size; ++column) {
        image[static_cast<std::size_t>(target + column)] =
            digit[static_cast<std::size_t>(row * digit_size + column)];
      }
    }
  }
  return image;
}

Dataset read_pair(const std::filesystem::path& folder, const std::string& prefix, const std::string& what,
                  std::int64_t wanted) {
  DataFile images(folder / (prefix + "-images-idx3-ubyte"),
                  "MNIST images in the IDX format, uncompressed: magic number 2051, count, 28, 28, pixels");
  DataFile labels(folder / (prefix + "-labels-idx1-ubyte"),
                  "MNIST labels in the IDX format, uncompressed: magic number 2049, count, one byte each");
  const std::int64_t count = open_images(images);
  const std::int64_t label_count = open_labels(labels);
  if (label_count != count) {
    labels.refuse(fmt::format("it has {} labels for the {} images of {}", label_count, count,
                              images.path().filename().string()));
  }
  require_samples(folder, what, wanted, count);
  Dataset dataset(digit_classes, scaling);
  for (std::int64_t sample = 0; sample < wanted; ++sample) {
    const std::uint8_t label = labels.read(1).front();
    if (label >= digit_classes) {
      labels.refuse(fmt::format("sample {} has the label {}, MNIST goes from 0 to 9", sample, label));
    }
    dataset.append(pad_and_replicate(images.read(digit_size * digit_size)), label);
  }
  return dataset;
}

}  // namespace

TrainAndTest load_mnist(const DatasetSource& source) {
  return {.train = read_pair(source.path, "train", "training", source.train_samples),
          .test = read_pair(source.path, "t10k", "test", source.test_samples)};
}

}  // namespace paceline::kernels
