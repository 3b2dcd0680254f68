#include "calibrate/validation/step_time_validation.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "calibrate/logs/statistics.hpp"
#include "calibrate/validation/simulated_prediction.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr double iterations_per_worker = 400.0;
constexpr int replications = 5;

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
int delayed(const RunGroup& group) {
  return delayed_workers(group.name);
}

// Median over runs; between pauses where their logs tell.
std::optional<double> step_of(const RunGroup& group) {
  std::vector<double> steps;
  for (const TrainingRun& run : group.runs)
    for (const PhaseTime& phase : run.phases)
      steps.push_back(phase.seconds_between_pauses.value_or(phase.seconds_per_step));
  if (steps.empty()) return std::nullopt;
  return median(std::move(steps));
}

RecordedSetting short_job(const std::string& name, const TrainingPlan& like, std::uint32_t workers,
                          bool synchronous) {
  RecordedSetting setting;
  setting.name = name;
  setting.plan = like;
  setting.plan.workers = workers;
  setting.plan.phases = {{synchronous, iterations_per_worker * workers}};
  setting.plan.drops_minibatches.clear();
  setting.evaluate_every_minibatches = setting.plan.workload_minibatches();
  setting.replications = replications;
  return setting;
}

class Cases {
 public:
  explicit Cases(const RecordedRuns& recorded) {
    for (const Campaign& campaign : recorded.campaigns)
      for (const RunGroup& group : campaign.groups) all_.push_back(&group);
  }

  std::vector<StepTimeCase> take() {
    for (const RunGroup* group : all_) {
      if (!is_pure(*group)) continue;
      if (delayed(*group) == 0)
        add_scaled(*group);
      else
        add_delayed(*group);
    }
    return std::move(cases_);
  }

 private:
  template <class Wanted>
  [[nodiscard]] std::vector<const RunGroup*> where(Wanted wanted) const {
    std::vector<const RunGroup*> found;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(found),
                 [&](const RunGroup* group) { return wanted(*group); });
    return found;
  }

  [[nodiscard]] const RunGroup* pure(const std::vector<const RunGroup*>& among, bool synchronous) const {
    for (const RunGroup* group : among)
      if (is_pure(*group) && is_synchronous(*group) == synchronous) return group;
    return nullptr;
  }

  // Both protocols with this many workers, from the same network with fewer, once for each count.
  void add_scaled(const RunGroup& group) {
    const std::uint32_t workers = group.plan().workers;
    std::set<std::uint32_t> counts;
    for (const RunGroup* other : all_)
      if (network_of(*other) == network_of(group) && delayed(*other) == 0 && other->plan().workers < workers)
        counts.insert(other->plan().workers);
    for (const std::uint32_t count : counts) {
      const auto sources = where([&](const RunGroup& other) {
        return network_of(other) == network_of(group) && delayed(other) == 0 && other.plan().workers == count;
      });
      for (const bool synchronous : {true, false}) add_from(group, sources, synchronous);
    }
  }

  void add_from(const RunGroup& group, const std::vector<const RunGroup*>& sources, bool synchronous) {
    const std::string name = fmt::format("{}/{}", setup_of(group.name), synchronous ? "bsp" : "asp");
    const std::string from =
        fmt::format("{} runs with {} workers", network_of(group), sources.front()->plan().workers);
    const auto known = [&](const StepTimeCase& c) {
      return c.result.row.group == name && c.result.from == from;
    };
    if (std::ranges::any_of(cases_, known)) return;
    const RunGroup* null = pure(sources, synchronous);
    if (null == nullptr || !step_of(*null)) return;
    const RunGroup* recorded = pure(undelayed_of_setup(group), synchronous);
    add({from, row_of(name, synchronous, recorded ? step_of(*recorded) : std::nullopt, *null)},
        short_job(name, group.plan(), group.plan().workers, synchronous), sources);
  }

  void add_delayed(const RunGroup& group) {
    const std::vector<const RunGroup*> plain = undelayed_of_setup(group);
    const auto others = where([&](const RunGroup& other) {
      return setup_of(other.name) == setup_of(group.name) && &other != &group;
    });
    const std::optional<double> delay = recorded_delay_s(others);
    const bool synchronous = is_synchronous(group);
    const RunGroup* null = pure(plain, synchronous);
    if (!delay || null == nullptr || !step_of(*null)) return;
    RecordedSetting setting = short_job(group.name, group.plan(), group.plan().workers, synchronous);
    setting.delay = {delayed(group), *delay};
    add({fmt::format("undelayed runs, {:.3g} s for a delayed iteration", *delay),
         row_of(group.name, synchronous, step_of(group), *null)},
        std::move(setting), plain);
  }

  [[nodiscard]] std::vector<const RunGroup*> undelayed_of_setup(const RunGroup& group) const {
    return where([&](const RunGroup& other) {
      return setup_of(other.name) == setup_of(group.name) && delayed(other) == 0;
    });
  }

  static HeldOutRow row_of(const std::string& name, bool synchronous, const std::optional<double>& recorded_s,
                           const RunGroup& null) {
    return {.group = name,
            .runs = 1,
            .quantity = synchronous ? HeldOutQuantity::synchronous_step_time
                                    : HeldOutQuantity::asynchronous_step_time,
            .recorded = recorded_s,
            .null_linear = step_of(null)};
  }

  void add(StepTimeRow result, RecordedSetting setting, const std::vector<const RunGroup*>& sources) {
    std::optional<RecordedCosts> costs = recorded_costs(sources);
    const bool synchronous = setting.plan.phases.front().synchronous;
    if (!costs || (synchronous && !costs->serial_per_worker_s)) return;
    costs->checkpoints.reset();
    setting.profile = file_name_of(fmt::format("{} from {}", result.row.group, result.from)) + ".json";
    cases_.push_back({std::move(result), std::move(setting), *costs});
  }

  std::vector<const RunGroup*> all_;
  std::vector<StepTimeCase> cases_;
};

}  // namespace

std::vector<StepTimeCase> plan_step_times(const RecordedRuns& recorded) {
  return Cases(recorded).take();
}

std::vector<StepTimeRow> predict_step_times(const RecordedRuns& recorded, const std::filesystem::path& folder,
                                            int jobs) {
  const std::vector<StepTimeCase> cases = plan_step_times(recorded);
  std::vector<std::filesystem::path> files;
  std::filesystem::create_directories(folder);
  for (const StepTimeCase& one : cases) {
    const std::filesystem::path profile = folder / one.setting.profile;
    write_file_atomically(profile, profile_text(one.costs, one.setting.plan.batch_samples, one.result.from));
    files.push_back(std::filesystem::path(profile).replace_extension(".yaml"));
    write_file_atomically(files.back(), scenario_text(one.setting, one.costs));
  }
  const std::vector<SimulatedSetting> simulated = simulate_settings(files, jobs);
  std::vector<StepTimeRow> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    rows.push_back(cases[i].result);
    double seconds = 0.0;
    double updates = 0.0;
    for (const RunResult& run : simulated[i].runs) {
      seconds += run.end_time.value();
      updates += static_cast<double>(run.updates);
    }
    rows.back().row.predicted = seconds / updates;
  }
  return rows;
}

}  // namespace paceline
