// Labelled images, or texts, in memory, handed out as batches.
//
// Models:      n samples: 3x32x32 bytes with one label each, or a text of length + 1 tokens, of which each
//              but the last is to predict the one after it.
// Equation:    pixel = (byte / 255 − mean[channel]) / deviation[channel], the usual constants of each
//              dataset.
// Units:       bytes 0-255 in channel-row-column order; labels 0 … classes−1. A token is a byte.
// Assumptions: the data fits into memory (CIFAR: 184 MB).
// Not modelled: augmentation, reading from disk while training.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace paceline::kernels {

inline constexpr std::int64_t image_channels = 3;
inline constexpr std::int64_t image_size = 32;  // height and width
inline constexpr std::int64_t image_values = image_channels * image_size * image_size;

struct PixelScaling {
  std::array<float, image_channels> mean;
  std::array<float, image_channels> deviation;
};

struct TextFormat {
  std::int64_t length;  // tokens read
};

// Of images image_values normalized pixels and one label for each sample, of texts `length` tokens and as
// many labels: the tokens that follow.
struct Batch {
  std::vector<float> pixels = {};
  std::vector<std::int64_t> tokens = {};
  std::vector<std::int64_t> labels = {};
};

class Dataset {
 public:
  Dataset(std::int64_t classes, PixelScaling scaling);
  Dataset(std::int64_t vocabulary, TextFormat format);

  void append(std::span<const std::uint8_t> pixels, std::uint8_t label);
  void append(std::span<const std::uint8_t> text);

  [[nodiscard]] std::uint32_t sample_count() const {
    return static_cast<std::uint32_t>(bytes_.size() / bytes_per_sample_);
  }
  [[nodiscard]] std::int64_t classes() const { return classes_; }
  // What a network reads of one sample: {channels, height, width} or {tokens}.
  [[nodiscard]] std::vector<std::int64_t> input_shape() const;
  [[nodiscard]] std::uint8_t label(std::uint32_t sample) const { return labels_[sample]; }
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::uint32_t sample) const;

  void fill(Batch& batch, std::span<const std::uint32_t> samples) const;

 private:
  void fill_images(Batch& batch, std::span<const std::uint32_t> samples, const PixelScaling& scaling) const;
  void fill_texts(Batch& batch, std::span<const std::uint32_t> samples) const;

  std::int64_t classes_;
  std::variant<PixelScaling, TextFormat> format_;
  std::size_t bytes_per_sample_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> labels_;  // of images
};

struct TrainAndTest {
  Dataset train;
  Dataset test;
};

}  // namespace paceline::kernels
