#include "calibrate/validation/live_validation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "calibrate/validation/live_gate.hpp"

using namespace paceline;

namespace {

PredictedAndReal row(double predicted, double real) {
  PredictedAndReal one;
  one.quantity = time_quantity;
  one.predicted = predicted;
  one.interval = {predicted - 1.0, predicted + 1.0};
  one.real = real;
  one.range = {real - 0.1, real + 0.1};
  one.error = real / predicted - 1.0;
  one.runs = 2;
  one.inside = 1;
  return one;
}

RunResult run_of(double end, std::uint64_t updates, const std::vector<double>& iteration_times) {
  RunResult run;
  run.end_time = Seconds{end};
  run.updates = updates;
  run.samples = static_cast<std::int64_t>(updates) * 10;
  for (const double time : iteration_times) {
    IterationRecord iteration;
    iteration.start = Seconds{1.0};
    iteration.finish = Seconds{2.0 + time};  // with the processor time of messages
    iteration.compute_time = Seconds{time};
    run.iterations.push_back(iteration);
  }
  return run;
}

double value_of(const std::vector<Observation>& all, const std::string& quantity) {
  for (const Observation& one : all)
    if (one.quantity == quantity) return one.value;
  FAIL(quantity);
  return 0.0;
}

}  // namespace

TEST_CASE("what a run says: median iteration of each worker, rates by the run's end") {
  // 20 updates of 10 samples in 4 s: 5 updates and 50 samples a second. Median of .1, .2, .9 s: .2 s.
  const std::vector<Observation> all = observations_of(run_of(4.0, 20, {0.1, 0.9, 0.2}));
  CHECK(value_of(all, "iteration of worker 0") == doctest::Approx(0.2));
  CHECK(value_of(all, "updates a second") == doctest::Approx(5.0));
  CHECK(value_of(all, rate_quantity) == doctest::Approx(50.0));
  CHECK(value_of(all, "total time") == doctest::Approx(4.0));
}

TEST_CASE("staleness is told by worker, and as a distance between distributions") {
  // Predicted: worker 0 is stale by 1 in half of 4 gradients, worker 1 by 2 in 2 of 2. Really: all of worker
  // 0's by 1. Half of 4/6 of all gradients lie elsewhere: 1/3 of all.
  RunResult predicted = run_of(1.0, 6, {});
  predicted.gradients_applied = 6;
  predicted.staleness = {{{0, 0}, 2}, {{0, 1}, 2}, {{1, 2}, 2}};
  RunResult real = predicted;
  real.staleness = {{{0, 1}, 4}, {{1, 2}, 2}};
  CHECK(value_of(observations_of(predicted), "mean staleness of worker 0") == doctest::Approx(0.5));
  CHECK(value_of(observations_of(real), "mean staleness of worker 1") == doctest::Approx(2.0));

  const LiveComparison comparison =
      compare_live(Scenario{}, Profiles{}, {predicted}, {live::RealRun{.result = real}});
  const auto row = std::ranges::find(comparison.rows, distance_quantity, &PredictedAndReal::quantity);
  REQUIRE(row != comparison.rows.end());
  CHECK(*row->predicted == doctest::Approx(0.0));
  CHECK(*row->real == doctest::Approx(1.0 / 3.0));
}

TEST_CASE("scenarios are ranked by those pairs whose real runs are apart") {
  // Real 1, 2, 2.1 s: the last two overlap. Predicted 2, 3, 1 s: 1 < 2 agrees, 1 against 2.1 is opposed.
  const std::vector<LiveComparison> all = {
      {"a", {row(2.0, 1.0)}}, {"b", {row(3.0, 2.0)}}, {"c", {row(1.0, 2.1)}}};
  const Ranking ranking = ranking_of(all, time_quantity);
  CHECK(ranking.agreeing == 1);
  CHECK(ranking.opposed == 1);
  CHECK(ranking.tau() == doctest::Approx(0.0));
  CHECK_FALSE(ranking_of(all, rate_quantity).tau().has_value());
}

TEST_CASE("the verdict counts real values inside intervals and names the largest error") {
  // Errors: 1/2 - 1 = -50 %, 2/3 - 1 = -33 %.
  const std::vector<LiveComparison> all = {{"a", {row(2.0, 1.0)}}, {"b", {row(3.0, 2.0)}}};
  const std::string verdict = live_verdict(all);
  CHECK(verdict.find("2 of 4 real values") != std::string::npos);
  CHECK(verdict.find("-50.0 %") != std::string::npos);
}

TEST_CASE("a speed deviates by the share of the expected time by which it is longer or shorter") {
  CHECK(live::deviation(Seconds{1.3}, Seconds{1.0}) == doctest::Approx(0.3));
  CHECK(live::deviation(Seconds{1.5}, Seconds{2.0}) == doctest::Approx(0.25));
}

namespace {

// A machine whose iterations take one after another of these times, looked at each 3 s.
struct ChangingMachine {
  std::deque<Seconds> times;
  Seconds now{};
  bool runs_fail = false;
  int runs = 0;

  [[nodiscard]] live::MachineLooks run(Seconds longest) {
    const auto look = [&] {
      const Seconds next = times.front();
      times.pop_front();
      return next;
    };
    const PaceProbe probe{look, [&] { now += Seconds{3.0}; }, [&] { return now; }};
    return at_usual_pace(Seconds{1.0}, 0.1, longest, probe, [&](const live::MachineLooks&) {
      ++runs;
      now += Seconds{2.0};
      return runs_fail;
    });
  }
};

}  // namespace

TEST_CASE("a run waits for the machine to be as fast as before the prediction, and no longer than it may") {
  // An iteration took 1 s before and takes 1.5, 0.8, 1.05 s now; 0.1 of it is allowed.
  ChangingMachine patient{{Seconds{1.5}, Seconds{0.8}, Seconds{1.05}, Seconds{0.95}}};
  const live::MachineLooks as_before = patient.run(Seconds{100.0});
  CHECK(as_before.before == Seconds{1.05});
  CHECK(as_before.after == Seconds{0.95});
  CHECK(as_before.usual == Seconds{1.0});
  CHECK(as_before.slowness() == doctest::Approx(std::sqrt(1.05 * 0.95)));
  CHECK(as_before.waited == Seconds{6.0});
  CHECK(as_before.repeated == 0);
  ChangingMachine gives_up{{Seconds{1.5}, Seconds{0.8}, Seconds{1.5}}};
  const live::MachineLooks gave_up = gives_up.run(Seconds{2.0});
  CHECK(gave_up.before == Seconds{0.8});
  CHECK(gave_up.waited == Seconds{3.0});
  CHECK(gives_up.runs == 1);
  ChangingMachine begins{{Seconds{1.5}}};
  const live::MachineLooks at_once = begins.run(Seconds{});
  CHECK(at_once.before == Seconds{1.5});
  CHECK_FALSE(at_once.after);
  CHECK(at_once.slowness() == doctest::Approx(1.5));
  CHECK(at_once.waited == Seconds{});
}

TEST_CASE("a run during which the machine changed is made again, and the one that counts began later") {
  // 1 s before, 1.3 s after the first run of 2 s; 3 s later 1 s again, and 1.02 s after the second run.
  ChangingMachine machine{{Seconds{1.0}, Seconds{1.3}, Seconds{1.0}, Seconds{1.02}}};
  const live::MachineLooks looks = machine.run(Seconds{100.0});
  CHECK(machine.runs == 2);
  CHECK(looks.repeated == 1);
  CHECK(looks.waited == Seconds{2.0 + 3.0});
  CHECK(looks.after == Seconds{1.02});
}

TEST_CASE("a run that failed is not made again, however the machine changed") {
  ChangingMachine machine{.times = {Seconds{1.0}}, .runs_fail = true};
  CHECK(machine.run(Seconds{100.0}).repeated == 0);
  CHECK(machine.runs == 1);
}

TEST_CASE("what workers take beside others that wait is sealed apart from what they take beside busy ones") {
  const TogetherTime busy{32, {Seconds{2.5e-3}, Seconds{1e-4}}, {Seconds{2.4e-3}, Seconds{2e-4}}};
  const TogetherTime waiting{48, {Seconds{2.1e-3}, Seconds{3e-4}}, {Seconds{2.2e-3}, Seconds{4e-4}}};
  const auto asynchronous = gate_json({.together = {busy, busy}});
  CHECK(asynchronous.at("iterations_together").size() == 2);
  CHECK_FALSE(asynchronous.contains("iterations_waiting_for_all"));
  const auto synchronous = gate_json({.together = {busy, busy}, .waiting = {busy, waiting}});
  CHECK(synchronous.at("iterations_together").at(1).at("measured_s") == 2.5e-3);
  CHECK(synchronous.at("iterations_waiting_for_all").at(1).at("batch") == 48);
  CHECK(synchronous.at("iterations_waiting_for_all").at(1).at("measured_s") == 2.1e-3);
  CHECK(synchronous.at("iterations_waiting_for_all").at(1).at("between_predicted_s") == 4e-4);
  CHECK_FALSE(synchronous.contains("iterations_waiting_for_all_smallest_batch"));
  const auto small = gate_json({.together_small = {busy, busy}, .waiting_small = {waiting, busy}});
  CHECK(small.at("iterations_together_smallest_batch").at(0).at("measured_s") == 2.5e-3);
  CHECK(small.at("iterations_waiting_for_all_smallest_batch").at(0).at("measured_s") == 2.1e-3);
}

TEST_CASE("deviations that were accepted stand beside the sealed prediction") {
  GateFigures figures;
  CHECK_FALSE(gate_json(figures).contains("accepted"));
  figures.deviations = {"worker 0 takes 2 ms, by its profile 1 ms"};
  CHECK(gate_json(figures)["accepted"].size() == 1);
}

TEST_CASE("the predicted interval is that of one more run: by Student's t, wider than a few runs lie apart") {
  // 11, 12, 13, 14, 15 s: m = 13, s = 1.5811, t(0.95, 4) = 2.1318: 13 ± 2.1318 · 1.5811 · √1.2 = 13 ± 3.692.
  const PredictedAndReal row = row_of_values({11.0, 12.0, 13.0, 14.0, 15.0}, {{16.6}, {16.8}});
  REQUIRE(row.interval.has_value());
  CHECK(row.interval->low == doctest::Approx(13.0 - 3.692).epsilon(1e-3));
  CHECK(row.interval->high == doctest::Approx(13.0 + 3.692).epsilon(1e-3));
  CHECK(row.inside == 1);
}

TEST_CASE("a machine is as usual around a run if both looks are within a tenth of it") {
  live::MachineLooks looks{.usual = Seconds{1.0}, .before = Seconds{1.08}};
  CHECK_FALSE(looks.is_as_usual());  // what it was afterwards is not known
  looks.after = Seconds{0.92};
  CHECK(looks.is_as_usual());
  looks.after = Seconds{1.12};
  CHECK_FALSE(looks.is_as_usual());
  looks = {.usual = Seconds{1.0}, .before = Seconds{0.88}, .after = Seconds{1.0}};
  CHECK_FALSE(looks.is_as_usual());
}

TEST_CASE("what runs of a machine as usual are off by is told apart from what all are") {
  // Predicted 10 s, real 12, 20, 11 s: median 12, +20 %. The machine was slower around the run of 20 s, of
  // the others the median is 11.5, +15 %. Of a run without looks nothing is known.
  const auto run = [](double end, double look_s) {
    return live::RealRun{.result = run_of(end, 1, {}),
                         .machine = live::MachineLooks{
                             .usual = Seconds{1.0}, .before = Seconds{look_s}, .after = Seconds{1.0}}};
  };
  const LiveComparison comparison = compare_live(Scenario{}, Profiles{}, {run_of(10.0, 1, {})},
                                                 {run(12.0, 1.0), run(20.0, 1.5), run(11.0, 0.95)});
  const std::string csv = live_validation_csv({comparison});
  CHECK(csv.find("null_model,runs_at_usual_pace,error_at_usual_pace\n") != std::string::npos);
  CHECK(csv.find(",2,0.1") != std::string::npos);
  const auto row = std::ranges::find(comparison.rows, "total time", &PredictedAndReal::quantity);
  REQUIRE(row != comparison.rows.end());
  CHECK(*row->error == doctest::Approx(0.2));
  CHECK(*row->error_at_usual_pace == doctest::Approx(0.15));
  CHECK(row->runs_at_usual_pace == 2);
  CHECK(live_validation_text({comparison}).find("+15.0 % (2)") != std::string::npos);
  const LiveComparison unknown =
      compare_live(Scenario{}, Profiles{}, {run_of(10.0, 1, {})}, {{.result = run_of(12.0, 1, {})}});
  CHECK_FALSE(unknown.rows.back().error_at_usual_pace);
}

TEST_CASE("no interval goes below 0, and that of an accuracy not above 1") {
  // Accuracies from 0.1 to 0.9 leave everything open: 0.5 ± 2.1318 · 0.3162 · √1.2 = 0.5 ± 0.738.
  std::vector<RunResult> runs;
  std::vector<live::RealRun> real;
  for (const double accuracy : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    runs.push_back(run_of(1.0, 1, {}));
    runs.back().curve.emplace_back();
    runs.back().curve.back().accuracy = accuracy;
    real.push_back({.result = runs.back()});
  }
  const LiveComparison comparison = compare_live(Scenario{}, Profiles{}, runs, real);
  const auto row = std::ranges::find(comparison.rows, "final accuracy", &PredictedAndReal::quantity);
  REQUIRE(row != comparison.rows.end());
  REQUIRE(row->interval.has_value());
  CHECK(row->interval->low == 0.0);
  CHECK(row->interval->high == 1.0);
}
