// How fast the machine is, and whether it still is: an iteration of one worker, alone, looked at again and
// again.
//
// Models:      a machine that others use, too: it is faster or slower for seconds, minutes or hours.
// Equation:    usual: the median of five looks. Runs differ by sd / mean = √(exp(σ²) - 1), σ the deviation of
//              the logarithms of all looks.
// Units:       seconds.
// Assumptions: what slows one worker's iterations slows the whole job alike.
// Not modelled: changes within a run.
// Source:      docs/validation.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/kept_runs.hpp"

namespace paceline {

// By how much `measured` is more or less than `expected`, as a share of the latter.
[[nodiscard]] double deviation(Seconds measured, Seconds expected);
// Until an iteration takes what it took before the prediction, or `longest` has passed. `rest` lets some time
// pass and says how much has passed since the first measurement.
[[nodiscard]] live::BeforeRun wait_until_as_sealed(Seconds sealed, double most_deviation, Seconds longest,
                                                   const std::function<Seconds()>& measure,
                                                   const std::function<Seconds()>& rest);

class MachinePace {
 public:
  // Measurements and runs are held back for about `longest_wait` while the machine is not as fast as before.
  MachinePace(live::LiveOptions options, double most_deviation, Seconds longest_wait)
      : options_(std::move(options)), most_deviation_(most_deviation), longest_wait_(longest_wait) {
    options_.links.reset();
  }

  // By the first worker of the first scenario it is asked about. Throws live::LoadedMachine, as all below do.
  void survey(const Scenario& scenario, std::shared_ptr<const Profiles> profiles);
  // Before each measurement, after that.
  void steady();
  // Of runs, as the speed varied between looks: sd / mean.
  [[nodiscard]] double run_variation() const;
  // Throws UserError where the first worker deviates by too much from what was sealed.
  [[nodiscard]] live::BeforeRun before_run(const Scenario& scenario, const Profiles& profiles,
                                           const live::AloneTime& sealed) const;
  // Whether it is more than it may be, and accepted; throws UserError when it is not.
  [[nodiscard]] bool accept_deviation(double share, const std::string& what) const;

 private:
  struct LookedAt {
    Scenario scenario;
    std::shared_ptr<const Profiles> profiles;
    Seconds usual;
  };
  void refuse_load() const;
  [[nodiscard]] live::BeforeRun wait_for(const Scenario& scenario, const Profiles& profiles,
                                         std::int64_t batch_samples, Seconds sealed) const;

  live::LiveOptions options_;
  double most_deviation_;
  Seconds longest_wait_;
  std::optional<LookedAt> looked_at_;
  std::vector<double> log_times_;
};

}  // namespace paceline
