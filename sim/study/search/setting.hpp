// What a search tries, and what it gets back.
//
// Models:      a setting is one number: a position along a line, or an index into a list. Evaluating it gives
//              one outcome for each replication 0 … n-1; replication r has the same random numbers for every
//              setting (common random numbers), so that settings are compared pair by pair.
// Units:       seconds, core-hours; accuracy as a fraction.
// Assumptions: evaluating is deterministic: asked again for more replications, the first ones are the same.
// Not modelled: settings of several numbers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace paceline::search {

// What one simulated run gave.
struct RunOutcome {
  std::optional<double> time_to_target_s;  // absent: never reached, or no target
  double end_time_s = 0.0;
  std::optional<double> final_accuracy;  // absent: the job does not learn
  double core_hours = 0.0;               // of the whole job
};

// By replication.
using Outcome = std::vector<RunOutcome>;
// Runs `setting` for replications 0 … replications-1.
using Evaluate = std::function<Outcome(double setting, int replications)>;

// A setting with the outcome of all replications that were asked of it.
struct Tried {
  double setting = 0.0;
  Outcome runs;
};

// What a search cost. The simulated job time is what trying it on the real cluster would have taken.
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

}  // namespace paceline::search
