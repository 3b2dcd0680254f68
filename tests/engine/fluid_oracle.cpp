// Compares the fluid timeline with SimGrid on as many random networks as asked for, and says what it found.
//
//   build/tests/fluid_oracle 10000            the first 10,000
//   build/tests/fluid_oracle --show 17        what number 17 is, and all dates
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "tests/engine/network_traffic.hpp"

namespace {

using namespace paceline;
using namespace paceline::test;

// Whether the last digits of dates decide: whom a burst serves first of messages that set out at one date,
// by round numbers. Then the fluid network differs from itself when one exchange is moved by a part in 1e13.
bool is_decided_by_rounding(const NetworkTraffic& traffic) {
  const Carried as_it_is = carry_by_fluid(traffic);
  for (const double nudge : {1.0 + 1e-13, 1.0 - 1e-13})
    for (std::size_t i = 0; i < traffic.exchanges.size(); ++i) {
      NetworkTraffic nudged = traffic;
      NetworkTraffic::Exchange& one = nudged.exchanges[i];
      one.begin = one.begin * nudge;
      one.rest = one.rest * nudge;
      const TrafficComparison found = compare(as_it_is, carry_by_fluid(nudged));
      if (!found.difference.empty() || found.worst > 1e-9 || found.worst_use > 1e-9) return true;
    }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--show") {
    const NetworkTraffic traffic = random_traffic(static_cast<std::uint32_t>(std::stoul(argv[2])));
    fmt::print("{}", to_text(traffic));
    const Carried simgrid = carry_by_simgrid(traffic);
    const Carried fluid = carry_by_fluid(traffic);
    for (const auto& [tag, date] : simgrid.dates) {
      const auto found = fluid.dates.find(tag);
      const double other = found == fluid.dates.end() ? -1.0 : found->second.value();
      fmt::print("{:8} {:.15g} {:.15g} {:.2g}\n", tag, date.value(), other, other / date.value() - 1.0);
    }
    for (std::size_t i = 0; i < fluid.use.size(); ++i)
      fmt::print("{}: busy {} {} saturated {} {}\n", fluid.use[i].name, simgrid.use[i].busy.value(),
                 fluid.use[i].busy.value(), simgrid.use[i].saturated.value(), fluid.use[i].saturated.value());
    return EXIT_SUCCESS;
  }
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // processes that SimGrid runs in would print it again
  const auto count = static_cast<std::uint32_t>(argc == 2 ? std::stoul(argv[1]) : 1000);
  std::size_t dates = 0;
  std::size_t wrong = 0;
  std::size_t rounded = 0;
  double worst = 0.0;
  double worst_use = 0.0;
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    const NetworkTraffic traffic = random_traffic(seed);
    const TrafficComparison found = compare(carry_by_simgrid(traffic), carry_by_fluid(traffic));
    const bool is_same = found.difference.empty() && found.worst <= 1e-9 && found.worst_use <= 1e-9;
    const bool by_rounding = !is_same && is_decided_by_rounding(traffic);
    if (!by_rounding) {
      dates += found.dates;
      worst = std::max(worst, found.worst);
      worst_use = std::max(worst_use, found.worst_use);
    }
    if (is_same) continue;
    ++(by_rounding ? rounded : wrong);
    fmt::print("number {}: dates {:.2g}, use {:.2g} {}{}\n", seed, found.worst, found.worst_use,
               found.difference, by_rounding ? ", decided by rounding" : "");
  }
  fmt::print(
      "{} random networks, {} dates: largest relative difference {:.2g}, of use {:.2g}; {} more are decided "
      "by "
      "rounding, {} differ by more than 1e-9\n",
      count, dates, worst, worst_use, rounded, wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
