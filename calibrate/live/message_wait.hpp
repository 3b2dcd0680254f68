// What workers of one machine cost one another: messages of busy workers, beside the same job simulated.
//
// Models:      a process that a message wakes may have to wait for one that computes on the same core, also
//              while another core is idle; or makes that one wait. Packets of others' messages interrupt
//              whoever computes. Requests of one worker alone do not show it.
// Equation:    I: mean iteration of a worker, B: mean time from its end to the beginning of the next, P: mean
//              processor time of an iteration. The latency L is the one with which one simulated worker has
//              the B that was measured of one. The slowdown of n is s = P of n / P of one: what an iteration
//              waits for a core, while others or the server have it, uses up no quota. The wait w of all
//              messages is the one with which n have I + B of n, and took of processors for messages what n
//              took. None is below 0; where one worker has less between than that, server and worker handle
//              packets while links carry others: the share of what both take for messages with which one
//              simulated worker has that B, or all of it, is their overlap, of n as of one.
//              Found by x <- x + (measured - simulated) / 2, since two messages lie between iterations
//              (2 (n - 1) around a ring, calibrate/collective/ring_fit.hpp): over a link that is nearly full
//              the first part of a wait costs nothing. Synchronous workers that have a core each are slowed
//              by s times their own P over that of all: who is sent its parameters first computes while those
//              of the others are sent. Iterations of n on a core each vary as measured of n: whoever is late
//              by itself, synchronous ones wait for it.
// Units:       seconds.
// Assumptions: the server writes to sockets (ServerSends, sim/cluster/cluster.hpp).
//              Simulated workers begin one after the other, since real ones are not in step. What is not
//              explained by links, processor time and shares of the cores is waiting, the same for both
//              messages of every worker.
// Not modelled: how both depend on who computes, and for how long; several that begin iterations more often
//              than simulated ones without any wait.
// Source:      traces of the kernel's scheduler, docs/real-jobs.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cost/fixed_costs.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline::live {

// Means of one worker.
struct CycleTime {
  Seconds iteration;
  Seconds between;  // from the end of an iteration to the begin of the next
};
[[nodiscard]] CycleTime mean_of(const std::vector<CycleTime>& cycles);

// The time added to each worker's messages with which what is predicted between its iterations is what was
// measured, within half a percent; not below 0. `messages`: that lie between iterations, one after the other.
struct AddedToMessages {
  std::vector<Seconds> added;
  std::vector<Seconds> predicted_between;  // with them, or with those of the step before
};
[[nodiscard]] AddedToMessages added_to_messages(
    const std::vector<Seconds>& measured_between,
    const std::function<std::vector<Seconds>(const std::vector<Seconds>& added)>& predicted_between,
    double messages = 2.0);

// Workers that learn nothing, each busy for a while before it sends a gradient to the one server, or adds it
// up with the others.
struct BusyWorkers {
  std::uint32_t workers = 1;
  std::string policy = "asp";
  Transport transport = Transport::server;
  Seconds busy{};                // of one worker alone
  double slowdown = 1.0;         // of that
  std::vector<double> shares{};  // of the slowdown, by worker, 1 in the mean; empty: all the same
  double variation = 0.0;        // of these times, sd / mean
  Bytes bytes;                   // of a gradient
  CommunicationCost cost{};
  NetworkConfig network{};
  int cores = 1;   // of the machine of all processes
  Seconds wait{};  // of each message, mean
};
[[nodiscard]] CycleTime simulated_cycle(const BusyWorkers& job);

// A job, all but its slowdown, waits and the network's latency, and what was measured of it.
struct MeasuredWorkers {
  BusyWorkers job;
  CycleTime cycle;
  Seconds processor;  // of an iteration
};
struct Disturbance {
  double slowdown = 1.0;            // of what workers compute, mean
  std::vector<double> of_worker{};  // of what each computes
  Seconds wait{};                   // of each message, mean
  double overlap = 0.0;             // of what server and workers do for messages
  double variation = 0.0;           // of iterations, sd / mean, with which all this was found
};
// Of several workers, beside one alone.
[[nodiscard]] Disturbance disturbance_of(const MeasuredWorkers& one, const MeasuredWorkers& several);

}  // namespace paceline::live
