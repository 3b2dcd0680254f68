// The relaxation form, which the shipped learners use: progress, gradient noise and a critical period.
//
// Models:      (1) progress: what is left to learn falls with samples, more slowly when gradients are stale,
//              or taken where local steps have driven the workers apart;
//              (2) gradient noise: at a high learning rate it holds loss and accuracy away from what the
//              progress allows. Staleness raises it without bound towards a limit of stability, a drop of the
//              learning rate removes it, and it anneals: what it costs shrinks with the samples trained on,
//              stale or not;
//              (3) critical period: staleness met while there is much left to learn lowers the accuracy
//              reached in the end, for good; staleness met later does not.
// Equation:    with n samples in an update, t its temperature relative to t_ref, x the exposure and y the
//              drift of its gradients (all in learning_form.hpp; mean by samples), x̄ the moving average of x
//              over 100 updates:
//                u    += n · speed · t^rate_exponent · (1 + n_ref/b_noise)/(1 + n/b_noise)
//                        / (1 + slowing · x + drift · y) / progress_samples
//                U    += the same without slowing and drift: work done at a learning rate
//                S     = exp(-u^onset_exponent)                            what is left to learn
//                D    += staleness_penalty · x · (decrease of S^critical_period_exponent)
//                f     relaxes to  floor_loss · t^floor_exponent / (1 - x̄ / exposure_limit)
//                g     relaxes to  noise_accuracy · t^noise_temperature_exponent
//                                  / (1 - x̄ / exposure_limit)^noise_staleness_exponent
//                h     relaxes to  noise_accuracy · t^noise_temperature_exponent / (1 - x̄ / exposure_limit)
//                loss  = ln(classes) · S^loss_exponent + f
//                accuracy = 1/classes + (ceiling - D - 1/classes) · (1 - S)
//                           - g · exp(-annealing · U) · (1 - S)
//                fluctuation = h · exp(-annealing · U) · (1 - S)           scale of the evaluation noise,
//                              at most accuracy - 1/classes
//              While x̄ is beyond exposure_limit, or noise costs all that can be learned,
//              g · exp(-annealing · U) > ceiling - D - 1/classes, f grows by 5 % an update: to infinity,
//              which is divergence, unless that ends within some 280 updates.
// Units:       progress u and work U in units of progress_samples; loss in nats; accuracy as a fraction.
// Assumptions: t_ref and n_ref are those of the runs fitted; f, g and h relax within relaxation_samples. Up
//              to eight updates of one rate and size are taken in together, at their mean exposure.
//              Single evaluations scatter as the variance of the parameters does, which grows towards the
//              limit like the loss it costs (f).
//              Drift takes progress alone: the noise of the mean of k workers is that of k gradients at once.
// Not modelled: recovery from divergence; overfitting; a learning rate too high without staleness.
// Source:      noise floor and batch term (b_noise): McCandlish et al. 2018 (arXiv 1812.06162), section 2;
//              noise under delay and its limit: G. Zhang et al., NeurIPS 2019 (arXiv 1907.04164); critical
//              period: Achille et al., ICLR 2019 (arXiv 1711.08856). Their shapes were chosen on recorded
//              runs: docs/models.md.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/learning/learning_form.hpp"

namespace paceline {
namespace {

enum Parameter : std::size_t {
  ceiling,
  staleness_penalty,
  critical_period_exponent,
  progress_samples,
  onset_exponent,
  slowing,
  rate_exponent,
  loss_exponent,
  floor_loss,
  floor_exponent,
  exposure_limit,
  noise_accuracy,
  noise_staleness_exponent,
  noise_temperature_exponent,
  annealing,
  relaxation_samples,
  noise_batch_samples,
  reference_temperature,
  reference_samples,
  drift,
  parameter_count
};

constexpr std::array<FormParameter, parameter_count> parameters{{
    {"ceiling", 0.2, 1.0, 0.9, false, "accuracy in the end without staleness"},
    {"staleness_penalty", 1e-6, 0.2, 2e-3, true, "final accuracy lost for each unit of exposure met early"},
    {"critical_period_exponent", 0.3, 6.0, 1.0, true,
     "how early that is decided; 1: in proportion to learning"},
    {"progress_samples", 1e2, 1e9, 3e5, true, "samples after which 1/e is left to learn"},
    {"onset_exponent", 0.5, 4.0, 1.0, true, "above 1: learning starts slowly"},
    {"slowing", 1e-4, 10.0, 0.2, true, "by how much a unit of exposure slows progress"},
    {"rate_exponent", 0.0, 1.0, 0.5, false, "how progress depends on the learning rate per sample"},
    {"loss_exponent", 0.2, 4.0, 1.0, true, "loss left as a power of what is left to learn"},
    {"floor_loss", 1e-5, 3.0, 0.1, true, "loss held by gradient noise at the reference temperature"},
    {"floor_exponent", 0.5, 3.0, 1.3, true, "how that loss depends on the temperature"},
    {"exposure_limit", 1.0, 1e3, 15.0, true, "exposure at which training diverges"},
    {"noise_accuracy", 1e-4, 0.4, 0.03, true, "accuracy held back by that noise"},
    {"noise_staleness_exponent", 0.05, 2.0, 0.5, true, "how it grows towards the exposure limit"},
    {"noise_temperature_exponent", 0.3, 3.0, 1.3, true, "how it depends on the temperature"},
    {"annealing", 0.003, 0.6, 0.09, true, "how fast it shrinks with the work done"},
    {"relaxation_samples", 1e3, 1e7, 1e5, true, "samples within which the noise follows its cause"},
    {"noise_batch_samples", 1.0, 1e12, 1e12, true, "batch at which larger ones stop helping"},
    {"reference_temperature", 1e-9, 1e3, 1.0, true, reference_temperature_meaning},
    {"reference_samples", 1.0, 1e7, 128.0, true, "samples of an update of the runs fitted"},
    drift_parameter,
}};

constexpr double averaging_updates = 100.0;
// Of one rate and size. What is slow changes little meanwhile: powers of it are taken once for all of them.
constexpr int updates_at_once = 8;
// Of the loss beyond the limit: any factor above 1 ends in divergence.
constexpr double growth_per_update = 1.05;

class RelaxationForm final : public LearningForm {
 public:
  RelaxationForm(std::span<const double> values, const FormSetting& setting)
      : value_(parameter_array<parameter_count>(values)),
        setting_(setting),
        chance_(1.0 / setting.classes),
        initial_loss_(std::log(setting.classes)) {}

  void advance(const SeenUpdate& update) override {
    const double samples = samples_of(update);
    if (samples <= 0.0 || update.learning_rate <= 0.0) return;
    double exposed = 0.0;
    double helping = 0.0;
    for (const SeenGradient& gradient : update.gradients) {
      const double x = exposure(gradient, update);
      exposed += gradient.samples * x;
      helping += gradient.samples / (1.0 + value_[slowing] * x + value_[drift] * drift_of(gradient, update));
    }
    const double amplified_rate = update.learning_rate / (1.0 - update.momentum);
    if (amplified_rate != rate_ || samples != samples_) {
      take_in_pending();
      set_step(amplified_rate, samples);
    }
    mean_exposure_ += (exposed / samples - mean_exposure_) / averaging_updates;
    pending_exposed_ += exposed;
    pending_helping_ += helping;
    if (++pending_updates_ == updates_at_once) take_in_pending();
  }

  // What it would be if the updates still pending were taken in now: how often it is read changes nothing.
  [[nodiscard]] FormReading read() const override {
    if (pending_updates_ > 0) {
      RelaxationForm now = *this;
      now.take_in_pending();
      return now.read();
    }
    if (!std::isfinite(floor_)) return {floor_, chance_, 0.0};
    const double learned = 1.0 - left_;
    const double annealed = noise_left() * learned;
    const double accuracy =
        chance_ + (reachable() - chance_) * learned - noise_cost_ * setting_.effects.noise_factor * annealed;
    return {initial_loss_ * std::pow(left_, value_[loss_exponent]) + floor_,
            std::clamp(accuracy, chance_, 1.0), std::clamp(accuracy - chance_, 0.0, noise_scale_ * annealed),
            reachable()};
  }

 private:
  [[nodiscard]] double noise_left() const { return std::exp(-value_[annealing] * work_); }
  // The accuracy in the end.
  [[nodiscard]] double reachable() const {
    return value_[ceiling] + setting_.effects.ceiling_offset - lost_ * setting_.effects.penalty_factor;
  }
  // The cheap comparison first: noise only shrinks.
  [[nodiscard]] bool noise_costs_all() const {
    const double learnable = reachable() - chance_;
    return noise_cost_ > learnable && noise_cost_ * noise_left() > learnable;
  }
  // What depends on learning rate and batch only: both change seldom.
  void set_step(double amplified_rate, double samples) {
    rate_ = amplified_rate;
    samples_ = samples;
    const double temperature = amplified_rate / samples / value_[reference_temperature];
    const double batch = (1.0 + value_[reference_samples] / value_[noise_batch_samples]) /
                         (1.0 + samples / value_[noise_batch_samples]);
    step_gain_ = setting_.effects.speed_factor * std::pow(temperature, value_[rate_exponent]) * batch;
    step_floor_ = value_[floor_loss] * std::pow(temperature, value_[floor_exponent]);
    step_noise_ = value_[noise_accuracy] * std::pow(temperature, value_[noise_temperature_exponent]);
  }

  // Updates of one rate and size.
  void take_in_pending() {
    if (pending_updates_ == 0) return;
    const double samples = samples_ * pending_updates_;
    work_ += samples * step_gain_ / value_[progress_samples];
    learn(pending_helping_ * step_gain_, pending_exposed_ / samples);
    relax();
    pending_exposed_ = pending_helping_ = 0.0;
    pending_updates_ = 0;
  }

  void learn(double progress, double exposed) {
    const double before = critical_left_;
    progress_ += progress / value_[progress_samples];
    const double decay = std::pow(progress_, value_[onset_exponent]);
    left_ = std::exp(-decay);
    critical_left_ = std::exp(-value_[critical_period_exponent] * decay);
    lost_ += value_[staleness_penalty] * exposed * (before - critical_left_);
  }

  void relax() {
    const double margin = 1.0 - mean_exposure_ / value_[exposure_limit];
    const double of_one = std::min(1.0, samples_ / value_[relaxation_samples]);
    const double share = 1.0 - std::pow(1.0 - of_one, pending_updates_);
    if (margin > 0.0) {
      noise_cost_ +=
          (step_noise_ * std::pow(margin, -value_[noise_staleness_exponent]) - noise_cost_) * share;
      noise_scale_ += (step_noise_ / margin - noise_scale_) * share;
    }
    if (margin > 0.0 && !noise_costs_all()) {
      floor_ += (step_floor_ / margin - floor_) * share;
      return;
    }
    for (int update = 0; update < pending_updates_; ++update)
      floor_ = (floor_ + initial_loss_) * growth_per_update;
    if (floor_ > 1e6 * initial_loss_) floor_ = std::numeric_limits<double>::infinity();
  }

  std::array<double, parameter_count> value_;
  FormSetting setting_;
  double chance_;
  double initial_loss_;
  double progress_ = 0.0;       // u
  double work_ = 0.0;           // U
  double left_ = 1.0;           // S
  double critical_left_ = 1.0;  // S^critical_period_exponent
  double lost_ = 0.0;           // D
  double floor_ = 0.0;          // f
  double noise_cost_ = 0.0;     // g
  double noise_scale_ = 0.0;    // h
  double mean_exposure_ = 0.0;
  int pending_updates_ = 0;
  double pending_exposed_ = 0.0;  // samples · exposure
  double pending_helping_ = 0.0;
  double rate_ = 0.0;
  double samples_ = 0.0;
  double step_gain_ = 0.0;
  double step_floor_ = 0.0;
  double step_noise_ = 0.0;
};

}  // namespace

const FormDescription& relaxation_form() {
  static constexpr FormDescription description{
      "relaxation", "progress, gradient noise with a limit of stability, and a critical period", parameters,
      make_form<RelaxationForm>};
  return description;
}

}  // namespace paceline
