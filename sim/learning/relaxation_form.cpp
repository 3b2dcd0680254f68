#include "sim/learning/relaxation_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

enum Parameter : std::size_t {
  ceiling,
  damage,
  memory_exponent,
  progress_samples,
  onset_exponent,
  slowing,
  rate_exponent,
  loss_exponent,
  floor_loss,
  floor_exponent,
  exposure_limit,
  heat_accuracy,
  heat_exponent,
  cooling_exponent,
  annealing,
  relaxation_samples,
  noise_batch_samples,
  reference_temperature,
  reference_samples,
  parameter_count
};

constexpr std::array<FormParameter, parameter_count> parameters{{
    {"ceiling", 0.2, 1.0, 0.9, false, "accuracy in the end without staleness"},
    {"damage", 1e-6, 0.2, 2e-3, true, "accuracy lost in the end per unit of exposure met while learning"},
    {"memory_exponent", 0.3, 6.0, 1.0, true, "how early the memory is decided; 1: in proportion to learning"},
    {"progress_samples", 1e2, 1e9, 3e5, true, "samples after which 1/e is left to learn"},
    {"onset_exponent", 0.5, 4.0, 1.0, true, "above 1: learning starts slowly"},
    {"slowing", 1e-4, 10.0, 0.2, true, "by how much a unit of exposure slows progress"},
    {"rate_exponent", 0.0, 1.0, 0.5, false, "how progress depends on the learning rate per sample"},
    {"loss_exponent", 0.2, 4.0, 1.0, true, "loss left as a power of what is left to learn"},
    {"floor_loss", 1e-5, 3.0, 0.1, true, "loss held by noise at the reference temperature, no staleness"},
    {"floor_exponent", 0.5, 3.0, 1.3, true, "how that loss depends on the temperature"},
    {"exposure_limit", 1.0, 1e3, 15.0, true, "exposure at which training diverges"},
    {"heat_accuracy", 1e-4, 0.4, 0.03, true, "accuracy held back by that noise"},
    {"heat_exponent", 0.05, 2.0, 0.5, true, "how the accuracy held back grows towards the exposure limit"},
    {"cooling_exponent", 0.3, 3.0, 1.3, true, "how the accuracy held back depends on the temperature"},
    {"annealing", 0.003, 0.6, 0.09, true, "how fast it shrinks with the work done"},
    {"relaxation_samples", 1e3, 1e7, 1e5, true, "samples within which the heat follows its cause"},
    {"noise_batch_samples", 1.0, 1e12, 1e12, true, "batch at which larger ones stop helping"},
    {"reference_temperature", 1e-9, 1e3, 1.0, true,
     "learning rate / samples / (1 - momentum) of the runs fitted"},
    {"reference_samples", 1.0, 1e7, 128.0, true, "samples of an update of the runs fitted"},
}};

constexpr double averaging_updates = 100.0;
constexpr double growth_per_update =
    1.05;  // of the loss beyond the limit: any factor above 1 ends in divergence

class RelaxationForm final : public LearningForm {
 public:
  RelaxationForm(std::span<const double> values, const FormSetting& setting)
      : setting_(setting), chance_(1.0 / setting.classes), initial_loss_(std::log(setting.classes)) {
    check(values.size() == parameter_count, "one value for each parameter of the form");
    std::copy(values.begin(), values.end(), value_.begin());
  }

  void advance(const SeenUpdate& update) override {
    const double samples = samples_of(update);
    if (samples <= 0.0 || update.learning_rate <= 0.0) return;
    double exposed = 0.0;
    double helping = 0.0;
    for (const SeenGradient& gradient : update.gradients) {
      const double x = exposure(gradient, update);
      exposed += gradient.samples * x;
      helping += gradient.samples / (1.0 + value_[slowing] * x);
    }
    exposed /= samples;
    mean_exposure_ += (exposed - mean_exposure_) / averaging_updates;
    set_step(update.learning_rate / (1.0 - update.momentum), samples);
    work_ += samples * step_gain_ / value_[progress_samples];
    learn(helping * step_gain_, exposed);
    relax(samples);
  }

  [[nodiscard]] FormReading read() const override {
    if (!std::isfinite(floor_)) return {floor_, chance_, 0.0};
    const double learned = 1.0 - left_;
    const double annealed = std::exp(-value_[annealing] * work_) * learned;
    const double reachable =
        value_[ceiling] + setting_.effects.ceiling_offset - lost_ * setting_.effects.damage_factor;
    const double accuracy = chance_ + (reachable - chance_) * learned - heat_ * annealed;
    return {initial_loss_ * std::pow(left_, value_[loss_exponent]) + floor_,
            std::clamp(accuracy, chance_, 1.0), unrest_ * annealed};
  }

 private:
  // What depends on learning rate and batch only: both change seldom.
  void set_step(double amplified_rate, double samples) {
    if (amplified_rate == rate_ && samples == samples_) return;
    rate_ = amplified_rate;
    samples_ = samples;
    const double temperature = amplified_rate / samples / value_[reference_temperature];
    const double batch = (1.0 + value_[reference_samples] / value_[noise_batch_samples]) /
                         (1.0 + samples / value_[noise_batch_samples]);
    step_gain_ = setting_.effects.speed_factor * std::pow(temperature, value_[rate_exponent]) * batch;
    step_floor_ = value_[floor_loss] * std::pow(temperature, value_[floor_exponent]);
    step_heat_ = value_[heat_accuracy] * std::pow(temperature, value_[cooling_exponent]);
  }

  void learn(double progress, double exposed) {
    const double before = remembered_;
    progress_ += progress / value_[progress_samples];
    const double decay = std::pow(progress_, value_[onset_exponent]);
    left_ = std::exp(-decay);
    remembered_ = std::exp(-value_[memory_exponent] * decay);
    lost_ += value_[damage] * exposed * (before - remembered_);
  }

  void relax(double samples) {
    const double margin = 1.0 - mean_exposure_ / value_[exposure_limit];
    if (margin <= 0.0) {
      floor_ = (floor_ + initial_loss_) * growth_per_update;
      if (floor_ > 1e6 * initial_loss_) floor_ = std::numeric_limits<double>::infinity();
      return;
    }
    const double share = std::min(1.0, samples / value_[relaxation_samples]);
    floor_ += (step_floor_ / margin - floor_) * share;
    heat_ += (step_heat_ * std::pow(margin, -value_[heat_exponent]) - heat_) * share;
    unrest_ += (step_heat_ / margin - unrest_) * share;
  }

  std::array<double, parameter_count> value_{};
  FormSetting setting_;
  double chance_;
  double initial_loss_;
  double progress_ = 0.0;    // u
  double work_ = 0.0;        // U
  double left_ = 1.0;        // S
  double remembered_ = 1.0;  // S^memory_exponent
  double lost_ = 0.0;        // D
  double floor_ = 0.0;       // f
  double heat_ = 0.0;        // g
  double unrest_ = 0.0;      // h
  double mean_exposure_ = 0.0;
  double rate_ = 0.0;
  double samples_ = 0.0;
  double step_gain_ = 0.0;
  double step_floor_ = 0.0;
  double step_heat_ = 0.0;
};

std::unique_ptr<LearningForm> make(std::span<const double> values, const FormSetting& setting) {
  return std::make_unique<RelaxationForm>(values, setting);
}

}  // namespace

const FormDescription& relaxation_form() {
  static constexpr FormDescription description{
      "relaxation", "progress, heat with a limit of stability, and a memory of the early phase", parameters,
      make};
  return description;
}

}  // namespace paceline
