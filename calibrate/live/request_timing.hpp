// What a request at a parameter server takes, measured with the live server itself.
//
// Models:      one job, asynchronous or synchronous, of worker processes that learn nothing: each answers
//              parameters with a gradient of as many values, after it was busy with as much memory as takes
//              an undisturbed processor as long as a gradient does: after processors slept and caches were
//              used for other things, messages take several times as long as in a ping-pong. Protocol,
//              server, coordinator and update are those of a live job.
// Equation:    of each request: the server's processor time for receiving, deciding and answering; its
//              processor time for applying the gradient; a worker's processor time for its two messages,
//              one out and one in; the wall-clock time from one gradient of a worker to its next. Of many
//              requests (at the server, of rounds of all workers): the mean of those within three times
//              their median, warm-up left out. Of each worker, all of its requests counted: the mean time it
//              was busy, and from the end of that to the next. A server that takes more, such as one written
//              in Python, is imitated: this one is busy with memory besides as it applies a gradient.
// Units:       seconds of processor or wall-clock time; bytes of one gradient.
// Assumptions: with one worker it and the server have a core each, and what is left of the wall-clock time,
//              computing taken off, is the connection's, half of it in each direction.
// Not modelled: requests of different sizes at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/message_wait.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline::live {

struct RequestLoad {
  std::uint64_t values = 1;  // of a gradient, float32
  std::uint32_t workers = 1;
  std::string policy = "asp";            // or bsp
  int requests = 100;                    // of all workers together, warm-up not counted
  MemoryWork busy{};                     // of a worker, before each gradient
  MemoryWork serving{};                  // of the server besides, for each
  std::optional<NetworkConfig> links{};  // to emulate
};

struct RequestTime {
  Bytes bytes;             // of one gradient
  Seconds server;          // receiving, deciding, answering
  Seconds applying;        // at the server
  Seconds worker;          // both messages
  Seconds connection;      // the rest of the wall-clock time; 0 with several workers
  CycleTime cycle{};       // mean of all workers
  double variation = 0.0;  // of the time a worker is busy, sd / mean
};

// Starts the processes, and ends them. Throws Interrupted, and std::runtime_error when a process is lost.
[[nodiscard]] RequestTime time_requests(const std::filesystem::path& program, const RequestLoad& load);

using RequestPass = std::vector<RequestTime>;  // one of each size, in processes of its own
struct RequestPlan {
  std::vector<std::uint64_t> values;  // sizes
  std::uint32_t workers = 1;
  std::string policy = "asp";
  int passes = 5;
  Seconds for_each{0.2};              // of about so long, each size in each pass
  MemoryWork busy{};                  // of a worker, before each gradient
  std::vector<MemoryWork> serving{};  // of the server besides, for each gradient, by size; empty: none
  std::optional<NetworkConfig> links{};
};
[[nodiscard]] std::vector<RequestPass> time_passes(
    const std::filesystem::path& program, const RequestPlan& plan,
    const std::function<void(double share_done)>& progress = [](double) {});

}  // namespace paceline::live
