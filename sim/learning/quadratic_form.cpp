// The noisy quadratic model with delayed gradients and heavy-ball momentum, followed direction by direction.
//
// Models:      loss as a sum over eigen-directions; each gradient is that of the version it was read from,
//              plus noise.
// Equation:    for direction i with curvature h_i = sharpness · i^(-decay), i = 1 … 16
//                g_i = h_i · theta_i(version read) + sqrt(noise · h_i / samples) · N(0, 1)
//                v_i = momentum · v_i + weight · g_i,   theta_i -= learning_rate · v_i
//              loss = ½ Σ h_i · theta_i²; it starts at ln(classes), shared equally by the directions
//              accuracy = 1/classes + (ceiling - 1/classes) · (1 - (loss / ln(classes))^accuracy_exponent)
//              Stable without momentum if learning_rate · h < 2·sin(pi / (2·(2·tau + 1))).
// Units:       loss in nats; theta in arbitrary units; noise is the variance of one sample's gradient over h.
// Assumptions: constant curvature; versions older than the last 1024 are read as the oldest of those.
// Not modelled: a critical period, accuracy that loss does not determine, weight decay.
// Source:      G. Zhang et al., NeurIPS 2019 (arXiv 1907.04164); limit under delay: Giladi et al., ICLR 2020
//              (arXiv 1909.12340).
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>

#include "sim/learning/learning_form.hpp"

namespace paceline {
namespace {

enum Parameter : std::size_t { ceiling, sharpness, decay, noise, accuracy_exponent, parameter_count };

constexpr std::array<FormParameter, parameter_count> parameters{{
    {"ceiling", 0.2, 1.0, 0.9, false, "accuracy at zero loss"},
    {"sharpness", 1e-5, 1e2, 0.02, true, "largest curvature"},
    {"decay", 0.1, 4.0, 1.0, true, "how fast curvature falls from direction to direction"},
    {"noise", 1e-6, 1e6, 1.0, true, "gradient variance of one sample, relative to curvature"},
    {"accuracy_exponent", 0.1, 4.0, 1.0, true, "error as a power of the loss"},
}};

constexpr int directions = 16;
constexpr std::size_t kept_versions = 1024;
using Directions = Eigen::Array<double, directions, 1>;

class QuadraticForm final : public LearningForm {
 public:
  QuadraticForm(std::span<const double> values, const FormSetting& setting)
      : value_(parameter_array<parameter_count>(values)),
        setting_(setting),
        chance_(1.0 / setting.classes),
        initial_loss_(std::log(setting.classes)),
        random_(setting.seed, Purpose::learning_curve, 1) {
    for (int i = 0; i < directions; ++i)
      curvature_[i] = value_[sharpness] * std::pow(i + 1.0, -value_[decay]);
    parameters_ = (2.0 * initial_loss_ / directions / curvature_).sqrt();
    history_.resize(kept_versions, parameters_);
  }

  void advance(const SeenUpdate& update) override {
    Directions step = Directions::Zero();
    double variance = 0.0;
    for (const SeenGradient& gradient : update.gradients) {
      const auto back = static_cast<std::uint64_t>(std::lround(std::max(0.0, gradient.staleness)));
      const std::uint64_t age = std::min<std::uint64_t>({back, version_, kept_versions - 1});
      step += gradient.weight * curvature_ * history_[(version_ - age) % kept_versions];
      variance += gradient.weight * gradient.weight * value_[noise] / gradient.samples;
    }
    // Independent noise of several gradients is one noise of the summed variance.
    for (int i = 0; i < directions; ++i)
      step[i] += std::sqrt(variance * curvature_[i]) * random_.normal(0.0, 1.0);
    velocity_ = update.momentum * velocity_ + step;
    parameters_ -= setting_.effects.speed_factor * update.learning_rate * velocity_;
    ++version_;
    history_[version_ % kept_versions] = parameters_;
  }

  void scale_velocity(double factor) override { velocity_ *= factor; }

  [[nodiscard]] FormReading read() const override {
    const double loss = 0.5 * (curvature_ * parameters_.square()).sum();
    if (!std::isfinite(loss)) return {loss, chance_, 0.0};
    const double reachable = value_[ceiling] + setting_.effects.ceiling_offset;
    const double error = std::pow(loss / initial_loss_, value_[accuracy_exponent]);
    return {loss, std::clamp(chance_ + (reachable - chance_) * (1.0 - error), chance_, 1.0), 0.0};
  }

 private:
  std::array<double, parameter_count> value_;
  FormSetting setting_;
  double chance_;
  double initial_loss_;
  RandomStream random_;
  Directions curvature_;
  Directions parameters_;
  Directions velocity_ = Directions::Zero();
  std::vector<Directions, Eigen::aligned_allocator<Directions>> history_;  // of versions, a ring
  std::uint64_t version_ = 0;
};

}  // namespace

const FormDescription& quadratic_form() {
  static constexpr FormDescription description{"quadratic",
                                               "noisy quadratic model with delayed gradients and momentum",
                                               parameters, make_form<QuadraticForm>, true};
  return description;
}

}  // namespace paceline
