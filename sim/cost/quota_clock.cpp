#include "sim/cost/quota_clock.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {

Seconds allowance_of(const CpuQuota& quota, int cores) {
  return quota.period / std::max(1.0, static_cast<double>(cores) / quota.cores);
}

double steady_slowdown(const CpuQuota& quota, int cores) {
  const double slowdown = std::max(1.0, static_cast<double>(cores) / quota.cores);
  const Seconds resume = quota.resume.value_or(Seconds{});
  if (slowdown == 1.0 || resume == Seconds{}) return slowdown;
  return quota.period / (allowance_of(quota, cores) - resume);
}

QuotaClock::QuotaClock(const CpuQuota& quota, int cores, Seconds phase)
    : period_(quota.period),
      allowance_(allowance_of(quota, cores)),
      resume_(allowance_ < period_ ? quota.resume.value_or(Seconds{}) : Seconds{}),
      phase_(phase) {
  check(quota.cores > 0.0 && quota.period > Seconds{}, "a quota gives processor time");
  check(resume_ >= Seconds{} && resume_ < allowance_, "who goes on gets on");
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

Seconds QuotaClock::owed(Seconds start) const {
  return period_of(start) == used_in_ ? owed_ : Seconds{};
}

bool QuotaClock::is_held_up(Seconds start) const {
  return left_in_period(start) < begin_of(period_of(start) + 1) - start;
}

Seconds QuotaClock::end_of(Seconds start, Seconds work) const {
  const Seconds left = left_in_period(start);
  const Seconds to_do = work + owed(start);
  if (to_do <= left) return start + to_do;
  const std::int64_t next = period_of(start) + 1;
  const Seconds saved = is_held_up(start) ? Seconds{} : resume_;
  const Seconds later = to_do - left - saved;
  if (later <= Seconds{}) return begin_of(next) + (later + saved);
  const Seconds useful = allowance_ - resume_;
  const double full_periods = std::max(0.0, std::ceil(later / useful) - 1.0);
  return begin_of(next + static_cast<std::int64_t>(full_periods)) +
         (resume_ + (later - full_periods * useful));
}

Seconds QuotaClock::work_between(Seconds start, Seconds now) const {
  const std::int64_t first = period_of(start);
  const std::int64_t last = period_of(now);
  if (first == last) return std::max(Seconds{}, std::min(now - start, left_in_period(start)) - owed(start));
  const Seconds saved = is_held_up(start) ? Seconds{} : resume_;
  const Seconds at_last = std::min(now - begin_of(last), allowance_);
  const Seconds full = static_cast<double>(last - first - 1) * (allowance_ - resume_);
  const Seconds before = left_in_period(start) - owed(start) + full;
  if (last - first > 1) return before + saved + std::max(Seconds{}, at_last - resume_);
  return before + std::max(Seconds{}, at_last - (resume_ - saved));
}

Seconds QuotaClock::use(Seconds start, Seconds now) {
  const Seconds work = work_between(start, now);
  const std::int64_t period = period_of(now);
  const Seconds before = period == used_in_ ? used_ : Seconds{};
  const bool stays = period == period_of(start);
  const Seconds in_period =
      stays ? std::min(now - start, left_in_period(start)) : std::min(now - begin_of(period), allowance_);
  const bool has_resumed = period - period_of(start) > 1 || is_held_up(start);
  const Seconds to_resume = stays ? owed(start) : has_resumed ? resume_ : Seconds{};
  owed_ = std::max(Seconds{}, to_resume - in_period);
  used_ = stays ? before + in_period : in_period;
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
