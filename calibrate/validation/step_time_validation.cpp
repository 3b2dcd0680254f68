#include "calibrate/validation/step_time_validation.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "calibrate/validation/recorded_scenario.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr double iterations_per_worker = 400.0;
constexpr int replications = 5;

using Groups = std::vector<const RunGroup*>;

// "resnet32-cifar10" of "resnet32-cifar10-16"
std::string network_of(const RunGroup& group) {
  const std::string setup = setup_of(group.name);
  return setup.substr(0, setup.rfind('-'));
}

bool is_pure(const RunGroup& group) {
  return group.plan().phases.size() == 1;
}
bool is_synchronous(const RunGroup& group) {
  return group.plan().phases.front().synchronous;
}
bool are_of_one_setup(const RunGroup& one, const RunGroup& other) {
  return setup_of(one.name) == setup_of(other.name);
}

// Of the first group that is synchronous, or asynchronous, throughout: the median over its runs, between
// pauses where their logs tell.
std::optional<double> pure_step(const Groups& groups, bool synchronous) {
  const auto found = std::ranges::find_if(groups, [&](const RunGroup* group) {
    return is_pure(*group) && is_synchronous(*group) == synchronous;
  });
  if (found == groups.end()) return std::nullopt;
  std::vector<double> steps;
  for (const TrainingRun& run : (*found)->runs)
    for (const PhaseTime& phase : run.phases)
      steps.push_back(phase.seconds_between_pauses.value_or(phase.seconds_per_step));
  return steps.empty() ? std::nullopt : std::optional(median(std::move(steps)));
}

struct StepTimeCase {
  StepTimeRow result;  // without the prediction
  RecordedSetting setting;
  RecordedCosts costs;
};

class Cases {
 public:
  explicit Cases(const RecordedRuns& recorded) {
    for (const Campaign& campaign : recorded.campaigns)
      for (const RunGroup& group : campaign.groups)
        (group.plan().delayed_workers == 0 ? undelayed_ : delayed_).push_back(&group);
    for (const Campaign& campaign : recorded.campaigns)
      for (const RunGroup& group : campaign.groups) {
        if (!is_pure(group)) continue;
        group.plan().delayed_workers == 0 ? add_scaled(group) : add_delayed(group);
      }
  }
  [[nodiscard]] const std::vector<StepTimeCase>& all() const { return cases_; }

 private:
  static Groups where(const Groups& groups, const std::function<bool(const RunGroup&)>& is_wanted) {
    Groups wanted;
    for (const RunGroup* group : groups)
      if (is_wanted(*group)) wanted.push_back(group);
    return wanted;
  }
  static Groups of_setup(const Groups& groups, const RunGroup& group) {
    return where(groups,
                 [&](const RunGroup& other) { return &other != &group && are_of_one_setup(other, group); });
  }

  // Both protocols with this many workers, from the same network with fewer, once for each count.
  void add_scaled(const RunGroup& group) {
    const Groups same =
        where(undelayed_, [&](const RunGroup& other) { return network_of(other) == network_of(group); });
    const Groups recorded =
        where(undelayed_, [&](const RunGroup& other) { return are_of_one_setup(other, group); });
    std::set<std::uint32_t> fewer;
    for (const RunGroup* other : same)
      if (other->plan().workers < group.plan().workers) fewer.insert(other->plan().workers);
    for (const std::uint32_t count : fewer) {
      const Groups sources =
          where(same, [&](const RunGroup& other) { return other.plan().workers == count; });
      const std::string from = fmt::format("{} runs with {} workers", network_of(group), count);
      for (const bool synchronous : {true, false})
        add(fmt::format("{}/{}", setup_of(group.name), synchronous ? "bsp" : "asp"), from, group.plan(),
            synchronous, pure_step(recorded, synchronous), sources);
    }
  }

  void add_delayed(const RunGroup& group) {
    const Groups plain = of_setup(undelayed_, group);
    Groups others = plain;
    for (const RunGroup* other : of_setup(delayed_, group)) others.push_back(other);
    const std::optional<double> delay_s = recorded_delay_s(others, group.plan().added_latency_s);
    if (!delay_s) return;
    const bool synchronous = is_synchronous(group);
    add(group.name, fmt::format("undelayed runs, {:.3g} s for a delayed iteration", *delay_s), group.plan(),
        synchronous, pure_step({&group}, synchronous), plain, {group.plan().delayed_workers, *delay_s});
  }

  // A short job with a plan like this one; nothing where the sources do not give its times, or a null model.
  void add(const std::string& name, const std::string& from, const TrainingPlan& like, bool synchronous,
           std::optional<double> recorded_s, const Groups& sources, const Delay& delay = {}) {
    const auto is_known = [&](const StepTimeCase& one) {
      return one.result.row.group == name && one.result.from == from;
    };
    const std::optional<double> null_s = pure_step(sources, synchronous);
    std::optional<RecordedCosts> costs = recorded_costs(sources);
    if (!null_s || !costs || (synchronous && !costs->serial_per_worker_s)) return;
    if (std::ranges::any_of(cases_, is_known)) return;
    costs->checkpoints.reset();
    TrainingPlan plan = like;
    plan.phases = {{synchronous, iterations_per_worker * like.workers}};
    plan.drops_minibatches.clear();
    cases_.push_back({{from,
                       {.group = name,
                        .runs = 1,
                        .quantity = synchronous ? HeldOutQuantity::synchronous_step_time
                                                : HeldOutQuantity::asynchronous_step_time,
                        .recorded = recorded_s,
                        .null_linear = null_s}},
                      {.name = name,
                       .plan = plan,
                       .profile = file_name_of(fmt::format("{} from {}", name, from)) + ".json",
                       .learner = "",
                       .evaluate_every_minibatches = plan.workload_minibatches(),
                       .delay = delay,
                       .replications = replications},
                      *costs});
  }

  Groups undelayed_;
  Groups delayed_;
  std::vector<StepTimeCase> cases_;
};

}  // namespace

std::vector<StepTimeRow> predict_step_times(const RecordedRuns& recorded, const fs::path& folder, int jobs) {
  const Cases cases(recorded);
  std::vector<fs::path> files;
  fs::create_directories(folder);
  for (const auto& [result, setting, costs] : cases.all()) {
    const fs::path profile = folder / setting.profile;
    write_file_atomically(profile, profile_text(costs, setting.plan.batch_samples, result.from));
    files.push_back(fs::path(profile).replace_extension(".yaml"));
    write_file_atomically(files.back(), scenario_text(setting, costs));
  }
  std::vector<StepTimeRow> rows;
  for (const SimulatedSetting& simulated : simulate_settings(files, jobs)) {
    rows.push_back(cases.all()[rows.size()].result);
    double seconds = 0.0;
    double updates = 0.0;
    for (const RunResult& run : simulated.runs) {
      seconds += run.end_time.value();
      updates += static_cast<double>(run.updates);
    }
    rows.back().row.predicted = seconds / updates;
  }
  return rows;
}

}  // namespace paceline
