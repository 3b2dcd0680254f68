#include "kernels/data/built_in_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "sim/base/random.hpp"

namespace paceline::kernels {
namespace {

constexpr std::int64_t orientation_classes = 10;
constexpr double degrees_between_classes = 180.0 / static_cast<double>(orientation_classes);
constexpr double angle_deviation_degrees = 3.0;
constexpr double wavelength_min_px = 5.0;
constexpr double wavelength_max_px = 9.0;
constexpr double contrast_min = 15.0;
constexpr double contrast_max = 45.0;
constexpr double centre_min_px = 8.0;
constexpr double centre_max_px = 24.0;
constexpr double window_deviation_px = 8.0;
constexpr double background_mean = 127.5;
constexpr double background_deviation = 20.0;
constexpr double noise_half_range = 65.0;
constexpr PixelScaling scaling{.mean = {0.5F, 0.5F, 0.5F}, .deviation = {0.15F, 0.15F, 0.15F}};

// Part of the key of every image: never renumber.
enum class Part : std::uint32_t { train = 0, test = 1 };

double between(RandomStream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

struct Grating {
  double frequency_x = 0.0;  // radians per pixel
  double frequency_y = 0.0;
  double phase = 0.0;
  double contrast = 0.0;
  double centre_x = 0.0;
  double centre_y = 0.0;

  [[nodiscard]] double at(double x, double y) const {
    const double dx = x - centre_x;
    const double dy = y - centre_y;
    const double window = std::exp(-(dx * dx + dy * dy) / (2.0 * window_deviation_px * window_deviation_px));
    return contrast * window * std::sin(frequency_x * dx + frequency_y * dy + phase);
  }
};

Grating draw_grating(RandomStream& stream, double angle) {
  const double frequency = 2.0 * std::numbers::pi / between(stream, wavelength_min_px, wavelength_max_px);
  Grating grating{.frequency_x = frequency * std::cos(angle), .frequency_y = frequency * std::sin(angle)};
  grating.phase = between(stream, 0.0, 2.0 * std::numbers::pi);
  grating.contrast = between(stream, contrast_min, contrast_max);
  grating.centre_x = between(stream, centre_min_px, centre_max_px);
  grating.centre_y = between(stream, centre_min_px, centre_max_px);
  return grating;
}

using Colour = std::array<double, static_cast<std::size_t>(image_channels)>;

// A direction in colour space, of root-mean-square 1 over the channels.
Colour draw_colour_direction(RandomStream& stream) {
  Colour colour{};
  double square_sum = 0.0;
  for (double& component : colour) {
    component = stream.normal(0.0, 1.0);
    square_sum += component * component;
  }
  for (double& component : colour) component *= std::sqrt(static_cast<double>(image_channels) / square_sum);
  return colour;
}

// Triangular noise, the sum of two bytes; four values from each 64-bit draw keep generation cheap.
class PixelNoise {
 public:
  explicit PixelNoise(RandomStream& stream) : stream_(stream) {}

  double next() {
    if (left_ == 0) {
      bits_ = stream_.next_u64();
      left_ = 4;
    }
    const auto sum = static_cast<double>((bits_ & 0xffU) + ((bits_ >> 8U) & 0xffU));
    bits_ >>= 16U;
    --left_;
    return (sum / 255.0 - 1.0) * noise_half_range;
  }

 private:
  RandomStream& stream_;
  std::uint64_t bits_ = 0;
  int left_ = 0;
};

void append_image(Dataset& dataset, Part part, std::int64_t sample) {
  RandomStream stream(Seed{}, Purpose::dataset_generation, static_cast<std::uint32_t>(part),
                      static_cast<std::uint64_t>(sample));
  const auto label = static_cast<std::uint8_t>(stream.below(orientation_classes));
  const double degrees = degrees_between_classes * label + stream.normal(0.0, angle_deviation_degrees);
  const Grating grating = draw_grating(stream, degrees * std::numbers::pi / 180.0);
  const Colour colour = draw_colour_direction(stream);
  Colour background{};
  for (double& component : background) component = stream.normal(background_mean, background_deviation);
  PixelNoise noise(stream);
  std::array<std::uint8_t, static_cast<std::size_t>(image_values)> pixels{};
  for (std::size_t position = 0; position < image_size * image_size; ++position) {
    const double value =
        grating.at(static_cast<double>(position % image_size), static_cast<double>(position / image_size));
    for (std::size_t channel = 0; channel < colour.size(); ++channel) {
      const double byte = background[channel] + colour[channel] * value + noise.next();
      pixels[channel * image_size * image_size + position] =
          static_cast<std::uint8_t>(std::clamp(std::lround(byte), 0L, 255L));
    }
  }
  dataset.append(pixels, label);
}

Dataset generate(Part part, std::int64_t samples) {
  Dataset dataset(orientation_classes, scaling);
  for (std::int64_t sample = 0; sample < samples; ++sample) append_image(dataset, part, sample);
  return dataset;
}

}  // namespace

TrainAndTest generate_built_in_images(std::int64_t train_samples, std::int64_t test_samples) {
  return {.train = generate(Part::train, train_samples), .test = generate(Part::test, test_samples)};
}

}  // namespace paceline::kernels
