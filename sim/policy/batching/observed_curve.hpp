// How a worker's iteration time grows with its batch, told from the last batches it was seen with; and whole
// batches that take every worker the same time.
//
// Models:      the time near the batch in force: a power law on either side of it. A total number of samples
//              divided so that all workers whom no bound holds need the same time.
// Equation:    t(b) = t·(b / b_now)^e, t the time of the batch in force b_now, e the elasticity dln t / dln
//              b. On a side where one of the two batches before lies (the nearest one: b_i, t_i), e is that
//              of the chord between them,
//                  e_i = y/x,  x = ln(b_i / b_now),  y = ln(t_i / t),
//              as far as the two are apart: e = e_0 + w·(e_i - e_0), w = x²/(x² + σ²), σ the relative noise
//              of times; e_0 what the step to b_now was made by, 1 before any (t ∝ b). But not below min(e_0,
//              σ/|x|): times that differ by less than the noise do not tell that time hardly grows. On a side
//              without such a batch e is as on the other.
//              equal_times: x_k = clamp(b_k(T), lowest_k, highest_k), b_k(T) the batch that takes worker k
//              the time T by this law, T such that Σ x_k = total (or the nearest one the bounds can hold);
//              whole numbers by largest remainders. Where every t_k ∝ b_k that is `apportion` by throughputs.
// Units:       samples, seconds.
// Assumptions: times grow with the batch, 0.05 ≤ e ≤ 5. A batch for which e_i is outside was seen at another
//              speed, or is drowned in noise: it is forgotten with all before it. Another time of the batch
//              in force is another speed and multiplies the times of all. A speed that changes together with
//              the batch makes a wrong chord, for at most two more changes of the batch.
// Not modelled: what lies beyond the batches seen: the law goes on, so that a bend comes as a surprise once.
// Source:      own.
#pragma once

#include <vector>

#include "sim/policy/batching/apportion.hpp"

namespace paceline {

// The law on either side of the batch in force.
struct TimeNearBatch {
  double samples = 1.0;
  double time_s = 1.0;
  double elasticity_below = 1.0;
  double elasticity_above = 1.0;

  [[nodiscard]] double batch_taking(double wanted_s) const;
};

class ObservedCurve {
 public:
  // The mean time of the batch in force; `noise`: of times, relative.
  void observe(double samples, double time_s, double noise);
  // Of the last observation.
  [[nodiscard]] const TimeNearBatch& near() const { return near_; }

 private:
  struct Point {
    double samples;
    double time_s;
  };
  [[nodiscard]] double chord(const Point& point) const;
  void forget_other_speeds();
  void learn(double elasticity_before, double noise);

  bool has_seen_ = false;
  TimeNearBatch near_;
  std::vector<Point> before_;  // the newest last
};

[[nodiscard]] Allocation equal_times(std::int64_t total, std::span<const TimeNearBatch> workers,
                                     std::span<const BatchBounds> bounds);

}  // namespace paceline
