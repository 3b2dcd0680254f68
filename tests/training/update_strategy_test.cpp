#include "sim/training/update_strategy.hpp"

#include <memory>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

const std::vector<WorkerId> both{WorkerId{0}, WorkerId{1}};

std::unique_ptr<UpdateStrategy> all_reduce(Transport transport, std::size_t servers) {
  return std::make_unique<UpdateStrategy>(PhaseConfig{.transport = transport}, servers);
}
std::unique_ptr<UpdateStrategy> over_servers(Exchange exchange, std::size_t servers) {
  return std::make_unique<UpdateStrategy>(PhaseConfig{.transport = Transport::server, .exchange = exchange},
                                          servers);
}

Apply step_of(std::uint64_t gradient) {
  return {UpdateId{7}, ServerId{1}, true, {{.worker = WorkerId{0}, .gradient = GradientId{gradient}}}, {}};
}

}  // namespace

TEST_CASE("an all-reduce is decided once, everything that goes over servers at each of them") {
  CHECK(all_reduce(Transport::ring, 3)->deciders() == 1);
  CHECK(over_servers(Exchange::gradients, 3)->deciders() == 3);
  CHECK(over_servers(Exchange::parameters, 3)->deciders() == 3);
}

TEST_CASE("under an all-reduce a gradient is combined where it is, and one step changes every shard") {
  const auto strategy = all_reduce(Transport::tree, 3);
  CHECK(strategy->after_computing() == Onward::combine);
  CHECK_FALSE(strategy->gather(WorkerId{0}, ServerId{0}).has_value());
  const Action begun = strategy->begin(UpdateId{7}, ServerId{0}, both);
  CHECK(std::get<AllReduce>(begun).members == both);
  CHECK(std::get<AllReduce>(begun).transport == Transport::tree);
  const ShardRange shards = strategy->shards_of(ServerId{0});
  CHECK(shards.first == 0);
  CHECK(shards.end == 3);
}

TEST_CASE("under an all-reduce whoever needs parameters gets them from the first other member") {
  const auto strategy = all_reduce(Transport::ring, 1);
  CHECK_FALSE(strategy->parameters_travel());
  Workers workers(3);
  Actions actions;
  workers[WorkerId{0}].is_dropped = true;
  workers[WorkerId{2}].iteration = IterationState{.gradient = GradientId{5}, .batch_samples = 48};
  CHECK(strategy->send_parameters(WorkerId{2}, workers, false, actions) == 1);
  CHECK(std::get<SendParameters>(actions.at(0)).from_worker == WorkerId{1});
  CHECK(std::get<SendParameters>(actions.at(0)).batch_samples == 48);
  // Alone it has nobody to ask.
  workers[WorkerId{1}].status = WorkerStatus::away;
  CHECK(strategy->send_parameters(WorkerId{2}, workers, false, actions) == 0);
}

TEST_CASE("servers gather gradients, step on their own shard and send all parts of the parameters back") {
  const auto strategy = over_servers(Exchange::gradients, 2);
  CHECK(strategy->after_computing() == Onward::send);
  CHECK(std::get<Accumulate>(*strategy->gather(WorkerId{1}, ServerId{1})).server == ServerId{1});
  CHECK_FALSE(std::get<Step>(strategy->begin(UpdateId{7}, ServerId{1}, both)).overwrites);
  CHECK(strategy->shards_of(ServerId{1}).first == 1);
  CHECK(strategy->shards_of(ServerId{1}).end == 2);
  CHECK(std::holds_alternative<Apply>(strategy->change(step_of(3))));
  CHECK(strategy->parameters_travel());
  CHECK(strategy->pulls(false));
  Workers workers(2);
  workers[WorkerId{1}].iteration = IterationState{.gradient = GradientId{5}, .batch_samples = 48};
  Actions actions;
  CHECK(strategy->send_parameters(WorkerId{1}, workers, false, actions) == 2);
  CHECK(std::get<SendParameters>(actions.at(1)).server == ServerId{1});
}

TEST_CASE("with parameters exchanged a worker steps first, sends, overwrites, and pulls once an epoch") {
  const auto strategy = over_servers(Exchange::parameters, 2);
  CHECK(strategy->after_computing() == Onward::local_step);
  CHECK(std::get<Step>(strategy->begin(UpdateId{7}, ServerId{1}, {WorkerId{0}})).overwrites);
  CHECK(std::get<Overwrite>(strategy->change(step_of(3))).by.gradient == GradientId{3});
  CHECK_FALSE(strategy->pulls(false));
  CHECK(strategy->pulls(true));
}
