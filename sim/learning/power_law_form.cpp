#include "sim/learning/power_law_form.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

enum Parameter : std::size_t {
  ceiling,
  scale_samples,
  exponent,
  penalty,
  heat_accuracy,
  heat_exponent,
  floor_loss,
  reference_temperature,
  parameter_count
};

constexpr std::array<FormParameter, parameter_count> parameters{{
    {"ceiling", 0.2, 1.0, 0.9, false, "accuracy in the end"},
    {"scale_samples", 1e2, 1e9, 3e5, true, "samples after which the power law sets in"},
    {"exponent", 0.1, 20.0, 1.0, true, "power of the effective samples"},
    {"penalty", 1e-4, 10.0, 0.1, true, "by how much one update of staleness discounts a gradient"},
    {"heat_accuracy", 1e-4, 0.4, 0.03, true, "accuracy held back by noise at the reference temperature"},
    {"heat_exponent", 0.2, 3.0, 1.0, true, "how that depends on the temperature"},
    {"floor_loss", 1e-5, 3.0, 0.1, true, "loss held by that noise"},
    {"reference_temperature", 1e-9, 1e3, 1.0, true,
     "learning rate / samples / (1 - momentum) of the runs fitted"},
}};

class PowerLawForm final : public LearningForm {
 public:
  PowerLawForm(std::span<const double> values, const FormSetting& setting)
      : setting_(setting), chance_(1.0 / setting.classes) {
    check(values.size() == parameter_count, "one value for each parameter of the form");
    std::copy(values.begin(), values.end(), value_.begin());
  }

  void advance(const SeenUpdate& update) override {
    for (const SeenGradient& gradient : update.gradients)
      effective_samples_ +=
          setting_.effects.speed_factor * gradient.samples / (1.0 + value_[penalty] * gradient.staleness);
    const double samples = samples_of(update);
    if (samples > 0.0) temperature_ = update.learning_rate / (1.0 - update.momentum) / samples;
  }

  [[nodiscard]] FormReading read() const override {
    const double left = std::pow(1.0 + effective_samples_ / value_[scale_samples], -value_[exponent]);
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
  double effective_samples_ = 0.0;
  double temperature_ = 0.0;
};

std::unique_ptr<LearningForm> make(std::span<const double> values, const FormSetting& setting) {
  return std::make_unique<PowerLawForm>(values, setting);
}

}  // namespace

const FormDescription& power_law_form() {
  static constexpr FormDescription description{
      "power-law", "power law of effective samples with a staleness penalty", parameters, make};
  return description;
}

}  // namespace paceline
