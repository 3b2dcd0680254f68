// True compute times: what an executor lets a worker's iteration really take.
//
// Models:      one network on uneven workers, with jitter at three levels: the whole run (shared by all
//              workers), the worker for the length of a run, and the single iteration.
// Equation:    T(w, k, b) = law(b, cores_w) / speed_w · R · W_w · I_{w,k} · F_{w,k}   law: compute_law.hpp
//              Where the profile measured it, fetching the batch is added to the law (inline), or takes its
//              place where it is longer (prefetched: the next batch is fetched meanwhile).
//              R, W_w, I_{w,k} log-normal with mean 1 and the coefficients of variation run_cv, worker_cv,
//              iteration_cv; a coefficient of 0 makes the factor exactly 1. Where the profile found the
//              iteration factor not to be log-normal, I_{w,k} = Q(u), linear between the profile's measured
//              quantiles Q. F_{w,k} is log-normal, too, with mean 1 and the coefficient of variation
//              iteration_fixed over the law, with fetching: what disturbs an iteration however short it is.
//              optimizer step: optimizer_step[cores_w] / speed_w, without jitter.
// Units:       seconds, samples; speed relative to the profile's machine.
// Assumptions: factors are keyed by (run), (worker's random stream) and (that, iteration) and not by the
//              batch, so policies that choose other batches draw the same factors (common random numbers).
//              Iterations are independent, but for the spells of a worker.
// Not modelled: stragglers, spells and speed changing over time (sim/cluster/conditions.hpp); a quota of
//              processor time holds up what computes (quota_clock.hpp).
// Source:      docs/models.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"
#include "sim/base/validity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/conditions.hpp"
#include "sim/cost/profile.hpp"
#include "sim/cost/quota_clock.hpp"

namespace paceline {

// Coefficients of variation (sd / mean) of the three factors.
struct Jitter {
  double run_cv = 0.0;
  double worker_cv = 0.0;
  double iteration_cv = 0.0;
  Seconds iteration_fixed{};  // standard deviation that does not grow with the iteration, at speed 1
  // Measured quantiles of the iteration factor at equally spaced probabilities, mean 1; empty: log-normal.
  std::vector<double> iteration_quantiles = {};
};

// Values a user states; what is absent comes from the profile.
struct JitterOverrides {
  std::optional<double> run_cv;
  std::optional<double> worker_cv;
  std::optional<double> iteration_cv;
  std::optional<Seconds> iteration_fixed{};
  std::optional<Spells> spells{};  // sim/cluster/conditions.hpp
  Seconds message{};               // message_delay.hpp
};

struct ResolvedJitter {
  Jitter jitter;
  std::vector<std::string> notes;  // one sentence for each value that was neither stated nor measured
};

// Used, and noted, when fewer than 3 processes were measured; also the most that is assumed where runs did
// not differ enough to be told apart from noise.
inline constexpr double default_run_cv = 0.03;
// Used, and noted, when neither stated nor measured between processes: one machine's profile cannot tell how
// alike machines of its kind are.
inline constexpr double default_worker_cv = 0.0;

[[nodiscard]] ResolvedJitter resolve_jitter(const Profile& profile, const JitterOverrides& overrides = {});

// Cores and batches of these workers beside those the profile was measured with. Batches: those that every
// core count in use, or the nearest measured one, was measured with.
[[nodiscard]] std::vector<ValidityRow> validity_rows(const Profile& profile,
                                                     const std::vector<Worker>& workers,
                                                     const ValueRange& batches);

// What fetching a batch from the data set costs a worker.
enum class DataLoading { inline_, prefetched, free };

class ComputeTimes {
 public:
  // One profile for all workers. Throws UserError when a worker's core count was not measured and no core law
  // covers it.
  ComputeTimes(const Profile& profile, const std::vector<Worker>& workers, const Jitter& jitter, Seed seed);
  // A profile for each worker, by index into `profiles`.
  ComputeTimes(std::vector<Profile> profiles, const std::vector<std::size_t>& profile_of_worker,
               const std::vector<Worker>& workers, const Jitter& jitter, Seed seed,
               DataLoading data_loading = DataLoading::inline_);

  // Forward and backward of the worker's `iteration`-th mini-batch, with jitter, while nothing holds the
  // worker up.
  [[nodiscard]] Seconds iteration(WorkerId worker, std::uint64_t iteration,
                                  std::int64_t batch_samples) const {
    return iterations(worker, batch_samples)[iteration];
  }
  // The same for many of them: what they have in common is computed once. Refers to these times.
  class Iterations {
   public:
    // `factor`: of the run and the worker. `fixed_cv`: coefficient of variation of what does not grow.
    Iterations(const ComputeTimes& times, std::uint32_t random_stream, Seconds undisturbed, double factor,
               double fixed_cv)
        : times_(times),
          random_stream_(random_stream),
          undisturbed_(undisturbed),
          factor_(factor),
          fixed_cv_(fixed_cv) {}
    [[nodiscard]] Seconds operator[](std::uint64_t iteration) const {
      return undisturbed_ * (factor_ * times_.iteration_factor(random_stream_, iteration, fixed_cv_));
    }

   private:
    const ComputeTimes& times_;
    std::uint32_t random_stream_;
    Seconds undisturbed_;
    double factor_;
    double fixed_cv_;
  };
  [[nodiscard]] Iterations iterations(WorkerId worker, std::int64_t batch_samples) const {
    const Seconds undisturbed = undisturbed_iteration(worker, batch_samples);
    const WorkerTimes& own = times(worker);
    return {*this, random_streams_.at(worker.value), undisturbed, own.run_and_worker_factor,
            iteration_fixed_ / (undisturbed * own.speed)};
  }
  [[nodiscard]] bool has_iteration_jitter() const {
    return iteration_cv_ > 0.0 || !iteration_quantiles_.empty() || iteration_fixed_ > Seconds{};
  }
  // Share of an iteration, at its beginning, in which nothing is computed since its batch is not there yet.
  [[nodiscard]] double loading_share(WorkerId worker, std::int64_t batch_samples) const;
  // Without jitter; under a quota of processor time, what iterations one after the other take on average.
  [[nodiscard]] Seconds mean_iteration(WorkerId worker, std::int64_t batch_samples) const;
  // What takes `work` at speed 1, without jitter.
  [[nodiscard]] Seconds at_speed_of(WorkerId worker, Seconds work) const {
    return work / times(worker).speed;
  }
  [[nodiscard]] Seconds optimizer_step(WorkerId worker) const { return times(worker).fit.optimizer_step; }
  // How many times faster the worker's mean iteration would be on `cores` of its cores instead of its own.
  // Throws UserError when that core count was not measured.
  [[nodiscard]] double speed_up(WorkerId worker, int cores, std::int64_t batch_samples) const;
  // Each worker's, from the beginning of a run on, where it has a quota. Its phase is uniform over the
  // period.
  [[nodiscard]] std::vector<std::optional<QuotaClock>> quota_clocks() const;
  // The worker's law on `cores` (its own if absent) at `speed` times its own, with the factors of this run
  // and of this worker, without that of single iterations.
  [[nodiscard]] ComputeFit law(WorkerId worker, std::optional<int> cores, double speed) const;
  [[nodiscard]] std::size_t worker_count() const { return workers_.size(); }
  [[nodiscard]] const std::vector<std::uint32_t>& random_streams() const { return random_streams_; }

 private:
  struct WorkerTimes {
    ComputeFit fit;  // at the worker's speed
    double run_and_worker_factor = 1.0;
    double speed = 1.0;
    std::size_t profile = 0;  // of profiles_
    std::optional<CpuQuota> quota{};
  };
  [[nodiscard]] Seconds with_loading(Seconds compute, const WorkerTimes& times, double batch_samples) const;
  [[nodiscard]] double iteration_factor(std::uint32_t random_stream, std::uint64_t iteration,
                                        double fixed_cv) const;
  [[nodiscard]] Seconds undisturbed_iteration(WorkerId worker, std::int64_t batch_samples) const;
  [[nodiscard]] const WorkerTimes& times(WorkerId worker) const;

  std::vector<Profile> profiles_;
  std::vector<WorkerTimes> workers_;
  std::vector<std::uint32_t> random_streams_;  // by worker
  double iteration_cv_;
  double iteration_log_mean_;  // of the log-normal factor with that coefficient of variation and mean 1
  double iteration_log_deviation_;
  Seconds iteration_fixed_;
  std::vector<double> iteration_quantiles_;
  Seed seed_;
  DataLoading data_loading_;
};

// How long a parameter server computes on what arrives: bytes / rate. It adds a gradient to an accumulator (a
// push that waits for others), and takes a step of the optimizer from the accumulator to velocity and
// parameters.
// Assumptions: it runs on the machine and the smallest core count of the profile; one operation at a time.
// Not modelled: jitter; fixed cost per operation; vectors much larger or smaller than the network's own.
class ServerTimes {
 public:
  // On a machine that takes `slowness` times as long.
  explicit ServerTimes(const Profile& profile, double slowness = 1.0)
      : accumulate_rate_(profile.server_accumulate_rate / slowness),
        step_rate_(profile.server_step_rate / slowness) {
    check(accumulate_rate_ > BytesPerSecond{} && step_rate_ > BytesPerSecond{}, "server rates are positive");
  }

  [[nodiscard]] Seconds accumulate(Bytes gradient) const { return gradient / accumulate_rate_; }
  [[nodiscard]] Seconds step(Bytes parameters) const { return parameters / step_rate_; }

 private:
  BytesPerSecond accumulate_rate_;
  BytesPerSecond step_rate_;
};

}  // namespace paceline
