#include "calibrate/validation/machine_pace.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "calibrate/live/machine_load.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"
#include "sim/report/recording/run_result.hpp"

namespace paceline {

double deviation(Seconds measured, Seconds expected) {
  return std::abs(measured / expected - 1.0);
}

bool MachinePace::accept_deviation(double share, const std::string& what) const {
  if (share <= most_deviation_) return false;
  if (!options_.accepts_load)
    throw UserError(fmt::format("{}: {:.0f} % apart, and {:.0f} % are allowed", what, 100.0 * share,
                                100.0 * most_deviation_),
                    "calibrate on this machine, `--most-deviation`, or `--accept-load`, which records it");
  fmt::print(stderr, "note: {}: {:.0f} % apart, accepted\n", what, 100.0 * share);
  return true;
}

live::BeforeRun wait_until_as_sealed(Seconds sealed, double most_deviation, Seconds longest,
                                     const std::function<Seconds()>& measure,
                                     const std::function<Seconds()>& rest) {
  live::BeforeRun before{.measured = measure(), .sealed = sealed};
  while (deviation(before.measured, sealed) > most_deviation && before.waited < longest) {
    before.waited = rest();
    before.measured = measure();
  }
  return before;
}

void MachinePace::survey(const Scenario& scenario, std::shared_ptr<const Profiles> profiles) {
  if (looked_at_) return;
  refuse_load();
  constexpr int looks = 5;
  constexpr std::chrono::seconds between_looks{2};
  const std::int64_t batch = scenario.batching.initial_samples;
  std::vector<double> seconds;
  Progress progress("looking how fast the machine is");
  for (int look = 0; look < looks; ++look) {
    if (look > 0) std::this_thread::sleep_for(between_looks);
    throw_if_interrupted();
    seconds.push_back(live::time_once(scenario, *profiles, WorkerId{0}, batch, options_).value());
    log_times_.push_back(std::log(seconds.back()));
    progress.update((look + 1.0) / looks, scenario.name);
  }
  looked_at_ = {scenario, std::move(profiles), Seconds{median(std::move(seconds))}};
}

void MachinePace::refuse_load() const {
  const double load = live::other_load(Seconds{0.5});
  if (load > live::most_other_load && !options_.accepts_load) throw live::LoadedMachine(load);
}

void MachinePace::steady() {
  refuse_load();
  const auto& [scenario, profiles, usual] = looked_at_.value();
  const live::BeforeRun now = wait_for(scenario, *profiles, scenario.batching.initial_samples, usual);
  log_times_.push_back(std::log(now.measured.value()));
}

double MachinePace::run_variation() const {
  const double deviation = spread_of(log_times_).deviation;
  return std::sqrt(std::expm1(deviation * deviation));
}

live::BeforeRun MachinePace::wait_for(const Scenario& scenario, const Profiles& profiles,
                                      std::int64_t batch_samples, Seconds sealed) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds between_measurements{2};
  constexpr double alike_within = 0.1;
  std::optional<Clock::time_point> began;
  const auto measure = [&] {
    const Seconds measured = live::time_once(scenario, profiles, WorkerId{0}, batch_samples, options_);
    if (!began) began = Clock::now();
    return measured;
  };
  const auto rest = [&] {
    std::this_thread::sleep_for(between_measurements);
    throw_if_interrupted();
    return Seconds{std::chrono::duration<double>(Clock::now() - *began).count()};
  };
  const live::BeforeRun before =
      wait_until_as_sealed(sealed, std::min(alike_within, most_deviation_), longest_wait_, measure, rest);
  if (before.waited > Seconds{})
    fmt::print(stderr, "note: {}: waited {} for the machine to be as fast as before; it is {:.0f} % apart\n",
               scenario.name, calibrate::duration_text(before.waited.value()),
               100.0 * deviation(before.measured, before.sealed));
  return before;
}

live::BeforeRun MachinePace::before_run(const Scenario& scenario, const Profiles& profiles,
                                        const live::AloneTime& sealed) const {
  const live::BeforeRun before = wait_for(scenario, profiles, sealed.computing.batch, sealed.measured);
  static_cast<void>(accept_deviation(
      deviation(before.measured, before.sealed),
      fmt::format("{}: {} takes {} for an iteration now, and took {} before the prediction", scenario.name,
                  name_of(scenario.cluster.workers, 0), calibrate::duration_text(before.measured.value()),
                  calibrate::duration_text(before.sealed.value()))));
  return before;
}

}  // namespace paceline
