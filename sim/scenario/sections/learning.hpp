// The sections `learner`, `evaluation` and `stop`: what accuracy comes of, when it is looked at, and when it is enough.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/value_kinds.hpp"
#include "sim/scenario/sections/terms.hpp"

namespace paceline {

template <class Visitor>
void describe(Visitor& v, LearnerConfig& c) {
  v.required(
      "kind", c.kind,
      Choice<LearnerKind>{{{"network", LearnerKind::network},
                           {"statistical", LearnerKind::statistical},
                           {"assumed", LearnerKind::assumed},
                           {"none", LearnerKind::none}}},
      "network: train the real network inside the simulation; statistical: a model fitted to recorded runs; "
      "assumed: a model without such runs; none: only throughput is asked");
  v.optional("model", c.model, Path{}, "learner file of `paceline fit`, relative to this file",
             Absent{"no file: for `network` and `none`"});
}

template <class Visitor>
void describe(Visitor& v, EvaluationConfig& c) {
  v.required("every", c.every, HowMany{}, "samples, updates or epochs between two evaluations");
  v.optional(
      "who_pays", c.who_pays,
      Choice<EvaluationPayer>{{{"free", EvaluationPayer::free},
                               {"inline", EvaluationPayer::inline_workers},
                               {"evaluator", EvaluationPayer::evaluator}}},
      "whose time an evaluation takes; free: nobody's; inline: every worker's; evaluator: a machine of its "
      "own, so that results come late");
  v.optional("cost", c.cost, duration(at_least(0)), "time of one evaluation");
}

template <class Visitor>
void describe(Visitor& v, StopConfig& c) {
  v.required("epochs", c.epochs, Number{above_up_to(0, 1e6)},
             "the workload: passes over the training samples");
  v.optional("accuracy", c.accuracy, Number{above_up_to(0, 1)},
             "target, as a fraction: the job ends at the first evaluation that reaches it",
             Absent{"the whole workload is run"});
  v.optional("evaluations_in_a_row", c.evaluations_in_a_row, Whole<int>{1, 1000},
             "that must reach the target; the first of them counts");
}

}  // namespace paceline
