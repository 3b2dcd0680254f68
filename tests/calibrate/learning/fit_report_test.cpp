#include "calibrate/learning/fit_report.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

RunGroup group_of(const std::string& name, bool synchronous, double final_accuracy) {
  RunGroup group{name, {}};
  for (const double offset : {-0.01, 0.0, 0.01}) {
    TrainingRun run;
    run.name = run.group = name;
    run.plan.workers = 4;
    run.plan.batch_samples = 32.0;
    run.plan.rate_per_gradient = 0.05;
    run.plan.momentum = 0.9;
    run.plan.phases = {{synchronous, 400.0}};
    for (double at = 20.0; at <= 400.0; at += 20.0)
      run.accuracy.push_back({at, (final_accuracy + offset) * (1.0 - 80.0 / (80.0 + at))});
    run.final_accuracy = run.accuracy.back().value;
    group.runs.push_back(run);
  }
  return group;
}

}  // namespace

TEST_CASE("the ranges a learner is valid in are those of its runs") {
  const LearnerValidity validity =
      validity_of(trace_groups({group_of("bsp", true, 0.9), group_of("asp", false, 0.8)}));
  CHECK(validity.workers_min == 4.0);
  CHECK(validity.workers_max == 4.0);
  CHECK(validity.update_samples_min == 32.0);
  CHECK(validity.update_samples_max == 128.0);
  CHECK(validity.learning_rate_max == doctest::Approx(0.2));
  CHECK(validity.samples_max == 400.0 * 32.0);
  CHECK(validity.staleness_max >= 3.0);
  CHECK(validity.momentum_min == 0.9);
  CHECK(validity.momentum_max == 0.9);
  CHECK(validity.local_steps_max == 0.0);
}

TEST_CASE("the rate of local steps is that of a gradient alone, and the most of them limits a learner") {
  RunGroup local = group_of("local", true, 0.9);
  for (TrainingRun& run : local.runs) run.plan.phases.front().local_steps = 16;
  const LearnerValidity validity = validity_of(trace_groups({local}));
  CHECK(validity.update_samples_max == 128.0);
  CHECK(validity.learning_rate_max == 0.05);
  CHECK(validity.local_steps_max == 16.0);
}

TEST_CASE("a report's file is a learner, with intervals that hold order and errors of the groups left out") {
  const std::vector<RunGroup> groups{group_of("bsp", true, 0.9), group_of("asp", false, 0.8),
                                     group_of("asp-again", false, 0.8)};
  FitRequest request;
  request.name = "small";
  request.form = find_form("power-law");
  request.bootstrap = 3;
  double last = -1.0;
  const FitReport report = fit_and_report(groups, request, [&](double share) {
    CHECK(share > last);
    last = share;
  });
  CHECK(last < 1.0);
  REQUIRE(report.intervals.size() == request.form->parameters.size());
  for (const Interval& interval : report.intervals) CHECK(interval.low <= interval.high);

  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  write_file_atomically(file, fit_report_json(report, "paceline fit test"));
  const StatisticalModel model = read_statistical_model(file);
  CHECK(model.source == LearnerSource::recorded);
  CHECK(model.fitted_on == std::vector<std::string>{"bsp", "asp", "asp-again"});
  const auto json = nlohmann::json::parse(fit_report_json(report, "paceline fit test"));
  REQUIRE(json["left_out"].size() == 3);
  CHECK(json["left_out"][0]["group"] == "bsp");
  CHECK(report.residuals.size() == 3 * 3 * 20);
  // A group is held against the others: without it no synchronous run is left, which null models would need.
  for (const HeldOutRow& row : report.left_out) {
    if (row.quantity != HeldOutQuantity::final_accuracy) continue;
    INFO(row.group);
    CHECK(row.null_first.has_value() == (row.group != "bsp"));
    if (row.null_first) CHECK(*row.null_first == doctest::Approx(groups[1].mean_final_accuracy()));
  }
}
