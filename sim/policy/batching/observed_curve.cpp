#include "sim/policy/batching/observed_curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

constexpr double least_elasticity = 0.05;
constexpr double largest_elasticity = 5.0;
constexpr std::size_t batches_before = 2;  // with the one in force they can lie on both sides of the balance
constexpr int bisections = 60;             // of the logarithm of a time: to its last bits

using Exact = std::vector<double>;  // parts of samples, by worker

bool takes_time(const TimeNearBatch& near) {
  return near.time_s > 0.0 && std::isfinite(near.time_s);
}

Exact taking(double time_s, std::span<const TimeNearBatch> workers, std::span<const BatchBounds> bounds) {
  Exact exact;
  for (std::size_t k = 0; k < workers.size(); ++k)
    exact.push_back(bounds[k].clamp(workers[k].batch_taking(time_s)));
  return exact;
}

// `total` is one that the bounds can hold.
Exact with_same_time(std::int64_t total, std::span<const TimeNearBatch> workers,
                     std::span<const BatchBounds> bounds) {
  const auto reaches_total = [&](double time_s) {
    const Exact exact = taking(time_s, workers, bounds);
    return std::accumulate(exact.begin(), exact.end(), 0.0) >= static_cast<double>(total);
  };
  double low_s = workers.front().time_s;
  while (low_s > 0.0 && reaches_total(low_s)) low_s /= 2.0;
  double high_s = workers.front().time_s;
  while (std::isfinite(high_s) && !reaches_total(high_s)) high_s *= 2.0;
  for (int i = 0; i < bisections; ++i) {
    const double middle_s = std::sqrt(low_s) * std::sqrt(high_s);
    (reaches_total(middle_s) ? high_s : low_s) = middle_s;
  }
  return taking(high_s, workers, bounds);
}

}  // namespace

double TimeNearBatch::batch_taking(double wanted_s) const {
  const double elasticity = wanted_s > time_s ? elasticity_above : elasticity_below;
  return samples * std::pow(wanted_s / time_s, 1.0 / elasticity);
}

void ObservedCurve::observe(double samples, double time_s, double noise) {
  if (has_seen_ && samples == near_.samples) {
    for (Point& point : before_) point.time_s *= time_s / near_.time_s;
    near_.time_s = time_s;
    return;
  }
  const double elasticity_before = samples > near_.samples ? near_.elasticity_above : near_.elasticity_below;
  if (has_seen_) before_.push_back({near_.samples, near_.time_s});
  has_seen_ = true;
  near_ = {samples, time_s, elasticity_before, elasticity_before};
  forget_other_speeds();
  learn(elasticity_before, noise);
}

double ObservedCurve::chord(const Point& point) const {
  if (point.samples == near_.samples) return 0.0;
  return std::log(point.time_s / near_.time_s) / std::log(point.samples / near_.samples);
}

void ObservedCurve::forget_other_speeds() {
  if (before_.size() > batches_before) before_.erase(before_.begin());
  const auto is_of_other_speed = [this](const Point& point) {
    const double elasticity = chord(point);
    return elasticity < least_elasticity || elasticity > largest_elasticity;
  };
  const auto newest = std::find_if(before_.rbegin(), before_.rend(), is_of_other_speed);
  before_.erase(before_.begin(), newest.base());
}

void ObservedCurve::learn(double elasticity_before, double noise) {
  const Point* below = nullptr;
  const Point* above = nullptr;
  for (const Point& point : before_) {
    const Point*& nearest = point.samples > near_.samples ? above : below;
    if (nearest == nullptr ||
        std::abs(point.samples - near_.samples) < std::abs(nearest->samples - near_.samples))
      nearest = &point;
  }
  const auto towards = [&](const Point& point) {
    const double apart = std::abs(std::log(point.samples / near_.samples));
    const double weight = apart * apart / (apart * apart + noise * noise);
    const double learned = elasticity_before + weight * (chord(point) - elasticity_before);
    return std::max(learned, std::min(elasticity_before, noise / apart));
  };
  if (below != nullptr) near_.elasticity_below = towards(*below);
  if (above != nullptr) near_.elasticity_above = towards(*above);
  if (below == nullptr) near_.elasticity_below = near_.elasticity_above;
  if (above == nullptr) near_.elasticity_above = near_.elasticity_below;
}

Allocation equal_times(std::int64_t total, std::span<const TimeNearBatch> workers,
                       std::span<const BatchBounds> bounds) {
  check(workers.size() == bounds.size() && std::ranges::all_of(workers, takes_time),
        "each worker has a positive, finite time and bounds");
  const std::int64_t held = held_by(bounds, total);
  const std::vector<BatchBounds> unbounded(workers.size(), {0, total, BatchLimit::none});
  return whole_batches(held, with_same_time(held, workers, bounds), with_same_time(total, workers, unbounded),
                       bounds);
}

}  // namespace paceline
