#include "calibrate/learning/logs_file.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "calibrate/learning/curve_log.hpp"
#include "calibrate/learning/logged_phase.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/description/reading.hpp"

namespace paceline {

enum class StepMeaning { updates, minibatches, samples };

struct LogColumnsText {
  std::string step = "step";
  std::string accuracy = "value";
  std::string loss = "value";
  std::string run;
};

struct LogRunText {
  std::filesystem::path accuracy;
  std::filesystem::path loss;
  std::string run;
};

struct TrainedPhaseText : LogPhaseText {
  std::uint32_t local_steps = 0;
};

struct LogGroupText {
  std::string name;
  TrainingPlan plan;  // all but its phases; drops in parts of the workload
  double workload = 0.0;
  std::vector<TrainedPhaseText> phases;
  StepMeaning step = StepMeaning::updates;
  std::vector<LogRunText> runs;
};

struct LogsText {
  std::string name;
  std::string network;
  std::optional<std::int64_t> parameters;
  std::string dataset;
  int classes = 10;
  LogColumnsText columns;
  std::vector<LogGroupText> groups;
};

void describe(Visitor& v, LogColumnsText& c) {
  v.optional("step", c.step, Text{}, "column of the steps");
  v.optional("accuracy", c.accuracy, Text{}, "column of the test accuracy, 0-1");
  v.optional("loss", c.loss, Text{}, "column of the training loss");
  v.optional("run", c.run, Text{}, "column that tells the runs of one file apart",
             Absent{"one run in each file"});
}

void describe(Visitor& v, ChiefPauses& c) {
  v.required("every", c.every_minibatches, Number{above(0)},
             "mini-batches of the workload, those of all workers counted");
  v.required(
      "iterations", c.iterations, Number{at_least(0)},
      "how long the first worker stands still under asp while the others go on, in iterations of a worker");
}

void describe(Visitor& v, LogRunText& c) {
  v.required("accuracy", c.accuracy, Path{}, "CSV of the test accuracy, relative to this file");
  v.optional("loss", c.loss, Path{}, "CSV of the training loss", Absent{"loss is not fitted"});
  v.optional("run", c.run, Text{}, "the value of `columns.run` of this run",
             Absent{"every run of the file is one of the group"});
}

void describe(Visitor& v, TrainedPhaseText& c) {
  describe(v, static_cast<LogPhaseText&>(c));
  v.optional("local_steps", c.local_steps, Whole{1, 1U << 20U},
             "of each worker at `learning_rate`, until all parameters become their mean; under bsp",
             Absent{"gradients meet at every step"});
}

void describe(Visitor& v, LogGroupText& c) {
  v.required("name", c.name, Text{}, "of the setting that its runs share");
  v.required("workers", c.plan.workers, Whole{1, 1U << 20U}, "that train");
  v.required("batch", c.plan.batch_samples, Number{at_least(1)}, "samples of one worker's mini-batch");
  v.required("learning_rate", c.plan.rate_per_gradient, Number{above(0)},
             "of one gradient; an update's is this times the gradients it combines");
  v.required("momentum", c.plan.momentum, Number{from_and_below(0, 1)}, "of the optimizer");
  v.required("workload", c.workload, Number{above(0)}, "mini-batches of a run");
  v.required("phases", c.phases, ListOf{Section{}, "phase", 1, 1000}, "one after the other");
  v.optional("drops", c.plan.drops_minibatches, ListOf{percent(above_up_to(0, 1)), "drop"},
             "of the learning rate, in parts of the workload");
  v.optional("drop_factor", c.plan.drop_factor, Number{above_up_to(0, 1)},
             "multiplies the rate at each drop");
  v.required("step", c.step,
             Choice{{"updates", StepMeaning::updates},
                    {"minibatches", StepMeaning::minibatches},
                    {"samples", StepMeaning::samples}},
             "what the step column counts");
  v.optional("checkpoints", c.plan.chief_pauses, Section{}, "that the first worker writes",
             Absent{"nobody stands still"});
  v.required("runs", c.runs, ListOf{Section{}, "run", 1, 100000}, "that differ by chance only");
}

void describe(Visitor& v, LogsText& c) {
  v.required("name", c.name, Text{}, "of the learner");
  v.required("network", c.network, Text{}, "that was trained, as scenarios name it");
  v.optional("parameters", c.parameters, Whole{1}, "of the network", Absent{"how many is not recorded"});
  v.required("dataset", c.dataset, Text{}, "that it was trained on, as scenarios name it");
  v.required("classes", c.classes, Whole{2, 1000000}, "of the data set");
  v.optional("columns", c.columns, Section{}, "of the CSV files");
  v.required("groups", c.groups, ListOf{Section{}, "group", 1, 1000}, "of runs of one setting");
}

namespace {

TrainingPlan plan_of(const LogGroupText& text) {
  TrainingPlan plan = text.plan;
  for (const TrainedPhaseText& phase : text.phases)
    plan.phases.push_back(
        {phase.policy == LoggedPolicy::bsp, phase.share * text.workload, phase.local_steps});
  for (double& drop : plan.drops_minibatches) drop *= text.workload;
  return plan;
}

// Reads the curves of all runs of one group and collects their defects.
struct GroupReader {
  const LogsText& text;
  const LogGroupText& group;
  std::vector<std::string>& defects;
  TrainingPlan plan = plan_of(group);

  [[nodiscard]] RunGroup read() const {
    RunGroup read{group.name, {}};
    for (const LogRunText& run : group.runs)
      for (const LogRunText& one : single_runs(run)) read.runs.push_back(read_run(one));
    return read;
  }

  // A file whose runs are not named stands for each of them.
  [[nodiscard]] std::vector<LogRunText> single_runs(const LogRunText& run) const {
    if (text.columns.run.empty() || !run.run.empty()) return {run};
    std::vector<LogRunText> all;
    for (std::string& value : runs_in(run.accuracy, text.columns.run))
      all.push_back({run.accuracy, run.loss, std::move(value)});
    if (all.empty()) throw UserError(fmt::format("{}: has no usable row", run.accuracy.string()), "");
    return all;
  }

  [[nodiscard]] TrainingRun read_run(const LogRunText& run) const {
    const std::string file = run.accuracy.string();
    TrainingRun made{.name = run.run.empty() ? file : fmt::format("{} ({})", file, run.run),
                     .group = group.name,
                     .classes = text.classes,
                     .plan = plan,
                     .accuracy = curve(run.accuracy, text.columns.accuracy, run.run)};
    if (!run.loss.empty()) made.loss = curve(run.loss, text.columns.loss, run.run);
    if (made.accuracy.empty()) throw UserError(fmt::format("{}: has no usable row", made.name), "");
    made.final_accuracy = made.accuracy.back().value;
    return made;
  }

  [[nodiscard]] Curve curve(const std::filesystem::path& file, const std::string& column,
                            const std::string& run) const {
    CurveColumns columns{.step = text.columns.step, .value = column, .time = std::nullopt};
    if (!text.columns.run.empty()) {
      columns.run = text.columns.run;
      columns.run_value = run;
    }
    const auto minibatches_at = [&](double step) {
      if (group.step == StepMeaning::updates) return plan.minibatches_at_step(step);
      return group.step == StepMeaning::samples ? step / plan.batch_samples : step;
    };
    return read_positioned(file, columns, minibatches_at, defects);
  }
};

void check_groups(const LogsText& text, const Reading& reading) {
  for (std::size_t g = 0; g < text.groups.size(); ++g) {
    const LogGroupText& group = text.groups[g];
    const std::string path = fmt::format("groups.{}", g);
    double sum = 0.0;
    for (std::size_t p = 0; p < group.phases.size(); ++p) {
      const TrainedPhaseText& phase = group.phases[p];
      sum += phase.share;
      if (phase.local_steps > 0 && phase.policy != LoggedPolicy::bsp)
        reading.problems().error(reading.spot(fmt::format("{}.phases.{}.local_steps", path, p)),
                                 "local steps are fitted under `policy: bsp` alone");
    }
    if (reading.is_sound(path + ".phases") && std::abs(sum - 1.0) > phase_share_tolerance)
      reading.problems().error(
          reading.spot(path + ".phases"),
          fmt::format("the shares of the phases sum to {:.10g} %, not to 100 %", 100.0 * sum));
    const std::vector<double>& drops = group.plan.drops_minibatches;
    for (std::size_t i = 1; i < drops.size(); ++i)
      if (drops[i] <= drops[i - 1])
        reading.problems().error(reading.spot(fmt::format("{}.drops.{}", path, i)), "drops must ascend");
    for (std::size_t r = 0; r < group.runs.size(); ++r)
      if (!group.runs[r].run.empty() && text.columns.run.empty())
        reading.problems().error(reading.spot(fmt::format("{}.runs.{}.run", path, r)),
                                 "a run is named, but no `columns.run` that tells runs apart");
  }
}

}  // namespace

TrainingLogs read_logs_file(const std::filesystem::path& file, bool skip_bad) {
  Problems problems;
  const std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) problems.throw_if_errors(file.string());
  LogsText text;
  Reading reading(problems);
  read_document(*root, text, reading);
  check_groups(text, reading);
  problems.throw_if_errors(file.string());
  TrainingLogs logs{text.name, {text.network, text.parameters, text.dataset, text.classes}, {}, {}};
  std::vector<std::string> defects;
  for (const LogGroupText& group : text.groups)
    logs.groups.push_back(GroupReader{text, group, defects}.read());
  logs.notes = accept_or_refuse(defects, skip_bad);
  return logs;
}

}  // namespace paceline
