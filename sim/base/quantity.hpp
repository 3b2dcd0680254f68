// Physical quantities with their dimension in the type.
//
// Models:      a real number times seconds^Time · bytes^Data.
// Equation:    products add exponents, quotients subtract them; sums need equal exponents.
// Units:       stored in SI base units (s, B, B/s, 1/s); `value()` returns that number.
// Assumptions: double precision is enough: 1e-16 relative.
// Not modelled: integer counts (samples, updates); those are std::int64_t with the unit in the name.
#pragma once

#include <compare>

namespace paceline {

template <int Time, int Data>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value_in_base_units) : value_(value_in_base_units) {}

  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity{a.value_ * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity{a.value_ * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity{a.value_ / divisor}; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  double value_ = 0.0;
};

template <int T1, int D1, int T2, int D2>
[[nodiscard]] constexpr auto operator/(Quantity<T1, D1> a, Quantity<T2, D2> b) {
  if constexpr (T1 == T2 && D1 == D2) {
    return a.value() / b.value();
  } else {
    return Quantity<T1 - T2, D1 - D2>{a.value() / b.value()};
  }
}

using Seconds = Quantity<1, 0>;  // a duration, or a point in time counted from the start of the job
using Bytes = Quantity<0, 1>;
using BytesPerSecond = Quantity<-1, 1>;

// An amount of training work as people write it: "400 updates", "4096 samples", "0.5 epochs".
enum class CountUnit { updates, samples, epochs };

struct Count {
  double value = 0.0;
  CountUnit unit = CountUnit::samples;
};

}  // namespace paceline
