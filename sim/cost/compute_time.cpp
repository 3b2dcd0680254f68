#include "sim/cost/compute_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline {
namespace {

double mean_one_factor(Seed seed, Purpose purpose, std::uint32_t entity, std::uint64_t index, double cv) {
  return cv == 0.0 ? 1.0 : RandomStream(seed, purpose, entity, index).log_normal(1.0, cv);
}

// The quantile function of a measured factor at probability u, linear between its values.
double quantile_factor(const std::vector<double>& quantiles, double u) {
  const double position = u * static_cast<double>(quantiles.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double weight = position - static_cast<double>(below);
  return (1.0 - weight) * quantiles[below] + weight * quantiles[below + 1];
}

std::vector<int> measured_cores(const Profile& profile) {
  std::vector<int> cores;
  for (const ComputeFit& fit : profile.compute) cores.push_back(fit.cores);
  return cores;
}

ComputeFit fit_for(const Profile& profile, std::size_t worker, int cores) {
  if (const std::optional<ComputeFit> fit = fit_for_cores(profile, cores)) return *fit;
  throw UserError(fmt::format("worker {} has {} cores, but {} was measured with {} cores only", worker, cores,
                              profile.path, fmt::join(measured_cores(profile), ", ")),
                  fmt::format("measure it with `paceline calibrate {} --cores {},{}`", profile.network,
                              fmt::join(measured_cores(profile), ","), cores));
}

std::string why_run_is_unknown(const Profile& profile) {
  const JitterFit& measured = profile.jitter;
  if (measured.run_cv_upper)
    return fmt::format(
        "the {} processes of {} did not differ by more than their noise (at most {:.2g} % with 95 % "
        "confidence)",
        measured.processes, profile.path, 100.0 * *measured.run_cv_upper);
  if (measured.run_cv) return fmt::format("{} says 0, which no measurement can show", profile.path);
  if (profile.is_derived) return fmt::format("{} is derived, and its sources do not say", profile.path);
  return fmt::format("{} was measured in fewer than 3 processes ({})", profile.path, measured.processes);
}

// Divided, not multiplied by the reciprocal: results are the same to the last bit.
ComputeFit at_speed(ComputeFit fit, double speed) {
  fit.intercept = fit.intercept / speed;
  fit.slope_per_sample = fit.slope_per_sample / speed;
  fit.optimizer_step = fit.optimizer_step / speed;
  if (fit.knee) fit.knee->extra_slope = fit.knee->extra_slope / speed;
  return fit;
}

bool is_coefficient(double cv) {
  return std::isfinite(cv) && cv >= 0.0;
}

}  // namespace

ResolvedJitter resolve_jitter(const Profile& profile, const JitterOverrides& overrides) {
  const JitterFit& measured = profile.jitter;
  ResolvedJitter resolved;
  Jitter& jitter = resolved.jitter;
  const auto note = [&](const char* kind, double cv, const std::string& why) {
    resolved.notes.push_back(fmt::format("{} jitter: {:.2g} %{}", kind, 100.0 * cv, why));
  };
  jitter.iteration_cv = overrides.iteration_cv.value_or(measured.iteration_cv);
  if (!overrides.iteration_cv) jitter.iteration_quantiles = measured.iteration_quantiles;
  jitter.iteration_fixed = overrides.iteration_fixed.value_or(Seconds{});

  const bool run_is_known = overrides.run_cv || measured.run_cv.value_or(0.0) > 0.0;
  jitter.run_cv = overrides.run_cv.value_or(measured.run_cv.value_or(0.0));
  if (!run_is_known) {
    jitter.run_cv = std::min(default_run_cv, measured.run_cv_upper.value_or(default_run_cv));
    note("run-to-run", jitter.run_cv, " assumed, because " + why_run_is_unknown(profile));
  }

  jitter.worker_cv = overrides.worker_cv.value_or(measured.process_cv.value_or(default_worker_cv));
  if (!overrides.worker_cv)
    note("worker-to-worker", jitter.worker_cv,
         measured.process_cv ? ", as between measuring processes on one machine"
                             : " assumed, because a profile measures one machine");
  return resolved;
}

std::vector<ValidityRow> validity_rows(const Profile& profile, const std::vector<Worker>& workers,
                                       const ValueRange& batches) {
  const auto [fewest, most] = std::ranges::minmax(workers, {}, &Worker::cores);
  ValueRange measured_batches{0.0, std::numeric_limits<double>::infinity()};
  for (const Worker& worker : workers) {
    const ComputeFit& fit = nearest_fit(profile, worker.cores);
    measured_batches.least = std::max(measured_batches.least, static_cast<double>(fit.batch_min_samples));
    measured_batches.most = std::min(measured_batches.most, static_cast<double>(fit.batch_max_samples));
  }
  const auto cores = [](int least, int greatest) {
    return ValueRange{static_cast<double>(least), static_cast<double>(greatest)};
  };
  return {{"cores", profile.path, cores(profile.compute.front().cores, profile.compute.back().cores),
           cores(fewest.cores, most.cores)},
          {std::string(batch_quantity), profile.path, measured_batches, batches}};
}

ComputeTimes::ComputeTimes(const Profile& profile, const std::vector<Worker>& workers, const Jitter& jitter,
                           Seed seed)
    : ComputeTimes({profile}, std::vector<std::size_t>(workers.size(), 0), workers, jitter, seed) {}

ComputeTimes::ComputeTimes(std::vector<Profile> profiles, const std::vector<std::size_t>& profile_of_worker,
                           const std::vector<Worker>& workers, const Jitter& jitter, Seed seed,
                           DataLoading data_loading)
    : profiles_(std::move(profiles)),
      random_streams_(paceline::random_streams(workers)),
      iteration_cv_(jitter.iteration_cv),
      iteration_log_mean_(-0.5 * std::log1p(jitter.iteration_cv * jitter.iteration_cv)),
      iteration_log_deviation_(std::sqrt(std::log1p(jitter.iteration_cv * jitter.iteration_cv))),
      iteration_fixed_(jitter.iteration_fixed),
      iteration_quantiles_(jitter.iteration_quantiles),
      seed_(seed),
      data_loading_(data_loading) {
  check(is_coefficient(jitter.run_cv) && is_coefficient(jitter.worker_cv) &&
            is_coefficient(jitter.iteration_cv) && is_coefficient(jitter.iteration_fixed.value()),
        "a variation is finite and not negative");
  const double run_factor = mean_one_factor(seed, Purpose::run_jitter, 0, 0, jitter.run_cv);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    check(workers[w].speed > 0.0, "a worker's speed is positive");
    const ComputeFit fit = fit_for(profiles_.at(profile_of_worker.at(w)), w, workers[w].cores);
    const double worker_factor =
        mean_one_factor(seed, Purpose::worker_jitter, random_streams_[w], 0, jitter.worker_cv);
    workers_.push_back({at_speed(fit, workers[w].speed), run_factor * worker_factor, workers[w].speed,
                        profile_of_worker[w], workers[w].quota});
  }
}

const ComputeTimes::WorkerTimes& ComputeTimes::times(WorkerId worker) const {
  check(worker.value < workers_.size(), "compute time of a worker that does not exist");
  return workers_[worker.value];
}

Seconds ComputeTimes::undisturbed_iteration(WorkerId worker, std::int64_t batch_samples) const {
  check(batch_samples >= 1, "an iteration has at least one sample");
  const WorkerTimes& t = times(worker);
  const auto b = static_cast<double>(batch_samples);
  return with_loading(law_seconds(t.fit, b), t, b);
}

Seconds ComputeTimes::with_loading(Seconds compute, const WorkerTimes& times, double batch_samples) const {
  const std::optional<LoadingFit>& fit = profiles_[times.profile].loading;
  if (!fit || data_loading_ == DataLoading::free) return compute;
  const Seconds loading = fit->of(batch_samples) / times.speed;
  return data_loading_ == DataLoading::inline_ ? compute + loading : std::max(compute, loading);
}

double ComputeTimes::loading_share(WorkerId worker, std::int64_t batch_samples) const {
  const Seconds computing = law_seconds(times(worker).fit, static_cast<double>(batch_samples));
  return 1.0 - computing / undisturbed_iteration(worker, batch_samples);
}

Seconds ComputeTimes::mean_iteration(WorkerId worker, std::int64_t batch_samples) const {
  const WorkerTimes& t = times(worker);
  const double slowdown = t.quota ? steady_slowdown(*t.quota, t.fit.cores) : 1.0;
  return slowdown * undisturbed_iteration(worker, batch_samples);
}

std::vector<std::optional<QuotaClock>> ComputeTimes::quota_clocks() const {
  std::vector<std::optional<QuotaClock>> clocks;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    clocks.emplace_back();
    if (const std::optional<CpuQuota>& quota = workers_[w].quota) {
      RandomStream stream(seed_, Purpose::quota_phase, random_streams_[w]);
      clocks.back().emplace(*quota, workers_[w].fit.cores, -stream.uniform() * quota->period);
    }
  }
  return clocks;
}

double ComputeTimes::iteration_factor(std::uint32_t random_stream, std::uint64_t iteration,
                                      double fixed_cv) const {
  if (!has_iteration_jitter()) return 1.0;
  RandomStream stream(seed_, Purpose::iteration_jitter, random_stream, iteration);
  const double factor = iteration_quantiles_.empty()
                            ? std::exp(stream.normal(iteration_log_mean_, iteration_log_deviation_))
                            : quantile_factor(iteration_quantiles_, stream.uniform());
  return fixed_cv > 0.0 ? factor * stream.log_normal(1.0, fixed_cv) : factor;
}

double ComputeTimes::speed_up(WorkerId worker, int cores, std::int64_t batch_samples) const {
  const WorkerTimes& own = times(worker);
  const ComputeFit fit = fit_for(profiles_[own.profile], worker.value, cores);
  const auto b = static_cast<double>(batch_samples);
  const Seconds there = with_loading(law_seconds(fit, b) / own.speed, own, b);
  return undisturbed_iteration(worker, batch_samples) / there;
}

ComputeFit ComputeTimes::law(WorkerId worker, std::optional<int> cores, double speed) const {
  const WorkerTimes& own = times(worker);
  const double factor = own.run_and_worker_factor / speed;
  if (!cores) return scaled(own.fit, factor);
  return scaled(fit_for(profiles_[own.profile], worker.value, *cores), factor / own.speed);
}

}  // namespace paceline
