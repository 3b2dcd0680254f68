#include "sim/policy/batching/observed_curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace paceline {
namespace {

constexpr double least_elasticity = 0.05;
constexpr double largest_elasticity = 5.0;
constexpr std::size_t batches_before = 2;  // with the one in force they can lie on both sides of the balance

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

}  // namespace paceline
