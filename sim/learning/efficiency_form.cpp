#include "sim/learning/efficiency_form.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

enum Parameter : std::size_t {
  ceiling,
  progress_samples,
  noise_scale_samples,
  heat_accuracy,
  heat_exponent,
  floor_loss,
  reference_temperature,
  reference_samples,
  parameter_count
};

constexpr std::array<FormParameter, parameter_count> parameters{{
    {"ceiling", 0.2, 1.0, 0.9, false, "accuracy in the end"},
    {"progress_samples", 1e2, 1e9, 3e5, true, "samples after which 1/e is left to learn"},
    {"noise_scale_samples", 1.0, 1e6, 500.0, true, "gradient noise scale: batch at which efficiency halves"},
    {"heat_accuracy", 1e-4, 0.4, 0.03, true, "accuracy held back by noise at the reference temperature"},
    {"heat_exponent", 0.2, 3.0, 1.0, true, "how that depends on the temperature"},
    {"floor_loss", 1e-5, 3.0, 0.1, true, "loss held by that noise"},
    {"reference_temperature", 1e-9, 1e3, 1.0, true,
     "learning rate / samples / (1 - momentum) of the runs fitted"},
    {"reference_samples", 1.0, 1e7, 128.0, true, "samples of an update of the runs fitted"},
}};

class EfficiencyForm final : public LearningForm {
 public:
  EfficiencyForm(std::span<const double> values, const FormSetting& setting)
      : setting_(setting), chance_(1.0 / setting.classes) {
    check(values.size() == parameter_count, "one value for each parameter of the form");
    std::copy(values.begin(), values.end(), value_.begin());
  }

  void advance(const SeenUpdate& update) override {
    const double samples = samples_of(update);
    const double scale = value_[noise_scale_samples];
    for (const SeenGradient& gradient : update.gradients)
      progress_ += setting_.effects.speed_factor * gradient.samples * (scale + value_[reference_samples]) /
                   (scale + samples * (1.0 + gradient.staleness));
    if (samples > 0.0) temperature_ = update.learning_rate / (1.0 - update.momentum) / samples;
  }

  [[nodiscard]] FormReading read() const override {
    const double left = std::exp(-progress_ / value_[progress_samples]);
    const double noise = std::pow(temperature_ / value_[reference_temperature], value_[heat_exponent]);
    const double heat = value_[heat_accuracy] * noise * (1.0 - left);
    const double reachable = value_[ceiling] + setting_.effects.ceiling_offset;
    const double accuracy = chance_ + (reachable - chance_) * (1.0 - left) - heat;
    return {std::log(setting_.classes) * left + value_[floor_loss] * noise,
            std::clamp(accuracy, chance_, 1.0), heat};
  }

 private:
  std::array<double, parameter_count> value_{};
  FormSetting setting_;
  double chance_;
  double progress_ = 0.0;
  double temperature_ = 0.0;
};

std::unique_ptr<LearningForm> make(std::span<const double> values, const FormSetting& setting) {
  return std::make_unique<EfficiencyForm>(values, setting);
}

}  // namespace

const FormDescription& efficiency_form() {
  static constexpr FormDescription description{
      "efficiency", "noise-scale efficiency, samples in flight as a larger batch", parameters, make};
  return description;
}

}  // namespace paceline
