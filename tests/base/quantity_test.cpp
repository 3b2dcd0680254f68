#include "sim/base/quantity.hpp"

#include <concepts>
#include <type_traits>

#include <doctest/doctest.h>

namespace paceline {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

// Dimensions are checked by the compiler: a duration plus a size does not exist.
static_assert(Addable<Seconds, Seconds>);
static_assert(!Addable<Seconds, Bytes>);
static_assert(!Addable<Seconds, double>);
static_assert(!Comparable<Bytes, BytesPerSecond>);
static_assert(!std::convertible_to<double, Seconds>);
static_assert(std::is_same_v<decltype(Bytes{} / Seconds{}), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Bytes{} / BytesPerSecond{}), Seconds>);
static_assert(std::is_same_v<decltype(Seconds{} / Seconds{}), double>);

TEST_CASE("a size divided by a rate is the time of the transfer: 1e6 B / 125e6 B/s = 8 ms") {
  const Seconds time = Bytes{1e6} / BytesPerSecond{125e6};
  CHECK(time.value() == doctest::Approx(8e-3).epsilon(1e-15));
}

TEST_CASE("sums, differences and multiples act on the number") {
  Seconds time = Seconds{1.5} + 2.0 * Seconds{0.25} - Seconds{4.0} / 8.0;
  CHECK(time == Seconds{1.5});
  time += Seconds{1.0};
  time -= Seconds{0.5};
  CHECK(time == Seconds{2.0});
  CHECK(time * 2.0 == Seconds{4.0});
}

TEST_CASE("equal dimensions cancel to a plain number, and quantities order by value") {
  CHECK(Seconds{3.0} / Seconds{2.0} == 1.5);
  CHECK(Seconds{1.0} < Seconds{2.0});
  CHECK(Bytes{} == Bytes{0.0});
}

}  // namespace
}  // namespace paceline
