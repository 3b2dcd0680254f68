// How fast the machine is, and whether it still is: iterations of the workers of one job, together, looked at
// again and again.
//
// Models:      a machine that others use, too: it is faster or slower for seconds, minutes or hours.
// Equation:    usual: the median of those looks that are within a tenth of the lower quartile; of some looks
//              at first, and of all once all is measured. Others make the machine slower than it is alone
//              and never faster, so that its quicker looks are the same in a restless hour as in a calm one,
//              where the median is not; and runs that wait for such moments meet what lies around them.
//              What is measured counts when the looks before and after it are within a tenth of the usual
//              one, or the time to wait for that has passed; otherwise it is measured again. Its slowness is
//              the geometric mean of both looks over the usual one. Runs differ by sd / mean =
//              √(exp(σ²) - 1): σ² the variance of the logarithms of the looks around what counts, less a
//              share 1/W, of W workers looked at, of that between workers of a run and of that which spells
//              leave to a worker's mean over a look (calibrate/logs/step_variation.hpp).
// Units:       seconds.
// Assumptions: what slows the workers looked at slows every job alike. A quarter of the looks at least find
//              the machine as good as alone; no run has to begin while it is slower.
// Not modelled: changes during a measurement or a run that are over when it ends.
// Source:      docs/real-jobs.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/kept_runs.hpp"

namespace paceline {

struct PaceProbe {
  std::function<Seconds()> look;
  std::function<void()> rest;  // lets some time pass
  std::function<Seconds()> since_first_look;
};
// Works while the machine is as fast as usual, waiting and working again for at most `longest`; if that is
// nothing, once and at once. What `work` is true of counts however fast the machine was.
[[nodiscard]] live::MachineLooks at_usual_pace(Seconds usual, double alike_within, Seconds longest,
                                               const PaceProbe& probe,
                                               const std::function<bool(const live::MachineLooks&)>& work);

class MachinePace {
 public:
  MachinePace(live::LiveOptions options, double most_deviation, Seconds longest_wait)
      : options_(std::move(options)), most_deviation_(most_deviation), longest_wait_(longest_wait) {
    options_.links.reset();
  }

  // By the workers of the first scenario it is asked about. Throws live::LoadedMachine, as all below do.
  void survey(const Scenario& scenario, std::shared_ptr<const Profiles> profiles);
  // By those workers, as they were surveyed before.
  void go_on(const Scenario& scenario, std::shared_ptr<const Profiles> profiles, Seconds usual);
  [[nodiscard]] Seconds usual() const { return looked_at_.value().usual; }
  // From now on what all looks say so far is usual; how much longer that is than it was.
  double settle();

  // Measures something of a machine as fast as usual; how much slower it was, by the looks around that.
  double slowness_while(const std::function<void()>& measure);
  // What `measure` returns of a machine as fast as usual.
  template <class Measure>
  std::invoke_result_t<Measure> steadily(const Measure& measure) {
    std::optional<std::invoke_result_t<Measure>> measured;
    static_cast<void>(slowness_while([&] { measured = measure(); }));
    return *std::move(measured);
  }
  // Throws UserError where the machine deviates by too much before a run, nevertheless. A run that failed is
  // not made again.
  live::RealRun run_steadily(const std::string& name, const std::function<live::RealRun()>& run);

  // Of runs of jobs: sd / mean.
  [[nodiscard]] double run_variation(const std::optional<Spells>& spells,
                                     double variance_between_workers) const;
  // Whether it is more than it may be, and accepted; throws UserError when it is not.
  [[nodiscard]] bool accept_deviation(double share, const std::string& what) const;

 private:
  struct LookedAt {
    Scenario scenario;
    std::shared_ptr<const Profiles> profiles;
    Seconds usual;
  };
  [[nodiscard]] Seconds look();
  live::MachineLooks work(const std::function<bool(const live::MachineLooks&)>& what);

  live::LiveOptions options_;
  double most_deviation_;
  Seconds longest_wait_;
  std::optional<LookedAt> looked_at_;
  std::vector<double> looks_;      // s: all
  std::vector<double> log_times_;  // of those around what counts
};

}  // namespace paceline
