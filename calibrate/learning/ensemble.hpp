// What a fit does not know: other fits that the same runs could have led to, and how far a policy that no run
// shows lies from them.
//
// Models:      members: the form refitted to policies drawn with replacement and, within each of their
//              groups, to runs drawn with replacement, from the first fit's parameters. Model error: a policy
//              that a member did not see is predicted by it, so no fit is needed besides.
// Equation:    for the final accuracy, over the policies that some members did not see,
//                error² = mean of (recorded mean - mean of those members)²
//                         - their variance - s² / runs, at least 0
//              s pooled within groups; likewise for the shifts of ln(speed) and of ln(accuracy held back by
//              noise) that explain the accuracies before the first drop best. All times t(95 %, policies) /
//              1.645: few policies tell a deviation badly. With fewer than three of them the errors are
//              unknown.
// Units:       accuracy as a fraction; logarithms.
// Assumptions: policies are exchangeable: the next one is as far from the form as those fitted were. A draw
//              without synchronous, or without asynchronous, updates that the runs have is drawn again.
// Not modelled: errors that come and go within a run; other forms, but as far as their better knowledge would
//              show in policies left out.
// Source:      out-of-bag estimation: Breiman 1996; bootstrap: Efron and Tibshirani 1993.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/learning/model_fit.hpp"

namespace paceline {

struct Ensemble {
  std::vector<std::vector<double>> members;  // parameters, in the order of the form's
  std::optional<ModelError> error;           // unknown with few policies
};

// What members say of policies they did not see. `members` as fit_ensemble returns them for these groups.
[[nodiscard]] std::optional<ModelError> error_unseen(const FittedLearner& learner,
                                                     std::span<const TracedGroup> groups,
                                                     std::span<const std::vector<double>> members);

// What the recorded mean of a group differs by from the mean of members that did not see its policy, and the
// variance that these members and the recorded runs give it.
struct Miss {
  double difference = 0.0;
  double explained = 0.0;
};
struct GroupMiss {
  std::optional<Miss> final_accuracy;
  std::optional<Miss> speed;  // logarithms
  std::optional<Miss> noise;
};
// `run_variance`: of final accuracies within groups. Fewer than two members tell nothing.
[[nodiscard]] GroupMiss miss_of(const TracedGroup& group, std::span<const FittedForm> members,
                                const EvaluationNoise& noise, double run_variance);

// Of final accuracies within groups, pooled; 0 where each has one run.
[[nodiscard]] double pooled_run_variance(std::span<const TracedGroup> groups);

// t(95 %) over the normal's: how much wider a deviation told by so many squares is to be taken.
[[nodiscard]] double widened_for(std::size_t squares);

// `on_member` after each of them.
[[nodiscard]] Ensemble fit_ensemble(const FittedLearner& learner, std::span<const TracedGroup> groups,
                                    int members, const FitOptions& options,
                                    const std::function<void()>& on_member = {});

}  // namespace paceline
