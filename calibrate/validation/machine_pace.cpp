#include "calibrate/validation/machine_pace.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "calibrate/live/steady_passes.hpp"
#include "calibrate/logs/step_variation.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int looks_at_first = 10;
constexpr std::chrono::seconds between_looks{2};

}  // namespace

live::MachineLooks at_usual_pace(Seconds usual, double alike_within, Seconds longest, const PaceProbe& probe,
                                 const std::function<bool(const live::MachineLooks&)>& work) {
  live::MachineLooks looks{.usual = usual, .before = probe.look()};
  while (true) {
    while (live::deviation(looks.before, usual) > alike_within && probe.since_first_look() < longest) {
      probe.rest();
      looks.before = probe.look();
      looks.waited = probe.since_first_look();
    }
    const bool counts = work(looks);
    if (counts || longest == Seconds{}) return looks;
    looks.after = probe.look();
    const Seconds passed = probe.since_first_look();
    if (live::deviation(*looks.after, usual) <= alike_within || passed >= longest) return looks;
    ++looks.repeated;
    looks.before = *looks.after;
    looks.waited = passed;
  }
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

void MachinePace::survey(const Scenario& scenario, std::shared_ptr<const Profiles> profiles) {
  if (looked_at_) return;
  looked_at_ = {scenario, std::move(profiles), {}};
  Progress progress("looking how fast the machine is");
  for (int i = 0; i < looks_at_first; ++i) {
    if (i > 0) std::this_thread::sleep_for(between_looks);
    throw_if_interrupted();
    static_cast<void>(look());
    progress.update((i + 1.0) / looks_at_first, scenario.name);
  }
  looked_at_->usual = live::usual_of(looks_);
}

void MachinePace::go_on(const Scenario& scenario, std::shared_ptr<const Profiles> profiles, Seconds usual) {
  looked_at_ = {scenario, std::move(profiles), usual};
}

Seconds MachinePace::look() {
  const auto& [scenario, profiles, usual] = looked_at_.value();
  const Seconds taken = live::time_look(scenario, *profiles, options_);
  looks_.push_back(taken.value());
  return taken;
}

double MachinePace::settle() {
  const Seconds before = usual();
  looked_at_->usual = live::usual_of(looks_);
  return usual() / before;
}

live::MachineLooks MachinePace::work(const std::function<bool(const live::MachineLooks&)>& what) {
  std::optional<Clock::time_point> began;
  const PaceProbe probe{
      .look =
          [&] {
            const Seconds taken = look();
            if (!began) began = Clock::now();
            return taken;
          },
      .rest =
          [] {
            std::this_thread::sleep_for(between_looks);
            throw_if_interrupted();
          },
      .since_first_look =
          [&] { return Seconds{std::chrono::duration<double>(Clock::now() - *began).count()}; }};
  const live::MachineLooks looks =
      at_usual_pace(usual(), std::min(live::usual_within, most_deviation_), longest_wait_, probe, what);
  log_times_.push_back(std::log(looks.before.value()));
  if (looks.after) log_times_.push_back(std::log(looks.after->value()));
  if (looks.waited > Seconds{})
    fmt::print(stderr, "note: waited {} for the machine to be as fast as at first{}; it is {:.0f} % apart\n",
               calibrate::duration_text(looks.waited.value()),
               looks.repeated > 0 ? fmt::format(", measuring {} times", looks.repeated + 1) : "",
               100.0 * live::deviation(looks.after.value_or(looks.before), looks.usual));
  return looks;
}

double MachinePace::slowness_while(const std::function<void()>& measure) {
  return work([&](const live::MachineLooks&) {
           measure();
           return false;
         })
      .slowness();
}

live::RealRun MachinePace::run_steadily(const std::string& name, const std::function<live::RealRun()>& run) {
  live::RealRun done;
  const live::MachineLooks around = work([&](const live::MachineLooks& looks) {
    static_cast<void>(accept_deviation(
        live::deviation(looks.before, looks.usual),
        fmt::format("{}: iterations looked at take {} now, and took {} before the prediction", name,
                    calibrate::duration_text(looks.before.value()),
                    calibrate::duration_text(looks.usual.value()))));
    done = run();
    return !done.failures.empty() || !done.result.stall.empty();
  });
  done.machine = around;
  return done;
}

double MachinePace::run_variation(const std::optional<Spells>& spells,
                                  double variance_between_workers) const {
  const double deviation = spread_of(log_times_).deviation;
  const double others =
      (variance_between_workers + calibrate::variance_of_mean(spells, live::duration_of_look)) /
      static_cast<double>(looked_at_.value().scenario.cluster.workers.size());
  return std::sqrt(std::expm1(std::max(0.0, deviation * deviation - others)));
}

}  // namespace paceline
