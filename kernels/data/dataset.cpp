#include "kernels/data/dataset.hpp"

#include <cstddef>

#include "sim/base/check.hpp"

namespace paceline::kernels {
namespace {

constexpr auto values_per_image = static_cast<std::size_t>(image_values);
constexpr auto values_per_channel = static_cast<std::size_t>(image_size * image_size);

}  // namespace

Dataset::Dataset(std::int64_t classes, PixelScaling scaling) : classes_(classes), scaling_(scaling) {}

void Dataset::append(std::span<const std::uint8_t> pixels, std::uint8_t label) {
  check(pixels.size() == values_per_image, "an image has 3x32x32 bytes");
  check(label < classes_, "a label is below the number of classes");
  pixels_.insert(pixels_.end(), pixels.begin(), pixels.end());
  labels_.push_back(label);
}

std::span<const std::uint8_t> Dataset::bytes(std::uint32_t sample) const {
  check(sample < sample_count(), "the sample exists");
  return std::span(pixels_).subspan(sample * values_per_image, values_per_image);
}

void Dataset::fill(Batch& batch, std::span<const std::uint32_t> samples) const {
  batch.pixels.resize(samples.size() * values_per_image);
  batch.labels.resize(samples.size());
  auto target = batch.pixels.begin();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::span<const std::uint8_t> image = bytes(samples[i]);
    for (std::size_t channel = 0; channel < scaling_.mean.size(); ++channel) {
      const float scale = 1.0F / (255.0F * scaling_.deviation[channel]);
      const float shift = scaling_.mean[channel] / scaling_.deviation[channel];
      for (const std::uint8_t byte : image.subspan(channel * values_per_channel, values_per_channel)) {
        *target++ = static_cast<float>(byte) * scale - shift;
      }
    }
    batch.labels[i] = labels_[samples[i]];
  }
}

}  // namespace paceline::kernels
