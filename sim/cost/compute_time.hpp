// The world's true compute times: what an executor lets a worker's iteration really take.
//
// Models:      one network on uneven workers, with jitter at three levels: the whole run (a machine
// incarnation,
//              shared by all workers), the worker for the length of a run, and the single iteration.
// Equation:    T(w, k, b) = (intercept[cores_w] + b · slope[cores_w]) / speed_w · R · W_w · I_{w,k}
//              R, W_w, I_{w,k} log-normal with mean 1 and the coefficients of variation run_cv, worker_cv,
//              iteration_cv; a coefficient of 0 makes the factor exactly 1.
//              optimizer step: optimizer_step[cores_w] / speed_w, without jitter.
// Units:       seconds, samples; speed relative to the profile's machine.
// Assumptions: factors are keyed by (run), (worker) and (worker, iteration) and not by the batch, so policies
// that
//              choose other batches meet the same luck (common random numbers). Iterations are independent.
// Not modelled: stragglers and speed changing over time; core counts between the measured ones (an error).
// Source:      design section 5 (compute, jitter).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cost/profile.hpp"

namespace paceline {

// Coefficients of variation (sd / mean) of the three factors.
struct Jitter {
  double run_cv = 0.0;
  double worker_cv = 0.0;
  double iteration_cv = 0.0;
};

// Values a user states; what is absent comes from the profile.
struct JitterOverrides {
  std::optional<double> run_cv;
  std::optional<double> worker_cv;
  std::optional<double> iteration_cv;
};

struct ResolvedJitter {
  Jitter jitter;
  std::vector<std::string> notes;  // one sentence for each value that was neither stated nor measured
};

// Used, and noted, when fewer than 3 processes were measured.
inline constexpr double default_run_cv = 0.03;
// Used, and noted, when not stated: one machine's profile cannot tell how alike machines of its kind are.
inline constexpr double default_worker_cv = 0.0;

[[nodiscard]] ResolvedJitter resolve_jitter(const Profile& profile, const JitterOverrides& overrides = {});

// One sentence for each core count of the workers for which batches from `batch_min` to `batch_max` leave the
// range the profile was measured in.
[[nodiscard]] std::vector<std::string> extrapolation_notes(const Profile& profile,
                                                           const std::vector<Worker>& workers,
                                                           std::int64_t batch_min_samples,
                                                           std::int64_t batch_max_samples);

class ComputeTimes {
 public:
  // One profile for all workers. Throws UserError when a worker's core count was not measured.
  ComputeTimes(const Profile& profile, const std::vector<Worker>& workers, const Jitter& jitter, Seed seed);
  // A profile for each worker, by index into `profiles`.
  ComputeTimes(std::vector<Profile> profiles, const std::vector<std::size_t>& profile_of_worker,
               const std::vector<Worker>& workers, const Jitter& jitter, Seed seed);

  // Forward and backward of the worker's `iteration`-th mini-batch, with jitter.
  [[nodiscard]] Seconds iteration(WorkerId worker, std::uint64_t iteration, std::int64_t batch_samples) const;
  // The same without jitter.
  [[nodiscard]] Seconds mean_iteration(WorkerId worker, std::int64_t batch_samples) const;
  [[nodiscard]] Seconds optimizer_step(WorkerId worker) const;
  // How many times faster the worker's mean iteration would be on `cores` of its cores instead of its own.
  // Throws UserError when that core count was not measured.
  [[nodiscard]] double speed_up(WorkerId worker, int cores, std::int64_t batch_samples) const;
  [[nodiscard]] std::size_t worker_count() const { return workers_.size(); }

 private:
  struct WorkerTimes {
    Seconds intercept;  // these three at the worker's speed
    Seconds slope_per_sample;
    Seconds optimizer_step;
    double run_and_worker_factor = 1.0;
    double speed = 1.0;
    std::size_t profile = 0;  // of profiles_
  };
  [[nodiscard]] const WorkerTimes& times(WorkerId worker) const;

  std::vector<Profile> profiles_;
  std::vector<WorkerTimes> workers_;
  double iteration_cv_;
  Seed seed_;
};

}  // namespace paceline
