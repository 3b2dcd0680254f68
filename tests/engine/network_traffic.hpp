// Random traffic on a random network, to be carried by one timeline and another.
//
// Topologies, speeds, latencies (equal, unequal or none), model factors, message sizes and dates are drawn,
// often alike, so that messages meet and end together. Some messages answer others, some are of collectives,
// and bandwidths change meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/timeline.hpp"

namespace paceline::test {

struct NetworkTraffic {
  // A message to and fro, `times` times, with a rest in between.
  struct Exchange {
    Endpoint a;
    Endpoint b;
    Seconds begin;
    Seconds rest;
    Bytes size;
    std::uint64_t times = 1;
  };
  struct Collective {
    Transport algorithm = Transport::ring;
    Seconds begin;
    Bytes size;
    bool is_alone = false;
  };
  struct Change {
    WorkerId worker;
    Seconds at;
    double factor = 1.0;
  };
  Cluster cluster;
  std::vector<Exchange> exchanges;
  std::vector<Collective> collectives;
  std::vector<Change> changes;
};

[[nodiscard]] NetworkTraffic random_traffic(std::uint32_t seed);
[[nodiscard]] std::string to_text(const NetworkTraffic& traffic);

struct Carried {
  std::map<std::uint64_t, Seconds> dates;  // when each message or collective was over
  std::vector<LinkUse> use;
};
[[nodiscard]] Carried carry(const NetworkTraffic& traffic, Timeline& timeline);

// Under SimGrid, in a process of its own.
[[nodiscard]] Carried carry_by_simgrid(const NetworkTraffic& traffic);
[[nodiscard]] Carried carry_by_fluid(const NetworkTraffic& traffic);

struct TrafficComparison {
  std::size_t dates = 0;
  double worst = 0.0;      // relative difference of a date
  double worst_use = 0.0;  // of a link's busy or saturated time, relative to the whole time
  std::string difference;  // what is not even comparable; empty: nothing
};
[[nodiscard]] TrafficComparison compare(const Carried& simgrid, const Carried& fluid);

}  // namespace paceline::test
