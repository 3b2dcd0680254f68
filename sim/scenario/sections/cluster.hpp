// The section `cluster`: the machines, the parameter servers, and the network between them.
#pragma once

#include <cstdint>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/value_kinds.hpp"
#include "sim/scenario/sections/network.hpp"
#include "sim/scenario/sections/terms.hpp"

namespace paceline {

template <class Visitor>
void describe(Visitor& v, CpuQuota& c) {
  v.required("cores", c.cores, Number{above(0)}, "as much processor time as so many cores give, e.g. 0.5");
  v.optional("period", c.period, duration(above(0)), "in which it may be used, all at once if need be");
}

template <class Visitor>
void describe(Visitor& v, Worker& c) {
  v.required("cores", c.cores, Whole<int>{1, 1 << 16},
             "CPU cores; the profile must have measured this number");
  v.optional("speed", c.speed, Number{above(0)},
             "relative to the profile's machine; 0.5 takes twice as long");
  v.optional("profile", c.profile, Path{}, "calibration file of this machine, for the job's network",
             Absent{"the job's"});
  v.optional("quota", c.quota, Section{}, "limit of processor time, as containers have", Absent{"none"});
  v.optional("memory", c.memory, size(above(0)),
             "what a batch must fit into, by the profile's memory model: larger ones are cut and reported",
             Absent{"no limit"});
  v.optional("flops", c.flops, flop_rate(above(0)), "declared peak, for `batching.shares: flops`",
             Absent{"not declared"});
  v.optional(
      "random_stream", c.random_stream, Whole<std::uint32_t>{0, maximum_workers - 1},
      "whose luck it has: names its random numbers (jitter, stragglers, order of its data), so that a list "
      "in another order keeps them",
      Absent{"its place in the list, from 0"});
}

template <class Visitor>
void describe(Visitor& v, Machine& c) {
  v.required("cores", c.cores, Whole<int>{1, 1 << 16}, "of the whole machine");
  v.required("workers", c.workers, ListOf<Whole<std::uint64_t>>{{0}, "worker", 1},
             "that run on it, from 0, on cores of their own");
}

template <class Visitor>
void describe(Visitor& v, ServersConfig& c) {
  v.optional("count", c.count, Whole<std::uint32_t>{1, 1U << 16U},
             "parameter servers; each holds an equal shard of the parameters");
  v.optional("placement", c.placement,
             Choice<ServerPlacement>{
                 {{"separate", ServerPlacement::separate}, {"with-workers", ServerPlacement::with_workers}}},
             "separate: machines of their own; with-workers: server k runs on worker k (mod workers)");
}

template <class Visitor>
void describe(Visitor& v, Cluster& c) {
  v.required("workers", c.workers, ListOf<Section>{{}, "worker", 1, maximum_workers},
             "the machines that train");
  v.required("network", c.network, Section{}, "the network between them");
  v.optional("servers", c.servers, Section{}, "parameter servers, for `transport: server`");
  v.optional("machines", c.machines, ListOf<Section>{{}, "machine"},
             "hosts that several workers share: no level may ask for more cores than they have");
}

}  // namespace paceline
