// A fitted learner as a file: the parameters of a form, how runs differ, and where the fit may be trusted.
//
// Models:      what a statistical learner needs, and what a reader needs to judge it.
// Equation:    evaluation noise has the standard deviation max(least, scale · fluctuation^exponent), as the
//              form reads it, and leans downwards: what moves parameters about costs accuracy more often than
//              it brings some. e = -(G - k) / √k, G gamma-distributed with k = 16, whose skewness is
//              -2/√k = -0.5; from a standard normal z: G = k (1 - 1/(9k) - z/(3√k))³. Nothing is evaluated
//              above what the form can end with by more than 3 · least.
//              Run effects from two standard normal draws z1, z2 of the run: ceiling offset = ceiling · z1;
//              factor of the staleness penalty = exp(s · z2 - s²/2) with s² = ln(1 + p²), p =
//              spread.staleness_penalty: never negative, its mean 1, its standard deviation p; speed factor =
//              exp(-speed · z2): a run that learns slowly early loses more.
//              What the fit does not know is drawn too, apart from the run: one of the members, all equally
//              likely, in place of the parameters; three standard normal draws: ceiling offset +=
//              model_error.final_accuracy · e1, speed factor *= exp(model_error.speed · e2), noise factor *=
//              exp(model_error.noise · e3).
// Units:       accuracies as fractions, samples, updates of staleness.
// Assumptions: runs differ by these draws and by evaluation noise. A seed draws the same member and the same
//              model error for every policy compared.
// Not modelled: correlation of one evaluation's noise with the next; that the model errs differently for
//              each of the policies compared.
// Source:      docs/models.md, "Learners"; gamma from normal: Wilson and Hilferty, PNAS 17 (1931).
//
// The file is JSON, written by `paceline fit`:
//   format "paceline-learner", version 7 (6 says 0 of a model error that is unknown; 5 knows no local steps;
//   4 has no members and no model error; 3 names neither network nor data set, only `classes`; 2 has other
//   names for some parameters; all are still read)
//   name, source ("recorded": fitted to runs; "assumed": nobody's runs stand behind it)
//   fitted_on   [names of groups of runs]; empty only for "assumed"
//   command     what made it; only "assumed" may lack it
//   form        a name of learning_forms(); parameters {name: value}, all of them
//   network     {name, parameter_count}, of those runs, as
//   dataset     {name, classes}; null where it was not recorded
//   spread      {ceiling, staleness_penalty, speed}
//   evaluation_noise {scale, exponent, least}
//   members     [[parameters in the order of `parameters`]]: refits to runs and policies drawn again; may be
//               empty
//   model_error {final_accuracy, speed, noise}: of a policy that was not fitted; null: too few policies were
//               fitted to tell it, and ranges leave it out
//   validity    {workers: [min, max], update_samples: [min, max], staleness_max, learning_rate_max,
//                momentum: [min, max], samples_max, local_steps_max}
// Readers accept members they do not know (a fit adds its intervals and errors); only this list is promised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/base/validity.hpp"
#include "sim/cost/identity.hpp"
#include "sim/learning/learning_form.hpp"

namespace paceline {

enum class LearnerSource { recorded, assumed };

struct RunSpread {
  double ceiling = 0.0;
  double staleness_penalty = 0.0;
  double speed = 0.0;
};

struct EvaluationNoise {
  double scale = 0.0;
  double exponent = 1.0;
  double least = 0.0;
  [[nodiscard]] double deviation(double fluctuation) const;
  // The accuracy of one evaluation: one draw, whether or not the reading has diverged.
  [[nodiscard]] double evaluated(const FormReading& reading, RandomStream& random) const;
};

// How far a policy that no run shows lies from what the form says of it, as standard deviations: of the
// accuracy in the end, of ln(speed), and of the logarithm of the accuracy that gradient noise holds back,
// which is what moves accuracies before the first drop of the rate.
struct ModelError {
  double final_accuracy = 0.0;
  double speed = 0.0;
  double noise = 0.0;
};

// What the runs fitted were, or what a job asks of a learner.
struct LearnerValidity {
  double workers_min = 1.0;
  double workers_max = 1.0;
  double update_samples_min = 1.0;
  double update_samples_max = 1.0;
  double staleness_max = 0.0;
  double learning_rate_max = 0.0;
  double samples_max = 0.0;  // workload
  double momentum_min = 0.0;
  double momentum_max = 0.0;
  double local_steps_max = 0.0;  // 0: no workers that trained locally
};

struct StatisticalModel {
  std::string path;  // where it was read, for messages
  std::string name;
  LearnerSource source = LearnerSource::assumed;
  std::vector<std::string> fitted_on;
  std::string command;
  const FormDescription* form = nullptr;
  std::vector<double> values;
  Identity identity;  // its classes are those below
  int classes = 10;
  RunSpread spread;
  EvaluationNoise noise;
  std::vector<std::vector<double>> members;  // values like those above; may be empty
  std::optional<ModelError> model_error{};   // nothing: unknown
  LearnerValidity validity;
};

// Throws UserError naming file and field when it is missing, of another format, incomplete or impossible.
[[nodiscard]] StatisticalModel read_statistical_model(const std::filesystem::path& path);
[[nodiscard]] std::string statistical_model_json(const StatisticalModel& model);

// Each range of the learner beside what a job asks of it; local steps where one of them has any.
[[nodiscard]] std::vector<ValidityRow> validity_rows(const StatisticalModel& model,
                                                     const LearnerValidity& use);

// Of a run with these two draws.
[[nodiscard]] RunEffects run_effects(const RunSpread& spread, double z1, double z2);
[[nodiscard]] RunEffects draw_run_effects(const RunSpread& spread, Seed seed);

// What is unknown about a fit, drawn.
struct DrawnFit {
  std::optional<std::size_t> member;  // none where there are none
  double ceiling_offset = 0.0;
  double speed_factor = 1.0;
  double noise_factor = 1.0;
};
[[nodiscard]] DrawnFit draw_fit(std::size_t members, const std::optional<ModelError>& error, Seed seed);
// The effects of a run under that fit.
[[nodiscard]] RunEffects with_fit(RunEffects effects, const DrawnFit& fit);
// The form of one run: everything drawn.
[[nodiscard]] std::unique_ptr<LearningForm> make_run(const StatisticalModel& model, Seed seed);

}  // namespace paceline
