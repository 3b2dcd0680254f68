#include "calibrate/learning/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "sim/base/check.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline {
namespace {

constexpr std::size_t grid_points = 400;
constexpr double model_scale = 0.006;  // as much as runs differ: a closer fit of a mean curve means nothing
constexpr double early_share = 0.2;    // of the workload: there curves rise faster than they are noisy
constexpr double least_deviation = 0.004;  // of final accuracies, where the runs show none
constexpr double log_loss_scale = 0.5;
constexpr double loss_weight = 0.15;
constexpr std::size_t loss_bins = 40;
constexpr double prior_weight = 0.02;
constexpr double hopeless = 1e6;  // objective where the form diverges on runs that did not

std::vector<double> grid_of(const TrainingPlan& plan) {
  std::vector<double> grid;
  for (std::size_t i = 0; i <= grid_points; ++i)
    grid.push_back(plan.workload_minibatches() * static_cast<double>(i) / static_cast<double>(grid_points));
  return grid;
}

// Accuracy of the grid's readings at a position, linear in between.
double accuracy_at(std::span<const FormReading> readings, double position, double workload) {
  const double at = std::clamp(position / workload, 0.0, 1.0) * static_cast<double>(grid_points);
  const auto before = std::min<std::size_t>(static_cast<std::size_t>(at), grid_points - 1);
  const double share = at - static_cast<double>(before);
  return (1.0 - share) * readings[before].accuracy + share * readings[before + 1].accuracy;
}

// Mean of the recorded losses of each bin of the workload; nothing where there are none.
std::vector<std::optional<double>> binned_losses(const RunGroup& group) {
  std::vector<std::vector<double>> bins(loss_bins);
  for (const TrainingRun& run : group.runs) {
    for (const PositionedValue& point : run.loss) {
      const double share = point.minibatches / run.plan.workload_minibatches();
      if (share < 1.0 && share >= 0.0 && point.value > 0.0)
        bins[static_cast<std::size_t>(share * static_cast<double>(loss_bins))].push_back(point.value);
    }
  }
  std::vector<std::optional<double>> losses;
  for (const std::vector<double>& bin : bins) losses.push_back(mean_of(bin));
  return losses;
}

// What one group's readings are compared with.
struct Target {
  const TracedGroup* traced = nullptr;
  std::vector<double> grid;
  std::vector<double> lift;  // of the mean over runs above the mean run, on the grid
  std::vector<std::optional<double>> losses;
  double workload = 0.0;
  double final_accuracy = 0.0;
  double final_error = 0.0;  // standard error of its mean
  double drop = 0.0;         // until there evaluations are noisy, then they are not
  double noisy_scale = 0.0;
  double noisy_points = 0.0;
  double settled_points = 0.0;
  double loss_points = 0.0;
};

// Noise of one evaluation while the learning rate is high, from differences of neighbours.
double evaluation_noise(const RunGroup& group) {
  double squares = 0.0;
  double count = 0.0;
  for (const TrainingRun& run : group.runs) {
    const double from = early_share * run.plan.workload_minibatches();
    for (std::size_t i = 1; i < run.accuracy.size(); ++i) {
      if (run.accuracy[i - 1].minibatches < from || run.accuracy[i].minibatches > run.plan.first_drop())
        continue;
      const double difference = run.accuracy[i].value - run.accuracy[i - 1].value;
      squares += difference * difference;
      count += 1.0;
    }
  }
  return count > 0.0 ? std::sqrt(0.5 * squares / count) : 0.0;
}

Target make_target(const TracedGroup& traced, double deviation) {
  const RunGroup& group = traced.group;
  const TrainingPlan& plan = group.plan();
  Target target{.traced = &traced,
                .grid = grid_of(plan),
                .lift = {},
                .losses = binned_losses(group),
                .workload = plan.workload_minibatches(),
                .final_accuracy = group.mean_final_accuracy(),
                .final_error = deviation / std::sqrt(static_cast<double>(group.runs.size())),
                .drop = plan.first_drop(),
                .noisy_scale = std::hypot(model_scale, evaluation_noise(group))};
  for (const TrainingRun& run : group.runs)
    for (const PositionedValue& point : run.accuracy)
      (point.minibatches <= target.drop ? target.noisy_points : target.settled_points) += 1.0;
  for (const std::optional<double>& loss : target.losses)
    if (loss) target.loss_points += 1.0;
  return target;
}

// Of final accuracies within groups, pooled.
double pooled_deviation(std::span<const TracedGroup> groups) {
  double squares = 0.0;
  double degrees = 0.0;
  for (const TracedGroup& traced : groups) {
    const auto runs = static_cast<double>(traced.group.runs.size());
    const double deviation = traced.group.final_accuracy_deviation().value_or(0.0);
    squares += (runs - 1.0) * deviation * deviation;
    degrees += runs - 1.0;
  }
  return degrees > 0.0 ? std::max(least_deviation, std::sqrt(squares / degrees)) : least_deviation;
}

// Appends the weighted differences of one group; their squares sum to its part of the objective.
void add_residuals(const Target& target, std::span<const FormReading> readings,
                   std::vector<double>& residuals) {
  const bool diverged = !std::isfinite(readings.back().loss);
  for (const TrainingRun& run : target.traced->group.runs) {
    for (const PositionedValue& point : run.accuracy) {
      const double error = point.value - accuracy_at(readings, point.minibatches, target.workload);
      residuals.push_back(point.minibatches <= target.drop
                              ? error / (target.noisy_scale * std::sqrt(target.noisy_points))
                              : error / (model_scale * std::sqrt(target.settled_points)));
    }
  }
  residuals.push_back((target.final_accuracy - readings.back().accuracy) / target.final_error);
  for (std::size_t i = 0; i < loss_bins; ++i) {
    if (!target.losses[i]) continue;
    const double middle = (static_cast<double>(i) + 0.5) / static_cast<double>(loss_bins);
    const FormReading& reading =
        readings[static_cast<std::size_t>(middle * static_cast<double>(grid_points))];
    const double predicted = diverged ? hopeless : std::max(reading.loss, 1e-12);
    residuals.push_back(std::log(*target.losses[i] / predicted) / log_loss_scale *
                        std::sqrt(loss_weight / target.loss_points));
  }
}

// The lift of the mean over runs above the mean run.
std::vector<double> lift_of_runs(const FittedForm& fitted, const RunSpread& spread, const TracedGroup& group,
                                 std::span<const double> positions) {
  const std::vector<FormReading> mean = predict(fitted, group, positions);
  std::vector<double> lift(positions.size(), 0.0);
  for (const QuadratureNode& node : gauss_hermite) {
    if (node.at == 0.0) continue;  // taken as the mean run
    const std::vector<FormReading> run = predict(fitted, group, positions, run_effects(spread, 0.0, node.at));
    for (std::size_t i = 0; i < positions.size(); ++i)
      lift[i] += node.weight * (run[i].accuracy - mean[i].accuracy);
  }
  return lift;
}

// What the search sees: every free parameter on [0, 1].
class Search {
 public:
  Search(const FormDescription& form, std::span<const TracedGroup> groups, const FitOptions& options,
         std::span<const double> start)
      : form_(form) {
    const double deviation = pooled_deviation(groups);
    for (const TracedGroup& group : groups) targets_.push_back(make_target(group, deviation));
    set_initial(groups, start);
    const FittedForm from{&form_, start_, 0.0};
    for (Target& target : targets_)
      target.lift = lift_of_runs(from, options.spread, *target.traced, target.grid);
  }

  [[nodiscard]] std::vector<double> initial() const {
    std::vector<double> point;
    for (const std::size_t i : free_) point.push_back(to_point(i, start_));
    return point;
  }

  [[nodiscard]] std::vector<double> values(std::span<const double> point) const {
    std::vector<double> all = initial_;
    for (std::size_t i = 0; i < free_.size(); ++i)
      all[free_[i]] = from_unit(form_.parameters[free_[i]], 1.0 / (1.0 + std::exp(-point[i])));
    return all;
  }

  [[nodiscard]] std::vector<double> residuals(std::span<const double> point) const {
    throw_if_interrupted();
    const FittedForm trial{&form_, values(point), 0.0};
    std::vector<double> all;
    for (const Target& target : targets_) {
      std::vector<FormReading> readings = predict(trial, *target.traced, target.grid);
      for (std::size_t i = 0; i < readings.size(); ++i) readings[i].accuracy += target.lift[i];
      add_residuals(target, readings, all);
    }
    for (double& residual : all) residual /= std::sqrt(static_cast<double>(targets_.size()));
    for (std::size_t i = 0; i < free_.size(); ++i)
      all.push_back(std::sqrt(prior_weight) * (point[i] - to_point(free_[i], initial_)));
    return all;
  }

 private:
  static double to_unit(const FormParameter& parameter, double value) {
    if (!parameter.logarithmic) return (value - parameter.lower) / (parameter.upper - parameter.lower);
    return std::log(value / parameter.lower) / std::log(parameter.upper / parameter.lower);
  }
  [[nodiscard]] double to_point(std::size_t parameter, std::span<const double> all) const {
    const double unit = std::clamp(to_unit(form_.parameters[parameter], all[parameter]), 0.002, 0.998);
    return std::log(unit / (1.0 - unit));
  }
  static double from_unit(const FormParameter& parameter, double unit) {
    if (!parameter.logarithmic) return parameter.lower + unit * (parameter.upper - parameter.lower);
    return parameter.lower * std::pow(parameter.upper / parameter.lower, unit);
  }

  // Scales follow from the runs: the workload, the learning rates, the best accuracy. Only synchronous
  // updates of different sizes show how larger batches help without staleness.
  void set_initial(std::span<const TracedGroup> groups, std::span<const double> start) {
    double samples = 0.0;
    double temperature = 0.0;
    double batch = std::numeric_limits<double>::infinity();
    double best = 0.0;
    std::set<double> synchronous;  // samples of an update
    bool drifts = false;
    for (const TracedGroup& traced : groups) {
      const TrainingPlan& plan = traced.group.plan();
      samples = std::max(samples, plan.workload_minibatches() * plan.batch_samples);
      temperature =
          std::max(temperature, plan.rate_per_gradient / plan.batch_samples / (1.0 - plan.momentum));
      batch = std::min(batch, plan.batch_samples);
      best = std::max(best, traced.group.mean_final_accuracy());
      for (const PlanPhase& phase : plan.phases) {
        if (phase.synchronous) synchronous.insert(plan.batch_samples * plan.workers);
        drifts = drifts || phase.local_steps > 1;
      }
    }
    const bool sizes_differ = synchronous.size() > 1;
    struct Known {
      std::optional<double> value;
      bool is_free = true;
    };
    const std::map<std::string_view, Known> known{
        {"ceiling", {best}},
        {"progress_samples", {0.05 * samples}},
        {"scale_samples", {0.05 * samples}},
        {"relaxation_samples", {0.01 * samples}},
        {"reference_temperature", {temperature, false}},
        {"reference_samples", {batch, false}},
        {"drift", {drifts ? std::nullopt : std::optional(drift_parameter.lower), drifts}},
        {"noise_batch_samples",
         {sizes_differ ? std::optional(10.0 * *synchronous.rbegin()) : std::nullopt, sizes_differ}}};
    for (std::size_t i = 0; i < form_.parameters.size(); ++i) {
      const FormParameter& parameter = form_.parameters[i];
      const auto found = known.find(parameter.name);
      const Known here = found == known.end() ? Known{} : found->second;
      initial_.push_back(
          std::clamp(here.value.value_or(parameter.initial), parameter.lower, parameter.upper));
      if (here.is_free) free_.push_back(i);
    }
    start_ = start.empty() ? initial_ : std::vector<double>(start.begin(), start.end());
  }

  const FormDescription& form_;
  std::vector<Target> targets_;
  std::vector<double> initial_;  // centre of the prior, and the values of what is fixed
  std::vector<double> start_;
  std::vector<std::size_t> free_;
};

// Relative variance assumed of the residuals, as a forward difference wants.
constexpr double derivative_step = 1e-6;

struct Residuals : Eigen::DenseFunctor<double> {
  Residuals(const Search& searched, const std::vector<double>& initial)
      : DenseFunctor(static_cast<int>(initial.size()), static_cast<int>(searched.residuals(initial).size())),
        search(&searched) {}
  int operator()(const Eigen::VectorXd& point, Eigen::VectorXd& result) const {
    const std::vector<double> all = search->residuals({point.data(), static_cast<std::size_t>(point.size())});
    result = Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
    return 0;
  }
  const Search* search;
};

}  // namespace

FittedForm fit_form(const FormDescription& form, std::span<const TracedGroup> groups,
                    const FitOptions& options, std::span<const double> start) {
  check(!groups.empty(), "a fit needs runs");
  const Search search(form, groups, options, start);
  const std::vector<double> initial = search.initial();
  Residuals residuals(search, initial);
  Eigen::NumericalDiff<Residuals> differentiated(residuals, derivative_step);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(differentiated);
  solver.setMaxfev(options.evaluations);
  solver.setFtol(1e-4);
  solver.setXtol(1e-4);
  solver.setFactor(3.0);
  Eigen::VectorXd point =
      Eigen::Map<const Eigen::VectorXd>(initial.data(), static_cast<Eigen::Index>(initial.size()));
  solver.minimize(point);
  return {&form, search.values({point.data(), initial.size()}), solver.fvec().squaredNorm()};
}

std::vector<FormReading> predict(const FittedForm& fitted, const TracedGroup& group,
                                 std::span<const double> positions, const RunEffects& effects) {
  const std::unique_ptr<LearningForm> form =
      fitted.form->make(fitted.values, {.classes = group.group.runs.front().classes, .effects = effects});
  return group.trace->run(*form, positions);
}

FittedLearner fit_learner(const FormDescription& form, std::span<const TracedGroup> groups,
                          const FitOptions& options) {
  FittedLearner learner;
  learner.form = fit_form(form, groups, options);
  learner.noise = fit_noise(learner.form, groups);
  learner.spread = fit_spread(learner.form, groups, learner.noise);
  // Again, now that it is known how the mean over runs lies to the mean run.
  FitOptions in_place = options;
  in_place.spread = learner.spread;
  learner.form = fit_form(form, groups, in_place, learner.form.values);
  learner.noise = fit_noise(learner.form, groups);
  return learner;
}

}  // namespace paceline
