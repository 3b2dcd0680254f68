// Checks of statistical learners.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/learning/optimizer.hpp"
#include "sim/study/checks_before_running.hpp"

namespace paceline {

bool uses_model(const Scenario& scenario) {
  return scenario.learner.kind == LearnerKind::statistical || scenario.learner.kind == LearnerKind::assumed;
}

namespace {

LearnerValidity use_of(const Scenario& scenario) {
  const auto workers = static_cast<double>(scenario.cluster.workers.size());
  const BatchingConfig& batching = scenario.batching;
  const BatchRange batches = possible_batches(batching);
  const auto smallest = static_cast<double>(batches.smallest);
  const auto largest = static_cast<double>(batches.largest);
  LearnerValidity use;
  use.workers_min = use.workers_max = workers;
  use.samples_max = scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples);
  use.momentum_min = use.momentum_max = scenario.job.optimizer.momentum;
  bool first = true;
  for (const PhaseEntry& phase : scenario.synchronization) {
    const SynchronizationChoice& policy = phase.config.policy;
    const bool waits_for_all = policy->waits_for == WaitsFor::all;
    const auto combined = static_cast<double>(gradients_per_update(policy, scenario.cluster.workers.size()));
    use.update_samples_min =
        first ? combined * smallest : std::min(use.update_samples_min, combined * smallest);
    use.update_samples_max =
        first ? combined * largest : std::max(use.update_samples_max, combined * largest);
    if (!waits_for_all && combined == 1.0) use.staleness_max = workers - 1.0;
    UpdateContext update;
    // The rate of local steps is that of a gradient alone.
    const double at_once = phase.config.local ? 1.0 : std::max(1.0, combined);
    update.gradients = static_cast<std::size_t>(at_once);
    update.initial_batch_samples = batching.initial_samples;
    update.samples = static_cast<std::int64_t>(at_once) * batching.initial_samples;
    if (phase.config.local)
      use.local_steps_max = std::max(use.local_steps_max, static_cast<double>(phase.config.local->steps));
    OptimizerConfig unscheduled = scenario.job.optimizer;
    unscheduled.schedule = {};
    use.learning_rate_max = std::max(use.learning_rate_max, learning_rate_at(unscheduled, update));
    // Rules for momentum at a switch begin with the smallest.
    if (!first && !waits_for_all)
      update.since_switch = SinceSwitch{.workers = scenario.cluster.workers.size()};
    use.momentum_min = std::min(use.momentum_min, momentum_at(scenario.job.optimizer, update));
    first = false;
  }
  return use;
}

// Nobody fitted what is assumed.
const char* knows(const StatisticalModel& model) {
  return model.source == LearnerSource::assumed ? "is assumed to hold for" : "was fitted on";
}

// The accuracy in the end without staleness, of the mean run.
double ceiling_of(const StatisticalModel& model) {
  const auto place = std::ranges::find(model.form->parameters, "ceiling", &FormParameter::name);
  check(place != model.form->parameters.end(), "every form of a curve has a ceiling");
  return model.values[static_cast<std::size_t>(place - model.form->parameters.begin())];
}

}  // namespace

std::vector<ValidityRow> learner_validity(const Scenario& scenario, const StatisticalModel& model) {
  return validity_rows(model, use_of(scenario));
}

const StatisticalModel& read_learner(const LoadedScenario& loaded, InputFiles& files) {
  const LearnerConfig& learner = loaded.scenario.learner;
  std::error_code ignored;
  if (!std::filesystem::exists(learner.model, ignored))
    fail_at(loaded, "learner.model", fmt::format("there is no learner {}", learner.model),
            "fit one: `paceline fit --help`");
  const StatisticalModel& model = files.learner(learner.model);
  if (learner.kind == LearnerKind::statistical && model.source == LearnerSource::assumed)
    fail_at(loaded, "learner.kind", fmt::format("no recorded runs stand behind {}", model.path),
            "write `kind: assumed`, and the results will say so");
  return model;
}

std::string check_learner_identity(const LoadedScenario& loaded, const StatisticalModel& model,
                                   const Profiles* profiles) {
  Identity job = identity_of(loaded);
  if (profiles != nullptr) job.parameter_count = profiles->job().identity.parameter_count;
  const bool is_other = differ(job, model.identity);
  if (loaded.scenario.learner.kind == LearnerKind::assumed)
    return is_other ? fmt::format("the learner {} is borrowed: it is of {}, the job trains {}", model.path,
                                  to_text(model.identity), to_text(job))
                    : std::string();
  if (is_other)
    fail_at(loaded, "learner.model",
            fmt::format("the learner {} is of {}, the job trains {}", model.path, to_text(model.identity),
                        to_text(job)),
            "train a network with the learner `network`, fit a learner from logs of your own (`paceline "
            "fit`), or write `learner: {kind: assumed, …}`, and the results will say so");
  if (model.identity.dataset && !job.dataset)
    fail_at(loaded, "job.dataset",
            fmt::format("nothing says which data set this is; the learner {} is of {}", model.path,
                        to_text(model.identity)),
            fmt::format("write `name: {}` in it if that is what the job trains on", *model.identity.dataset));
  return {};
}

std::vector<std::string> check_learner(const LoadedScenario& loaded, InputFiles& files,
                                       const Profiles* profiles) {
  const Scenario& scenario = loaded.scenario;
  if (!uses_model(scenario)) return {};
  const StatisticalModel& model = read_learner(loaded, files);
  const std::string borrowed = check_learner_identity(loaded, model, profiles);
  const LearnerValidity use = use_of(scenario);
  constexpr double most_beyond = 4.0;
  if (const double beyond = use.learning_rate_max / model.validity.learning_rate_max; beyond > most_beyond)
    fail_at(
        loaded, "job.optimizer.learning_rate",
        fmt::format("{:.3g} times the largest rate {} {}: at which rate training breaks down is not known",
                    beyond, model.path, knows(model)),
        fmt::format("stay within {:g} times, or use the learner `network`", most_beyond));
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
    if (scenario.synchronization[i].config.local && model.validity.local_steps_max == 0.0)
      fail_at(
          loaded, fmt::format("synchronization.{}.local", i),
          fmt::format("{} {} no workers that train locally", model.path, knows(model)),
          "fit a learner to such runs too (`local_steps` of a phase in the logs of `paceline fit`), or train "
          "the network itself (`learner: {kind: network}`)");
  std::vector<std::string> notes;
  if (const double ceiling = ceiling_of(model); scenario.stop.accuracy.value_or(0.0) > ceiling)
    notes.push_back(fmt::format("the target {:g} is above what {} says can be reached at all ({:.3f})",
                                *scenario.stop.accuracy, model.path, ceiling));
  const bool switches = scenario.synchronization.size() > 1;
  if (switches && scenario.job.optimizer.velocity_at_switch != VelocityAtSwitch::keep)
    notes.push_back(fmt::format(
        "job.optimizer.velocity_at_switch has no effect: the statistical learner {} has no velocity",
        model.path));
  if (!model.identity.network)
    notes.push_back(fmt::format(
        "{} does not say which network and data set it is of: they were not compared with the job's",
        model.path));
  if (!borrowed.empty()) notes.push_back(borrowed);
  if (scenario.learner.kind == LearnerKind::assumed)
    notes.push_back(fmt::format(
        "the learner {} is assumed: losses and accuracies are not those of recorded runs", model.path));
  return notes;
}

std::vector<std::string> staleness_notes(const StatisticalModel& model, const RunResult& run) {
  const bool is_beyond = std::ranges::any_of(run.staleness, [&](const auto& entry) {
    return static_cast<double>(entry.first.second) > model.validity.staleness_max;
  });
  if (!is_beyond) return {};
  return {fmt::format("gradients were staler than the {:g} updates {} {}", model.validity.staleness_max,
                      model.path, knows(model))};
}

}  // namespace paceline
