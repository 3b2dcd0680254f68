// Rules that join the keys of `job` and `learner`, and those with the rest.
#include "sim/scenario/checks/check.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {
namespace {

class JobRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    check_dataset();
    check_partition();
    if (sound("job.optimizer")) {
      check_velocity();
      check_momentum();
    }
    if (sound(schedule)) check_schedule();
  }

 private:
  const std::string schedule = "job.learning_rate_schedule";
  const DatasetSource& dataset = scenario.job.dataset;
  const OptimizerConfig& optimizer = scenario.job.optimizer;

  void check_dataset() const {
    if (!sound("job.dataset.kind", "job.dataset.path")) return;
    const bool built_in = dataset.kind.starts_with("built-in-");
    if (given("job.dataset.name") && given("job.dataset.kind") && dataset.name != dataset.kind)
      error("job.dataset.name", fmt::format("the data set is {} by its `kind`", dataset.kind),
            "remove `name`, or write the same");
    const std::string& name = dataset.name.empty() ? dataset.kind : dataset.name;
    const std::optional<std::int64_t> known = known_classes(name);
    const bool is_named = given("job.dataset.name") || given("job.dataset.kind");
    if (is_named && dataset.classes && known && *dataset.classes != *known)
      error("job.dataset.classes", fmt::format("{} has {} classes", name, *known), "remove `classes`");
    if (!built_in && dataset.path.empty() && scenario.learner.kind == LearnerKind::network)
      error("job.dataset.kind", fmt::format("dataset `{}` needs `path`", dataset.kind),
            "give the folder of its files, relative to this file");
    if (built_in && !dataset.path.empty())
      error("job.dataset.path", "built-in data is generated: `path` has no meaning",
            "remove `path`, or choose another `kind`");
  }

  void check_partition() const {
    if (!sound("job.dataset", "cluster.workers")) return;
    const auto workers = static_cast<std::int64_t>(scenario.cluster.workers.size());
    if (dataset.partition == DataPartition::equal_shards && dataset.train_samples < workers)
      error("job.dataset.partition",
            fmt::format("{} training samples do not make {} shards", dataset.train_samples, workers),
            "raise `train_samples`, or write `partition: whole`");
  }

  void warn_unused(const std::string& key, const std::string& rule, std::string message) const {
    if (meant(key, rule)) warn(key, std::move(message));
  }

  void check_velocity() const {
    const std::string rule = "job.optimizer.velocity_at_switch";
    const bool scales = optimizer.velocity_at_switch == VelocityAtSwitch::scale;
    if (scales && !optimizer.velocity_scale)
      error(rule, "`velocity_at_switch: scale` needs `velocity_scale`",
            "for example `velocity_scale: 0.125`");
    if (!scales && optimizer.velocity_scale)
      warn_unused("job.optimizer.velocity_scale", rule,
                  "`velocity_scale` is only used by `velocity_at_switch: scale`");
  }

  void check_momentum() const {
    const std::string rule = "job.optimizer.momentum_at_switch";
    const MomentumAtSwitch& at_switch = optimizer.momentum_at_switch;
    if (has_stages(at_switch.rule) && !at_switch.stage)
      error(rule, "this rule needs `momentum_stage`: how long a stage lasts",
            "for example `momentum_stage: 1 epoch`");
    if (!has_stages(at_switch.rule) && at_switch.stage)
      warn_unused(
          "job.optimizer.momentum_stage", rule,
          "`momentum_stage` is only used by `momentum_at_switch: scaled-until`, `staged` or `additive`");
    if (optimizer.momentum != 0.0) return;
    if (optimizer.nesterov) error("job.optimizer.nesterov", "`nesterov` needs `momentum` above 0");
    for (const std::string key :
         {"job.optimizer.momentum_at", "job.optimizer.velocity_at_switch", rule.c_str()})
      if (given(key)) warn(key, fmt::format("`{}` has no effect: `momentum` is 0", key));
  }

  void check_schedule() const {
    const std::vector<double>& milestones = optimizer.schedule.milestones;
    const Kind kind = schedule_point(optimizer.schedule.basis);
    for (std::size_t i = 0; i < milestones.size(); ++i) {
      const std::string key = fmt::format("{}.milestones.{}", schedule, i);
      if (i > 0 && milestones[i] <= milestones[i - 1])
        error(key, fmt::format("milestones must ascend: {} follows {}", kind.print(milestones[i]),
                               kind.print(milestones[i - 1])));
      check_reached(milestones[i], "milestone", key);
    }
    const bool falls = optimizer.schedule.shape == ScheduleShape::cosine;
    if (falls && optimizer.schedule.end <= optimizer.schedule.warmup.value_or(0.0))
      error(schedule + ".end", "the rate falls from the end of the warm-up on: `end` must come after it",
            "raise `end`, or shorten `warmup`");
    if (optimizer.schedule.warmup)
      check_reached(*optimizer.schedule.warmup, "the end of the warm-up at", schedule + ".warmup");
  }

  // Warns of a point of the schedule that lies at the end of the job or after it.
  void check_reached(double point, const char* what, const std::string& key) const {
    const ScheduleBasis basis = optimizer.schedule.basis;
    const auto warn_late = [&](const std::string& end) {
      warn(key, fmt::format("{} {} is never reached: {}", what, schedule_point(basis).print(point), end));
    };
    if (basis == ScheduleBasis::epoch && sound("stop.epochs") && point >= scenario.stop.epochs)
      warn_late(fmt::format("the job ends at epoch {}", scenario.stop.epochs));
    if (basis == ScheduleBasis::progress && point >= 1.0) warn_late("the job ends there");
    if (basis != ScheduleBasis::step || !workload_is_sound() || !sound("synchronization")) return;
    if (const double updates = expected_updates(); point >= updates)
      warn_late(fmt::format("the job has about {:.0f} updates", updates));
  }
};

class LearnerRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (!sound("learner.kind")) return;
    const LearnerKind kind = scenario.learner.kind;
    const bool has_model = kind == LearnerKind::statistical || kind == LearnerKind::assumed;
    if (kind == LearnerKind::none && meant("learner.model", "learner.kind"))
      warn("learner.model", "`model` has no effect: nothing learns in this job");
    const bool names_file = meant("learner.model", "learner.kind");
    if (kind == LearnerKind::network && names_file && !scenario.learner.trains_file())
      error("learner.model", "the learner `network` trains a TorchScript file, which ends in .pt",
            "remove `model` to train the network of the list that `job.network` names");
    if (has_model) check_model();
    if (kind == LearnerKind::none && sound("stop.accuracy") && scenario.stop.accuracy)
      error("stop.accuracy", "a job with `learner: {kind: none}` has no accuracy to reach",
            "remove `stop.accuracy`, or choose another learner");
    if (kind == LearnerKind::network && sound("job.dataset")) check_network_learner();
  }

 private:
  void check_model() const {
    if (!given("learner.model"))
      error("learner", "missing key `model`: this kind of learner is read from a file",
            "for example `model: learners/resnet32-cifar10.json`; `paceline fit` writes such files");
    if (sound("job.optimizer") && scenario.job.optimizer.kind == OptimizerKind::adamw)
      error("job.optimizer.kind", "no recorded runs say what AdamW does to a statistical learner",
            "train the network itself (`learner: {kind: network}`), ask for times alone (`kind: none`), or "
            "write `kind: sgd`");
    for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
      if (scenario.synchronization[i].config.exchange == Exchange::parameters)
        error(in_phase(i, "exchange"), "this learner knows gradients only, not the exchange of parameters",
              "write `exchange: gradients`, or use the learner `network`");
  }

  void check_network_learner() const {
    if (!given("job.dataset.kind"))
      error("learner.kind", "`kind: network` needs `job.dataset.kind`",
            "for example `dataset: {kind: built-in-images, ...}`");
    if (scenario.job.dataset.test_samples == 0)
      error("learner.kind", "`kind: network` needs `job.dataset.test_samples` above 0",
            "accuracy is measured on them");
  }
};

}  // namespace

void check_job(const Scenario& scenario, const Reading& reading) {
  JobRules(scenario, reading).check();
  LearnerRules(scenario, reading).check();
}

}  // namespace paceline
