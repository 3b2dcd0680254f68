// Labelled images in memory, handed out as batches of normalized pixels.
//
// Models:      n samples of 3x32x32 bytes with one label each.
// Equation:    pixel = (byte / 255 − mean[channel]) / deviation[channel], the usual constants of each
//              dataset.
// Units:       bytes 0-255 in channel-row-column order; labels 0 … classes−1.
// Assumptions: the data fits into memory (CIFAR: 184 MB).
// Not modelled: augmentation, reading from disk while training.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace paceline::kernels {

inline constexpr std::int64_t image_channels = 3;
inline constexpr std::int64_t image_size = 32;  // height and width
inline constexpr std::int64_t image_values = image_channels * image_size * image_size;

struct PixelScaling {
  std::array<float, image_channels> mean;
  std::array<float, image_channels> deviation;
};

// image_values normalized pixels and one label for each sample.
struct Batch {
  std::vector<float> pixels = {};
  std::vector<std::int64_t> labels = {};
};

class Dataset {
 public:
  Dataset(std::int64_t classes, PixelScaling scaling);

  void append(std::span<const std::uint8_t> pixels, std::uint8_t label);

  [[nodiscard]] std::uint32_t sample_count() const { return static_cast<std::uint32_t>(labels_.size()); }
  [[nodiscard]] std::int64_t classes() const { return classes_; }
  [[nodiscard]] std::uint8_t label(std::uint32_t sample) const { return labels_[sample]; }
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::uint32_t sample) const;

  void fill(Batch& batch, std::span<const std::uint32_t> samples) const;

 private:
  std::int64_t classes_;
  PixelScaling scaling_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
};

struct TrainAndTest {
  Dataset train;
  Dataset test;
};

}  // namespace paceline::kernels
