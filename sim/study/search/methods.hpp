// The methods of search over a line or a list: what they try, what they minimize, what that costs.
//
// Models:      a setting is one number: a position along a line, or an index into a list. Its outcome is one
//              run for each replication 0 … n-1; replication r has the same random numbers for every setting,
//              so that settings are compared pair by pair.
//              exhaustive: every setting of a list, all replications of each.
//              golden section: shrinks an interval around the lowest of three points until it is short
//              enough.
//              successive halving: rounds; in each, the settings that are left get `keep_one_of` times the
//              replications of the round before, and the best one in `keep_one_of` go on.
// Equation:    score, smaller is better. Time to accuracy: first the share of the runs that never reach the
//              target, then the mean over the runs of the time to it (of the end, where it is never reached);
//              core-hours: mean of the whole job's; money: its time · the price of all workers, where they
//              have one, else price_per_core_hour · core-hours. A setting whose mean final accuracy is below
//              the required one, or that has a run without any, is infeasible: it has no score, which is
//              worse than every number.
//              golden section: an interval [a, b] is probed at b - φ(b-a) and a + φ(b-a), φ = (√5 - 1)/2, so
//              that one of the two points can be used again; settings tried, but for the ends:
//                2 + ⌈ln(tolerance/(b-a)) / ln φ⌉.
//              A point is rounded to the power of ten that is a tenth of the tolerance or less. Where both
//              points are equal and so is one end, the side away from that end is kept: the plateau's edge;
//              else that of the best setting so far. Where the ends and both first points are equal, the
//              score is flat and nothing more is tried.
//              Two settings are alike where runs paired by replication do not tell them apart: 0 lies in the
//              90 % interval of the mean difference of their scores, or, where some never reach, 1/2 in that
//              of P(faster) (paired.hpp); from five pairs on, or where all pairs are equal.
// Units:       seconds, core-hours, units of the price; accuracy as a fraction.
// Assumptions: a run is deterministic: asked for again, it is the same. A mean is wanted, since the same job
//              is run again and again. Golden section: the score has one valley on the interval, and feasible
//              settings lie together; common random numbers keep noise below its depth.
// Not modelled: settings of several numbers; gradients; risk aversion.
// Source:      Kiefer 1953 (golden section); Jamieson and Talwalkar 2016 (successive halving).
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "sim/report/statistics/run_summary.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline::search {

struct Run : RunSummary {
  Run(RunSummary summary = {}, std::optional<double> cost = {})
      : RunSummary(std::move(summary)), money(cost) {}
  std::optional<double> money;  // at the prices of its workers; absent: they have none
};
using Outcome = std::vector<Run>;  // by replication
// Runs `setting` for replications 0 … replications-1.
using Evaluate = std::function<Outcome(double setting, int replications)>;

// A setting with the outcome of all replications that were asked of it.
struct Tried {
  double setting = 0.0;
  Outcome runs;
};

// The simulated job time is what trying it on the real cluster would have taken.
struct SearchCost {
  std::size_t settings = 0;
  std::size_t runs = 0;
  double simulated_s = 0.0;
  double simulated_core_hours = 0.0;
};

// Asks for each setting only once, and remembers what was tried, in order.
class Trials {
 public:
  explicit Trials(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}

  // At least so many replications; those of an earlier call are not paid again.
  const Outcome& of(double setting, int replications);

  [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
  [[nodiscard]] SearchCost cost() const;

 private:
  Evaluate evaluate_;
  std::vector<Tried> tried_;                // in the order of the first call
  std::map<double, std::size_t> index_of_;  // into `tried_`
};

// Compared in this order.
struct Score {
  double never_share = 0.0;
  double value = 0.0;
  friend auto operator<=>(const Score&, const Score&) = default;
};

// Of the first `replications` runs, or of all. Absent: infeasible.
[[nodiscard]] std::optional<Score> score(const Outcome& outcome, const SearchConfig& config,
                                         std::optional<int> replications = std::nullopt);
// Whether `a` is better than `b`; absent is worse than every score.
[[nodiscard]] bool is_better(const std::optional<Score>& a, const std::optional<Score>& b);
// Whether both are feasible, and score the same but for chance.
[[nodiscard]] bool are_alike(const Outcome& a, const Outcome& b, const SearchConfig& config);

struct Found {
  std::optional<double> setting;  // absent: no feasible one was tried
  std::optional<Score> score;
};

// Of equals, the first.
[[nodiscard]] Found exhaustive(const std::vector<double>& settings, const SearchConfig& config,
                               Trials& trials);
// Until the interval is shorter than the tolerance: without one, a hundredth of the range.
[[nodiscard]] Found golden_section(const AxisRange& range, const SearchConfig& config, Trials& trials);
// The best of the last round, which has all replications when rounds are left for it.
[[nodiscard]] Found successive_halving(std::vector<double> settings, const SearchConfig& config,
                                       Trials& trials);

}  // namespace paceline::search
