#include "sim/fit/recorded_validation.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/csv.hpp"

namespace paceline {
namespace {

constexpr int predicted_runs = 100;

struct FixedFold {
  const char* campaign;
  std::vector<std::string> fitted_policies;
};

const std::vector<FixedFold>& fixed_folds() {
  static const std::vector<FixedFold> folds{
      {"resnet32-cifar10, until August 2020", {"bsp", "asp", "bsp05-asp95"}},
      {"resnet50-cifar100", {"bsp", "asp"}},
  };
  return folds;
}

std::vector<double> thresholds_for(int classes) {
  if (classes > 10) return {0.60, 0.70};
  return {0.80, 0.88, 0.90};
}

std::set<std::string> policies_of(const std::vector<TracedGroup>& groups) {
  std::set<std::string> policies;
  for (const TracedGroup& group : groups) policies.insert(policy_of(group.group.name));
  return policies;
}

FoldResult run_fold(const std::string& name, const std::vector<TracedGroup>& groups,
                    const FormDescription& form, const std::function<bool(const std::string&)>& is_fitted) {
  std::vector<TracedGroup> fitted;
  std::vector<TracedGroup> held_out;
  for (const TracedGroup& group : groups)
    (is_fitted(policy_of(group.group.name)) ? fitted : held_out).push_back(group);
  FoldResult fold{name, {}, {}};
  for (const TracedGroup& group : fitted) fold.fitted_on.push_back(group.group.name);
  const FittedLearner learner = fit_learner(form, fitted, {});
  const int classes = groups.front().group.runs.front().classes;
  fold.rows = predict_held_out(learner, fitted, held_out,
                               {.thresholds = thresholds_for(classes), .runs = predicted_runs});
  return fold;
}

struct PlannedFold {
  std::string name;
  const std::vector<TracedGroup>* groups = nullptr;
  std::function<bool(const std::string&)> is_fitted;
};

std::vector<PlannedFold> plan_folds(const Campaign& campaign, const std::vector<TracedGroup>& groups,
                                    std::vector<std::string>& notes) {
  std::vector<PlannedFold> planned;
  const std::set<std::string> policies = policies_of(groups);
  for (const FixedFold& fixed : fixed_folds()) {
    const std::vector<std::string>& wanted = fixed.fitted_policies;
    const bool there =
        std::all_of(wanted.begin(), wanted.end(), [&](const auto& p) { return policies.contains(p); });
    if (campaign.name != fixed.campaign || !there || policies.size() <= wanted.size()) continue;
    planned.push_back({fmt::format("{}: fixed fold, from {}", campaign.name, fmt::join(wanted, ", ")),
                       &groups, [wanted](const std::string& policy) {
                         return std::find(wanted.begin(), wanted.end(), policy) != wanted.end();
                       }});
  }
  if (policies.size() < 2) {
    notes.push_back(fmt::format("{}: one policy only, nothing to predict it from", campaign.name));
    return planned;
  }
  for (const std::string& out : policies)
    planned.push_back({fmt::format("{}: all but {}", campaign.name, out), &groups,
                       [out](const std::string& policy) { return policy != out; }});
  return planned;
}

struct PureRate {
  const RunGroup* group = nullptr;
  bool synchronous = true;
  double seconds_per_step = 0.0;
  double workers = 0.0;
  int delayed = 0;
};

std::vector<PureRate> pure_rates(const RecordedRuns& recorded) {
  std::vector<PureRate> rates;
  for (const Campaign& campaign : recorded.campaigns) {
    for (const RunGroup& group : campaign.groups) {
      if (group.plan().phases.size() != 1) continue;
      double seconds = 0.0;
      double steps = 0.0;
      for (const TrainingRun& run : group.runs) {
        for (const PhaseTime& phase : run.phases) {
          seconds += phase.steps * phase.seconds_per_step;
          steps += phase.steps;
        }
      }
      if (steps <= 0.0) continue;
      rates.push_back({&group, group.plan().phases.front().synchronous, seconds / steps,
                       static_cast<double>(group.plan().workers), delayed_workers(policy_of(group.name))});
    }
  }
  return rates;
}

std::string setup_of(const std::string& group) {
  return group.substr(0, group.find('/'));
}

// "resnet32-cifar10" of "resnet32-cifar10-16"
std::string network_of(const std::string& setup) {
  return setup.substr(0, setup.rfind('-'));
}

class StepTimes {
 public:
  explicit StepTimes(const RecordedRuns& recorded) : rates_(pure_rates(recorded)) {}

  [[nodiscard]] std::vector<StepTimeRow> predict() const {
    std::vector<StepTimeRow> rows;
    for (const PureRate& rate : rates_) {
      if (rate.delayed == 0)
        add_scaled(rate, rows);
      else
        add_delayed(rate, rows);
    }
    return rows;
  }

 private:
  [[nodiscard]] const PureRate* find(const std::string& setup, bool synchronous, int delayed) const {
    for (const PureRate& rate : rates_)
      if (setup_of(rate.group->name) == setup && rate.synchronous == synchronous && rate.delayed == delayed)
        return &rate;
    return nullptr;
  }

  // From the same network with fewer workers.
  void add_scaled(const PureRate& rate, std::vector<StepTimeRow>& rows) const {
    for (const PureRate& other : rates_) {
      const bool smaller =
          other.workers < rate.workers && other.delayed == 0 && other.synchronous == rate.synchronous;
      if (!smaller || network_of(setup_of(other.group->name)) != network_of(setup_of(rate.group->name)))
        continue;
      const double factor = rate.synchronous ? rate.workers / other.workers : other.workers / rate.workers;
      rows.push_back({rate.group->name, other.group->name, rate.synchronous, other.seconds_per_step * factor,
                      rate.seconds_per_step, other.seconds_per_step});
    }
  }

  void add_delayed(const PureRate& rate, std::vector<StepTimeRow>& rows) const {
    const std::string setup = setup_of(rate.group->name);
    const PureRate* plain = find(setup, rate.synchronous, 0);
    const PureRate* asynchronous = find(setup, false, 0);
    const PureRate* calibration = find(setup, false, 1);
    if (plain == nullptr || asynchronous == nullptr || calibration == nullptr || calibration == &rate) return;
    const double workers = asynchronous->workers;
    const double iteration = workers * asynchronous->seconds_per_step;
    const double delayed_rate = 1.0 / calibration->seconds_per_step - (workers - 1.0) / iteration;
    if (delayed_rate <= 0.0) return;
    const double delay = 1.0 / delayed_rate - iteration;
    const auto slow = static_cast<double>(rate.delayed);
    const double predicted = rate.synchronous
                                 ? plain->seconds_per_step + delay
                                 : 1.0 / ((workers - slow) / iteration + slow / (iteration + delay));
    rows.push_back({rate.group->name, fmt::format("{}, {}", plain->group->name, calibration->group->name),
                    rate.synchronous, predicted, rate.seconds_per_step, plain->seconds_per_step});
  }

  std::vector<PureRate> rates_;
};

}  // namespace

int delayed_workers(const std::string& policy) {
  const std::size_t word = policy.find("straggler");
  if (word == std::string::npos || word == 0) return 0;
  const char digit = policy[word - 1];
  return digit >= '1' && digit <= '9' ? digit - '0' : 0;
}

std::vector<StepTimeRow> predict_step_times(const RecordedRuns& recorded) {
  return StepTimes(recorded).predict();
}

RecordedValidation validate_recorded(const RecordedRuns& recorded, const FormDescription& form,
                                     const std::function<void(double, const std::string&)>& on_progress) {
  RecordedValidation validation;
  std::vector<std::vector<TracedGroup>> traced;
  for (const Campaign& campaign : recorded.campaigns) traced.push_back(trace_groups(campaign.groups));
  std::vector<PlannedFold> planned;
  for (std::size_t c = 0; c < recorded.campaigns.size(); ++c)
    for (PlannedFold& fold : plan_folds(recorded.campaigns[c], traced[c], validation.notes))
      planned.push_back(std::move(fold));
  for (std::size_t i = 0; i < planned.size(); ++i) {
    on_progress(static_cast<double>(i) / static_cast<double>(planned.size()), planned[i].name);
    validation.folds.push_back(run_fold(planned[i].name, *planned[i].groups, form, planned[i].is_fitted));
  }
  validation.step_times = predict_step_times(recorded);
  return validation;
}

std::string validation_csv(const RecordedValidation& validation) {
  CsvTable table({"fold", "group", "runs", "quantity", "predicted", "recorded", "error", "recorded_low",
                  "recorded_high", "error_null_linear", "error_null_first"});
  for (const FoldResult& fold : validation.folds) {
    for (const HeldOutRow& row : fold.rows)
      table.add(fold.name)
          .add(row.group)
          .add(row.runs)
          .add(quantity_text(row))
          .add(row.predicted)
          .add(row.recorded)
          .add(error_of(row, row.predicted))
          .add(row.recorded_low)
          .add(row.recorded_high)
          .add(error_of(row, row.null_linear))
          .add(error_of(row, row.null_first))
          .end_row();
  }
  const std::optional<double> none;
  for (const StepTimeRow& row : validation.step_times)
    table.add(fmt::format("step time from {}", row.from))
        .add(row.group)
        .add(1)
        .add(row.synchronous ? "synchronous step, s" : "asynchronous mini-batch, s")
        .add(row.predicted_s)
        .add(row.recorded_s)
        .add(row.predicted_s / row.recorded_s - 1.0)
        .add(none)
        .add(none)
        .add(row.null_s / row.recorded_s - 1.0)
        .add(none)
        .end_row();
  return table.text();
}

}  // namespace paceline
