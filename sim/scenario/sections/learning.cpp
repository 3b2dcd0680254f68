// The sections `learner`, `evaluation`, `stop` and `expect`: what accuracy comes of, when it is looked at,
// when it is enough, and what must hold of the results.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

void describe(Visitor& v, LearnerConfig& c) {
  v.required(
      "kind", c.kind,
      Choice{{"network", LearnerKind::network},
             {"statistical", LearnerKind::statistical},
             {"assumed", LearnerKind::assumed},
             {"none", LearnerKind::none}},
      "network: train the real network inside the simulation; statistical: a model fitted to recorded runs; "
      "assumed: a model without such runs; none: only throughput is asked");
  v.optional("model", c.model, Path{}, "learner file of `paceline fit`, relative to this file",
             Absent{"no file: for `network` and `none`"});
}

void describe(Visitor& v, EvaluationConfig& c) {
  v.required("every", c.every, how_many(), "samples, updates or epochs between two evaluations");
  v.optional(
      "who_pays", c.who_pays,
      Choice{{"free", EvaluationPayer::free},
             {"inline", EvaluationPayer::inline_workers},
             {"evaluator", EvaluationPayer::evaluator}},
      "whose time an evaluation takes; free: nobody's; inline: every worker's; evaluator: a machine of its "
      "own, so that results come late");
  v.optional("cost", c.cost, duration(at_least(0)), "time of one evaluation");
}

void describe(Visitor& v, StopConfig& c) {
  v.required("epochs", c.epochs, Number{above_up_to(0, 1e6)},
             "the workload: passes over the training samples");
  v.optional("accuracy", c.accuracy, Number{above_up_to(0, 1)},
             "target, as a fraction: the job ends at the first evaluation that reaches it",
             Absent{"the whole workload is run"});
  v.optional("evaluations_in_a_row", c.evaluations_in_a_row, Whole{1, 1000},
             "that must reach the target; the first of them counts");
}

void describe(Visitor& v, ExpectConfig& c) {
  constexpr Absent nothing{"anything"};
  v.optional("time_to_accuracy", c.time_to_accuracy, expected_duration,
             "median over the replications; one that never reaches the target counts as slowest", nothing);
  v.optional("p_reach", c.p_reach, expected_fraction,
             "probability that a run reaches the target: (k + 1/2) / (n + 1) of k of n replications",
             nothing);
  v.optional("time_per_epoch", c.time_per_epoch, expected_duration, "median over the replications", nothing);
  v.optional("final_accuracy", c.final_accuracy, expected_fraction,
             "of the last evaluation, median over the replications", nothing);
  v.optional("samples_per_s", c.samples_per_s, expected_rate, "applied, median over the replications",
             nothing);
  v.optional("staleness", c.staleness, expected_staleness,
             "mean over a run's gradients, median over the replications", nothing);
}

}  // namespace paceline
