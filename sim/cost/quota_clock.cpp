#include "sim/cost/quota_clock.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {

double steady_slowdown(const CpuQuota& quota, int cores) {
  return std::max(1.0, static_cast<double>(cores) / quota.cores);
}

QuotaClock::QuotaClock(const CpuQuota& quota, int cores, Seconds phase)
    : period_(quota.period), allowance_(quota.period / steady_slowdown(quota, cores)), phase_(phase) {
  check(quota.cores > 0.0 && quota.period > Seconds{}, "a quota gives processor time");
}

std::int64_t QuotaClock::period_of(Seconds date) const {
  return static_cast<std::int64_t>(std::floor((date - phase_) / period_));
}

Seconds QuotaClock::begin_of(std::int64_t period) const {
  return phase_ + static_cast<double>(period) * period_;
}

Seconds QuotaClock::left_in_period(Seconds start) const {
  const std::int64_t period = period_of(start);
  const Seconds used = period == used_in_ ? used_ : Seconds{};
  const Seconds until_its_end = std::max(Seconds{}, begin_of(period + 1) - start);
  return std::min(until_its_end, std::max(Seconds{}, allowance_ - used));
}

Seconds QuotaClock::end_of(Seconds start, Seconds work) const {
  const Seconds left = left_in_period(start);
  if (work <= left) return start + work;
  const Seconds later = work - left;
  const double full_periods = std::max(0.0, std::ceil(later / allowance_) - 1.0);
  return begin_of(period_of(start) + 1 + static_cast<std::int64_t>(full_periods)) +
         (later - full_periods * allowance_);
}

Seconds QuotaClock::work_between(Seconds start, Seconds now) const {
  const std::int64_t first = period_of(start);
  const std::int64_t last = period_of(now);
  if (first == last) return std::min(now - start, left_in_period(start));
  return left_in_period(start) + static_cast<double>(last - first - 1) * allowance_ +
         std::min(now - begin_of(last), allowance_);
}

Seconds QuotaClock::use(Seconds start, Seconds now) {
  const Seconds work = work_between(start, now);
  const std::int64_t period = period_of(now);
  const Seconds before = period == used_in_ ? used_ : Seconds{};
  used_ = period == period_of(start) ? before + work : std::min(now - begin_of(period), allowance_);
  used_in_ = period;
  return work;
}

std::int64_t QuotaClock::period_from(Seconds date) const {
  const std::int64_t period = period_of(date);
  return begin_of(period + 1) <= date ? period + 1 : period;
}

QuotaClock::Stretch QuotaClock::stretch(Seconds date) const {
  const std::int64_t period = period_from(date);
  const Seconds used = period == used_in_ ? used_ : Seconds{};
  return {std::max(Seconds{}, allowance_ - used), begin_of(period + 1)};
}

void QuotaClock::spend(Seconds date, Seconds processor_time) {
  const std::int64_t period = period_from(date);
  used_ = (period == used_in_ ? used_ : Seconds{}) + processor_time;
  used_in_ = period;
}

}  // namespace paceline
