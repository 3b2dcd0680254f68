// What a worker process of a live job has to know before it begins, as the launcher writes it for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "calibrate/live/memory_load.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/learning/network_learner.hpp"

namespace paceline::live {

// To time requests: a worker that answers parameters with a gradient of their size that means nothing, after
// it was busy with memory, as one that computes is, or after a step of somebody's training loop.
struct Echo {
  std::uint64_t values = 1;  // of a gradient, at most, and until parameters have come
  MemoryWork busy{};
  std::vector<std::string> loop{};  // stepped_loop.hpp; empty: none
};

// How members of an all-reduce are joined.
struct RingWay {
  bool is_own = false;  // not by Gloo, where the program was built with it
  Seconds latency{};    // of messages in a ring of its own
};

struct WorkerSetup {
  NetworkLearnerConfig learner;
  bool is_evaluator = false;
  double speed =
      1.0;  // below 1: it rests after each gradient as long as a slower machine would still compute
  std::optional<Echo> echo{};  // it has no learner then
  // To time iterations: it answers a request by computing gradients for so long, and tells of each.
  std::optional<Seconds> repeats_for{};
  RingWay ring{};
  std::optional<CpuQuota> quota{};  // kept by the launcher (cpu_budget.hpp); unknown to the worker
};

[[nodiscard]] std::string to_text(const WorkerSetup& setup);
// Throws std::exception when it is none.
[[nodiscard]] WorkerSetup worker_setup_from(const std::string& text);

// The environment variable that carries the token, or else it is the first line of the input; and the hidden
// first argument of the worker program:
//   paceline-calibrate --live-worker ADDRESS:PORT NUMBER
inline constexpr const char* token_variable = "PACELINE_LIVE_TOKEN";
// The evaluator gets control groups, one a line, to remove when the launcher has died.
inline constexpr const char* groups_variable = "PACELINE_LIVE_GROUPS";
inline constexpr const char* worker_flag = "--live-worker";

}  // namespace paceline::live
