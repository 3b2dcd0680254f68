// How much the processes of a live job slow each other down on this machine, measured with its own workers.
//
// Models:      the worker processes of a job, with its network, data and environment, that compute one
//              gradient after the other for a stretch: each alone, 2, 3, … n at once, and all beside a thread
//              of this process that is busy with memory, as a server is.
// Equation:    in each pass, T_m: mean time of an iteration while m processes are busy, turns of others on
//              its core included; alone: the mean over the workers, each in turn. s(m) = median over the
//              passes of T_1 / T_m, at most s(m - 1), and cores / m where more are busy than there are.
// Units:       seconds of wall-clock time.
// Assumptions: no messages, no quotas, no rests: those are the job's, and modelled by themselves. Passes
//              alternate, so that a machine that changes meets all m.
// Not modelled: which workers compute: the first m stand for any m.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/learning/network_learner.hpp"

namespace paceline::live {

struct SharingLoad {
  NetworkLearnerConfig learner;  // of all workers
  std::int64_t batch_samples = 1;
  Seconds for_each{0.5};  // of each number of processes, in each pass
  int passes = 5;
};

// One pass: the mean time of an iteration while 1, 2, … n are busy, and n beside a server.
using SharingPass = std::vector<Seconds>;

struct SharingTimes {
  int cores = 1;  // that processes may use here
  Seconds alone;  // median of the passes
  std::vector<double> speeds;
  std::optional<Turns> turns{};
};

// Starts the processes, and ends them. Throws Interrupted, and std::runtime_error when a process is lost.
[[nodiscard]] std::vector<SharingPass> time_sharing(
    const std::filesystem::path& program, const SharingLoad& load,
    const std::function<void(double share_done)>& progress = [](double) {});
[[nodiscard]] SharingTimes sharing_of(const std::vector<SharingPass>& passes, int cores);
// Of processes on the cores of this machine, and in the turns of its kernel.
[[nodiscard]] SharingTimes sharing_here(const std::vector<SharingPass>& passes);
// That this process may use.
[[nodiscard]] int usable_cores();
// "cores: 2, speeds: [1, 0.72, 0.47]", and turns where there are any
[[nodiscard]] std::string scenario_words(const SharingTimes& times);

}  // namespace paceline::live
