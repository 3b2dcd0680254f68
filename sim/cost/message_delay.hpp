// What a message between a worker and a server waits besides travelling: for a turn of a processor, or behind
// what the model does not know of.
//
// Models:      each message is held back by a random time before it is sent.
// Equation:    D ~ exponential with the mean of its worker; independent of all others.
// Units:       seconds.
// Assumptions: messages of one worker and one server may overtake each other. A worker's draws depend on its
//              random stream, the gradient they belong to and the server, so that policies compared meet the
//              same ones.
// Not modelled: messages of an all-reduce, and between workers; waits that come in clusters.
// Source:      means of 0.09 to 0.27 ms between processes of one machine (docs/validation.md); that they are
//              exponential is an assumption.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"

namespace paceline {

enum class MessageWay { to_server, to_worker };

class MessageDelays {
 public:
  MessageDelays() = default;  // none
  // `means` and `random_streams` by worker.
  MessageDelays(std::vector<Seconds> means, std::vector<std::uint32_t> random_streams, Seed seed)
      : means_(std::move(means)), random_streams_(std::move(random_streams)), seed_(seed) {
    check(means_.size() == random_streams_.size(), "every worker has a mean wait of its messages");
  }

  [[nodiscard]] Seconds of(WorkerId worker, GradientId gradient, ServerId server, MessageWay way) const {
    if (means_.empty()) return {};
    const Seconds mean = means_.at(worker.value);
    if (mean == Seconds{}) return {};
    const std::uint64_t index = 2 * gradient.value + (way == MessageWay::to_worker ? 1 : 0);
    RandomStream stream(seed_, Purpose::message_delay, random_streams_.at(worker.value), index);
    double uniform = stream.uniform();
    for (std::uint64_t before = 0; before < server.value; ++before) uniform = stream.uniform();
    return -std::log(uniform) * mean;
  }

 private:
  std::vector<Seconds> means_;
  std::vector<std::uint32_t> random_streams_;
  Seed seed_;
};

}  // namespace paceline
