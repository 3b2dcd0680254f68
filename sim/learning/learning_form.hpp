// What every statistical form of a learning curve is: a state driven by updates, read as loss and accuracy.
//
// Models:      the course of loss and accuracy of one training job, from what each update was: samples,
//              weight and staleness of its gradients, learning rate, momentum. Never from a policy's name, a
//              share of it, or time.
// Equation:    at the head of each form's source. Shared by all: the *exposure* of one gradient to staleness,
//                x = tau · learning_rate · weight / (1 - momentum),
//              the distance the parameters move, in units of a gradient, between reading and applying. The
//              limit of stability of delayed gradient descent is a bound on curvature · x; the *temperature*
//              of an update, which scales gradient noise,
//                t = learning_rate / samples / (1 - momentum), relative to that of the runs fitted;
//              the *drift* of a gradient that one of k workers computed after h steps of its own,
//                y = h · (k - 1) · (learning_rate / (1 - momentum))².
//              H local steps of k workers that then take the mean of their parameters are H updates of that
//              mean, each of k gradients at points that noise has driven apart: by
//              learning_rate² · h · (1 - 1/k) · (variance of a gradient) from the mean. Such a distance errs
//              in the gradient by curvature² times it: curvature² · y of the variance 1/k of their mean.
// Units:       staleness tau in updates; loss in nats (training cross-entropy without weight decay); accuracy
//              0-1.
// Assumptions: one network, data set and optimizer family: those of the runs the parameters were fitted on.
// Not modelled: the content of a batch; what a worker's data order does.
// Source:      temperature: McCandlish et al. 2018 (arXiv 1812.06162), appendix C; limit of stability: Giladi
//              et al., ICLR 2020 (arXiv 1909.12340). Drift: the mean of the workers' parameters, Stich, ICLR
//              2019 (arXiv 1805.09767), section 3; variance σ²/k of its gradient against an error
//              curvature² · rate² · σ² · (H - 1): Wang and Joshi, JMLR 22 (2021, arXiv 1808.07576), theorem
//              1.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/random.hpp"

namespace paceline {

struct SeenGradient {
  double samples = 0.0;
  double weight = 1.0;
  double staleness = 0.0;    // updates applied between its parameters and its own application
  double local_steps = 0.0;  // that its worker had taken by itself since the workers last met
};

struct SeenUpdate {
  std::span<const SeenGradient> gradients;
  double learning_rate = 0.0;
  double momentum = 0.0;
};

// What differs from run to run of one setting; the defaults are the mean run.
struct RunEffects {
  double ceiling_offset = 0.0;  // added to the accuracy reached in the end
  double penalty_factor = 1.0;  // multiplies what staleness takes from that accuracy
  double speed_factor = 1.0;    // multiplies early progress
  double noise_factor = 1.0;    // multiplies the accuracy that gradient noise holds back
};

struct FormSetting {
  int classes = 10;  // accuracy starts at 1 / classes, loss at ln(classes)
  RunEffects effects;
};

// The state read without evaluation noise.
struct FormReading {
  double loss = 0.0;  // not finite: the job diverged
  double accuracy = 0.0;
  // Scale of the evaluation noise; of most forms the accuracy that noise at the present learning rate costs.
  double fluctuation = 0.0;
  double reachable = 1.0;  // the accuracy it would end with: evaluations scatter about it, not up to 1
};

class LearningForm {
 public:
  LearningForm() = default;
  LearningForm& operator=(const LearningForm&) = delete;
  virtual ~LearningForm() = default;

  virtual void advance(const SeenUpdate& update) = 0;
  [[nodiscard]] virtual FormReading read() const = 0;

 protected:
  LearningForm(const LearningForm&) = default;
};

// One parameter as a fit sees it: bounds, where to start, and whether it is searched on a logarithmic scale.
struct FormParameter {
  std::string_view name;
  double lower = 0.0;
  double upper = 1.0;
  double initial = 0.5;
  bool logarithmic = false;
  std::string_view meaning;
  int since_version = 2;  // of learner files; in older ones it is at its lower bound
};

struct FormDescription {
  std::string_view name;
  std::string_view summary;
  std::span<const FormParameter> parameters;
  std::unique_ptr<LearningForm> (*make)(std::span<const double> values, const FormSetting& setting);
};

// What the shipped learners use; the baseline.
[[nodiscard]] const FormDescription& relaxation_form();
[[nodiscard]] const FormDescription& power_law_form();
// These, in this order.
[[nodiscard]] std::span<const FormDescription> learning_forms();
// Null when there is no form of this name.
[[nodiscard]] const FormDescription* find_form(std::string_view name);
// "relaxation, power-law": what a message offers.
[[nodiscard]] std::string form_names();

// For the forms' sources.
inline constexpr FormParameter drift_parameter{
    "drift", 1e-6, 1e3, 0.1, true, "by how much a unit of drift of local steps slows progress", 6};
inline constexpr std::string_view reference_temperature_meaning =
    "learning rate / samples / (1 - momentum) of the runs fitted";
template <class Form>
std::unique_ptr<LearningForm> make_form(std::span<const double> values, const FormSetting& setting) {
  return std::make_unique<Form>(values, setting);
}
template <std::size_t count>
std::array<double, count> parameter_array(std::span<const double> values) {
  check(values.size() == count, "one value for each parameter of the form");
  std::array<double, count> array{};
  std::copy(values.begin(), values.end(), array.begin());
  return array;
}

// Exposure of one gradient, as above.
[[nodiscard]] inline double exposure(const SeenGradient& gradient, const SeenUpdate& update) {
  return gradient.staleness * gradient.weight * update.learning_rate / (1.0 - update.momentum);
}
// Drift of one gradient, as above.
[[nodiscard]] inline double drift_of(const SeenGradient& gradient, const SeenUpdate& update) {
  const double amplified_rate = update.learning_rate / (1.0 - update.momentum);
  return gradient.local_steps * static_cast<double>(update.gradients.size() - 1) * amplified_rate *
         amplified_rate;
}
// Samples of all gradients together.
[[nodiscard]] inline double samples_of(const SeenUpdate& update) {
  double samples = 0.0;
  for (const SeenGradient& gradient : update.gradients) samples += gradient.samples;
  return samples;
}

}  // namespace paceline
