// The baseline form: a plain power law with a staleness discount, the simplest curve that knows staleness at
// all.
//
// Models:      loss and error fall as a power of the effective samples; a stale gradient counts for less.
// Equation:    E += Σ samples_i / (1 + staleness_discount · tau_i + drift · y_i)
//              S = (1 + E / scale_samples)^(-exponent)
//              accuracy = 1/classes + (ceiling - 1/classes) · (1 - S) - noise_accuracy · t^noise_exponent ·
//              (1 - S), loss = ln(classes) · S + floor_loss · t^noise_exponent,  t = temperature,
//              y = drift (learning_form.hpp)
// Units:       E in samples, tau in updates.
// Assumptions: the learning rate acts only through what gradient noise holds back.
// Not modelled: a critical period, the order of phases, divergence.
// Source:      curve: Optimus, Peng et al., EuroSys 2018; sign of the discount: Dai et al. 2019 (arXiv
//              1810.03264).
#include <algorithm>
#include <cmath>

#include "sim/learning/learning_form.hpp"

namespace paceline {
namespace {

enum Parameter : std::size_t {
  ceiling,
  scale_samples,
  exponent,
  staleness_discount,
  noise_accuracy,
  noise_exponent,
  floor_loss,
  reference_temperature,
  drift,
  parameter_count
};

constexpr std::array<FormParameter, parameter_count> parameters{{
    {"ceiling", 0.2, 1.0, 0.9, false, "accuracy in the end"},
    {"scale_samples", 1e2, 1e9, 3e5, true, "samples after which the power law sets in"},
    {"exponent", 0.1, 20.0, 1.0, true, "power of the effective samples"},
    {"staleness_discount", 1e-4, 10.0, 0.1, true, "by how much one update of staleness discounts a gradient"},
    {"noise_accuracy", 1e-4, 0.4, 0.03, true,
     "accuracy held back by gradient noise at the reference temperature"},
    {"noise_exponent", 0.2, 3.0, 1.0, true, "how that depends on the temperature"},
    {"floor_loss", 1e-5, 3.0, 0.1, true, "loss held by that noise"},
    {"reference_temperature", 1e-9, 1e3, 1.0, true, reference_temperature_meaning},
    drift_parameter,
}};

class PowerLawForm final : public LearningForm {
 public:
  PowerLawForm(std::span<const double> values, const FormSetting& setting)
      : value_(parameter_array<parameter_count>(values)), setting_(setting), chance_(1.0 / setting.classes) {}

  void advance(const SeenUpdate& update) override {
    for (const SeenGradient& gradient : update.gradients)
      effective_samples_ += setting_.effects.speed_factor * gradient.samples /
                            (1.0 + value_[staleness_discount] * gradient.staleness +
                             value_[drift] * drift_of(gradient, update));
    const double samples = samples_of(update);
    if (samples > 0.0) temperature_ = update.learning_rate / (1.0 - update.momentum) / samples;
  }

  [[nodiscard]] FormReading read() const override {
    const double left = std::pow(1.0 + effective_samples_ / value_[scale_samples], -value_[exponent]);
    const double noise = std::pow(temperature_ / value_[reference_temperature], value_[noise_exponent]);
    const double held_back = value_[noise_accuracy] * noise * (1.0 - left);
    const double reachable = value_[ceiling] + setting_.effects.ceiling_offset;
    const double accuracy =
        chance_ + (reachable - chance_) * (1.0 - left) - held_back * setting_.effects.noise_factor;
    return {std::log(setting_.classes) * left + value_[floor_loss] * noise,
            std::clamp(accuracy, chance_, 1.0), held_back, reachable};
  }

 private:
  std::array<double, parameter_count> value_;
  FormSetting setting_;
  double chance_;
  double effective_samples_ = 0.0;
  double temperature_ = 0.0;
};

}  // namespace

const FormDescription& power_law_form() {
  static constexpr FormDescription description{"power-law", "power law of effective samples, the baseline",
                                               parameters, make_form<PowerLawForm>};
  return description;
}

}  // namespace paceline
