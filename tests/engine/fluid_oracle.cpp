// Compares the fluid timeline with SimGrid on as many random networks as asked for, and says what it found.
//
//   build/tests/fluid_oracle 10000            the first 10,000
//   build/tests/fluid_oracle --show 17        what number 17 is, and all dates
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "tests/engine/network_traffic.hpp"

int main(int argc, char** argv) {
  using namespace paceline;
  using namespace paceline::test;
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
  double worst = 0.0;
  double worst_use = 0.0;
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    const NetworkTraffic traffic = random_traffic(seed);
    const TrafficComparison found = compare(carry_by_simgrid(traffic), carry_by_fluid(traffic));
    dates += found.dates;
    worst = std::max(worst, found.worst);
    worst_use = std::max(worst_use, found.worst_use);
    if (found.difference.empty() && found.worst <= 1e-9 && found.worst_use <= 1e-9) continue;
    ++wrong;
    fmt::print("number {}: dates {:.2g}, use {:.2g} {}\n", seed, found.worst, found.worst_use,
               found.difference);
  }
  fmt::print(
      "{} random networks, {} dates: largest relative difference {:.2g}, of use {:.2g}; {} networks differ "
      "by "
      "more than 1e-9\n",
      count, dates, worst, worst_use, wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
