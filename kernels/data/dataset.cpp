#include "kernels/data/dataset.hpp"

#include <cstddef>

#include "sim/base/check.hpp"

namespace paceline::kernels {
namespace {

constexpr auto values_per_image = static_cast<std::size_t>(image_values);
constexpr auto values_per_channel = static_cast<std::size_t>(image_size * image_size);

}  // namespace

Dataset::Dataset(std::int64_t classes, PixelScaling scaling)
    : classes_(classes), format_(scaling), bytes_per_sample_(values_per_image) {}

Dataset::Dataset(std::int64_t vocabulary, TextFormat format)
    : classes_(vocabulary), format_(format), bytes_per_sample_(static_cast<std::size_t>(format.length) + 1) {}

void Dataset::append(std::span<const std::uint8_t> pixels, std::uint8_t label) {
  check(std::holds_alternative<PixelScaling>(format_) && pixels.size() == bytes_per_sample_,
        "an image has 3x32x32 bytes");
  check(label < classes_, "a label is below the number of classes");
  bytes_.insert(bytes_.end(), pixels.begin(), pixels.end());
  labels_.push_back(label);
}

void Dataset::append(std::span<const std::uint8_t> text) {
  check(std::holds_alternative<TextFormat>(format_) && text.size() == bytes_per_sample_,
        "a text has one token more than are read");
  bytes_.insert(bytes_.end(), text.begin(), text.end());
}

std::vector<std::int64_t> Dataset::input_shape() const {
  if (const auto* text = std::get_if<TextFormat>(&format_)) return {text->length};
  return {image_channels, image_size, image_size};
}

std::span<const std::uint8_t> Dataset::bytes(std::uint32_t sample) const {
  check(sample < sample_count(), "the sample exists");
  return std::span(bytes_).subspan(sample * bytes_per_sample_, bytes_per_sample_);
}

void Dataset::fill(Batch& batch, std::span<const std::uint32_t> samples) const {
  if (const auto* scaling = std::get_if<PixelScaling>(&format_))
    fill_images(batch, samples, *scaling);
  else
    fill_texts(batch, samples);
}

void Dataset::fill_images(Batch& batch, std::span<const std::uint32_t> samples,
                          const PixelScaling& scaling) const {
  batch.pixels.resize(samples.size() * values_per_image);
  batch.labels.resize(samples.size());
  auto target = batch.pixels.begin();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::span<const std::uint8_t> image = bytes(samples[i]);
    for (std::size_t channel = 0; channel < scaling.mean.size(); ++channel) {
      const float scale = 1.0F / (255.0F * scaling.deviation[channel]);
      const float shift = scaling.mean[channel] / scaling.deviation[channel];
      for (const std::uint8_t byte : image.subspan(channel * values_per_channel, values_per_channel)) {
        *target++ = static_cast<float>(byte) * scale - shift;
      }
    }
    batch.labels[i] = labels_[samples[i]];
  }
}

void Dataset::fill_texts(Batch& batch, std::span<const std::uint32_t> samples) const {
  batch.tokens.clear();
  batch.labels.clear();
  for (const std::uint32_t sample : samples) {
    const std::span<const std::uint8_t> text = bytes(sample);
    batch.tokens.insert(batch.tokens.end(), text.begin(), text.end() - 1);
    batch.labels.insert(batch.labels.end(), text.begin() + 1, text.end());
  }
}

}  // namespace paceline::kernels
