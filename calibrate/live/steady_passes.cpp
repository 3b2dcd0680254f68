#include "calibrate/live/steady_passes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/machine_looks.hpp"
#include "calibrate/live/one_core.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

constexpr double slow_from = 1.15;
constexpr std::size_t many_times = 2;  // as many as wanted
constexpr std::size_t most_times = 4;
constexpr std::size_t fewest_kept = 3;

}  // namespace

Seconds usual_of(std::vector<double> looks_s) {
  std::ranges::sort(looks_s);
  const Seconds quick{looks_s.at((looks_s.size() - 1) / 4)};
  std::erase_if(looks_s, [&](double look_s) { return deviation(Seconds{look_s}, quick) > usual_within; });
  return Seconds{median(std::move(looks_s))};
}

CoreWatch::CoreWatch(const std::vector<std::string>& loop) {
  if (loop.empty())
    work_ = memory_work_of(Seconds{1e-3});
  else
    usual_step_ = loop_.emplace(loop).warm_up();
}

Seconds CoreWatch::timed() {
  const std::int64_t began_ns = LiveClock::monotonic_ns();
  if (loop_)
    static_cast<void>(loop_->step());
  else
    load_.carry_out(work_);
  return Seconds{1e-9 * static_cast<double>(LiveClock::monotonic_ns() - began_ns)};
}

CoreLook CoreWatch::look() {
  constexpr int not_timed = 3;  // caches are another core's
  constexpr std::size_t fewest = 3;
  constexpr Seconds long_enough{0.03};
  constexpr std::size_t most_cores = 8;
  std::vector<int> cores = cores_of(0);
  if (cores.size() > most_cores) cores.resize(most_cores);
  CoreLook of_cores;
  for (const int core : cores) {
    const OnOneCore here(0, core);
    std::optional<OnOneCore> there;
    if (loop_) there.emplace(loop_->process_id(), core);
    for (int i = 0; i < not_timed; ++i) static_cast<void>(timed());
    std::vector<double> times_s;
    Seconds all{};
    while (times_s.size() < fewest || all < long_enough) {
      times_s.push_back(timed().value());
      all += Seconds{times_s.back()};
    }
    of_cores.emplace_back(median(std::move(times_s)));
  }
  return of_cores;
}

SteadyPasses::SteadyPasses(std::size_t wanted, std::function<CoreLook()> look)
    : wanted_(wanted), look_(std::move(look)), looks_{this->look()} {
  check(wanted > 0, "a measurement has passes");
}

void SteadyPasses::end_pass() {
  looks_.push_back(look());
  check(looks_.back().size() == looks_.front().size(), "cores stay the same");
}

std::vector<double> SteadyPasses::usual_s() const {
  std::vector<double> usual;
  for (std::size_t core = 0; core < looks_.front().size(); ++core) {
    std::vector<double> of_core;
    for (const CoreLook& look : looks_) of_core.push_back(look[core].value());
    usual.push_back(usual_of(std::move(of_core)).value());
  }
  return usual;
}

std::vector<double> SteadyPasses::slowness() const {
  const std::vector<double> usual = usual_s();
  std::vector<double> all(taken(), 0.0);
  for (std::size_t pass = 0; pass < all.size(); ++pass)
    for (std::size_t core = 0; core < usual.size(); ++core)
      all[pass] = std::max({all[pass], looks_[pass][core].value() / usual[core],
                            looks_[pass + 1][core].value() / usual[core]});
  return all;
}

std::size_t SteadyPasses::as_usual() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(slowness(), [](double of_pass) { return of_pass <= slow_from; }));
}

std::size_t SteadyPasses::enough() const {
  return taken() < many_times * wanted_ ? wanted_ : std::min(wanted_, std::max(fewest_kept, wanted_ / 2));
}

bool SteadyPasses::is_enough() const {
  return as_usual() >= enough() || taken() >= most_times * wanted_;
}

std::size_t SteadyPasses::expected() const {
  const std::size_t most = (taken() < many_times * wanted_ ? many_times : most_times) * wanted_;
  return std::min(most, taken() + enough() - std::min(enough(), as_usual()));
}

std::vector<std::size_t> SteadyPasses::kept() const {
  const std::vector<double> of_pass = slowness();
  std::vector<std::size_t> places(of_pass.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return of_pass[place]; });
  places.resize(std::min({places.size(), wanted_, std::max(as_usual(), fewest_kept)}));
  std::ranges::sort(places);
  return places;
}

std::string SteadyPasses::note() const {
  std::string text;
  const std::vector<double> of_pass = slowness();
  if (as_usual() < taken())
    text = fmt::format(
        "{} of {} passes met a core slower than usual, up to {:.2g} times; {} are kept{}",
        taken() - as_usual(), taken(), std::ranges::max(of_pass), kept().size(),
        as_usual() < kept().size() ? ", some of those, too: measure again when the machine is quieter" : "");
  const std::vector<double> usual = usual_s();
  if (usual.empty()) return text;
  const auto [least, most] = std::ranges::minmax(usual);
  if (most > slow_from * least)
    text += fmt::format("{}one core always takes {:.2g} times as long as another", text.empty() ? "" : "; ",
                        most / least);
  return text;
}

}  // namespace paceline::live
