// What a request at a parameter server takes, measured with the live server itself.
//
// Models:      jobs, asynchronous or synchronous, of worker processes that learn nothing: each answers
//              parameters with a gradient of as many values, after it was busy with as much memory as takes
//              an undisturbed processor as long as a gradient does, or after a user's own training loop has
//              taken a step (stepped_loop.hpp): after processors slept and caches were used for other things,
//              messages take several times as long as in a ping-pong. Protocol, server, coordinator and
//              update are those of a live job; but where a loop computes, the server hears that parameters
//              have arrived with the gradient only, as other servers do not hear it at all.
// Equation:    of each request: the server's processor time for receiving, deciding and answering; its
//              processor time for applying the gradient; a worker's processor time for its two messages,
//              one out and one in; the wall-clock time from one gradient of a worker to its next. Of many
//              requests (at the server, of rounds of all workers): the mean of those within three times
//              their median, warm-up left out. Of each worker, all of its requests counted: the mean time it
//              was busy, and from the end of that to the next. How times vary: in pairs of two workers' k-th
//              ones, or of a lone worker's neighbouring ones (calibrate/logs/statistics.hpp). Where a loop
//              computes, a worker is busy as long as the loop says; what it takes to ask the loop and to hear
//              from it is no part of the wall-clock time: in a real job one process does both. A server that
//              takes more, such as one written in Python, is imitated: this one is busy with memory besides
//              as it applies a gradient.
// Units:       seconds of processor or wall-clock time; bytes of one gradient.
// Assumptions: with one worker it and the server have a core each, and what is left of the wall-clock time,
//              computing taken off, is the connection's, half of it in each direction. A worker that is
//              alone stays where it is, since here its messages and its loop are two processes, which a
//              kernel may move with every step: it is kept on one core and then on another, since one may be
//              slower for a while, and several use both. Means of the two; in the next pass the one
//              after each.
// Not modelled: requests of different sizes at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/message_wait.hpp"
#include "calibrate/live/steady_passes.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline::live {

class ProcessCrew;

struct RequestLoad {
  std::uint64_t values = 1;  // of a gradient, float32
  std::uint32_t workers = 1;
  std::string policy = "asp";  // or bsp
  int requests = 100;          // of all workers together, warm-up not counted
  int warm_up = 10;            // likewise
  MemoryWork serving{};        // of the server besides, for each
  // Of a worker that is alone: which of its cores it is kept on. Absent: it has all.
  std::optional<std::size_t> core{};
};

struct RequestTime {
  Bytes bytes;                       // of one gradient
  Seconds server;                    // receiving, deciding, answering
  Seconds applying;                  // at the server
  Seconds worker;                    // both messages
  Seconds connection;                // the rest of the wall-clock time; 0 with several workers
  CycleTime cycle{};                 // mean of all workers
  Seconds processor{};               // that a worker computes for a gradient; of a loop, as it says
  std::vector<Seconds> of_worker{};  // likewise of each of synchronous ones
  double variation = 0.0;            // of the time a worker is busy
};

struct RequestCrew {
  std::uint32_t workers = 1;
  std::uint64_t values = 1;              // of a gradient, at most
  MemoryWork busy{};                     // of each worker, before each gradient
  std::vector<std::string> loop{};       // of each worker, likewise: takes a step
  std::optional<NetworkConfig> links{};  // to emulate
  bool keeps_cores = true;               // as workers of a live job do, where there are enough
};

// Worker processes that go on from one job to the next: jobs of few and of many, in turn, differ in nothing
// else.
class RequestWorkers {
 public:
  // Throws what ProcessCrew throws.
  RequestWorkers(const std::filesystem::path& program, const RequestCrew& crew);
  ~RequestWorkers();

  // A job of the first workers; the others rest. Throws Interrupted, and what throw_if_lost throws.
  [[nodiscard]] RequestTime time(const RequestLoad& load);

 private:
  std::unique_ptr<ProcessCrew> crew_;
};

using RequestPass = std::vector<RequestTime>;  // one of each size
struct RequestPlan {
  std::vector<std::uint64_t> values;         // sizes
  std::vector<std::uint32_t> workers = {1};  // numbers of them
  std::string policy = "asp";
  int passes = 5;
  Seconds for_each{0.2};                 // of about so long, each size and number in each pass, links aside
  MemoryWork busy{};                     // of a worker, before each gradient
  std::vector<std::string> loop{};       // that does instead what `busy` says how long it takes; empty: none
  std::vector<MemoryWork> serving{};     // of the server besides, for each gradient, by size; empty: none
  std::optional<NetworkConfig> links{};  // to emulate
  bool keeps_cores = true;
  std::function<CoreLook()> look{};  // by which passes count; absent: all do
};
struct RequestCounts {
  int timed;
  int warm_up;
};
// Of each worker, where a worker and the server are busy for so long with each gradient of as many values.
// Those that links carry for long vary little, and would take minutes: fewer of them.
[[nodiscard]] RequestCounts request_counts(std::uint64_t values, Seconds busy, const RequestPlan& plan);
struct TimedPasses {
  std::vector<std::vector<RequestPass>> of_number;  // of workers, in the order of the plan
  SteadyPasses steady;                              // which passes these are
};
// Each pass has new processes; within it, numbers take turns at each size, since a machine changes its speed
// from one second to the next. Throws what RequestWorkers does.
[[nodiscard]] TimedPasses time_passes(
    const std::filesystem::path& program, const RequestPlan& plan,
    const std::function<void(double share_done)>& progress = [](double) {});

}  // namespace paceline::live
