#include "calibrate/live/clocks_apart.hpp"

#include <algorithm>
#include <cstdint>

#include <doctest/doctest.h>

namespace paceline::live {
namespace {

struct Errors {  // of dates, in ns: below 0 is before it was
  std::int64_t earliest = 0;
  std::int64_t latest = 0;
};

// Of messages every 10 ms for a quarter of an hour. One of three takes 0.1 ms, others up to 2 ms more.
Errors errors_of(double others_rate) {
  constexpr std::int64_t begun_apart_ns = 7'000'000'000;
  ClocksApart apart;
  Errors errors;
  for (std::int64_t i = 0; i < 90'000; ++i) {
    const std::int64_t happened_ns = i * 10'000'000;
    const std::int64_t written_ns =
        static_cast<std::int64_t>(static_cast<double>(happened_ns) * others_rate) - begun_apart_ns;
    const std::int64_t came_ns = happened_ns + 100'000 + (i % 3) * (i % 11) * 100'000;
    const std::int64_t error_ns = written_ns + apart.ns(came_ns, written_ns) - happened_ns;
    errors.earliest = std::min(errors.earliest, error_ns);
    errors.latest = std::max(errors.latest, error_ns);
  }
  return errors;
}

}  // namespace

TEST_CASE("bug: a worker whose host's clock ran slower was dismissed after a while") {
  // By 200 millionths: 180 ms in this time. What it did is dated as late as a quick message took, 0.1 ms, and
  // never before it was. Between two of these, 30 ms at most, what is told grows by 1e-3 · 30 ms.
  for (const double rate : {1.0, 1.0 - 200e-6, 1.0 + 200e-6}) {
    CAPTURE(rate);
    const Errors errors = errors_of(rate);
    CHECK(errors.earliest >= 0);
    CHECK(errors.latest <= 100'000 + 30'000);
  }
}

}  // namespace paceline::live
