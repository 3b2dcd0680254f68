// One replication of a scenario carried out for real, composed from its parts: the counterpart of
// sim/study/simulation.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/event_log.hpp"
#include "calibrate/live/live_executor.hpp"
#include "calibrate/live/process_crew.hpp"
#include "sim/cost/profile.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline::live {

struct LiveOptions {
  std::filesystem::path program;  // of the workers: paceline-calibrate
  int port = 0;                   // 0: any that is free
  Seconds patience{60.0};         // with a worker that owes something and says nothing
  bool accepts_load = false;      // of other programs
  std::filesystem::path folder = std::filesystem::temp_directory_path();  // of checkpoints while it runs
  std::optional<NetworkConfig> links{};                                   // to emulate
  RecordingOptions recording{};
  std::size_t replicas_to_keep = 0;  // after each of so many first updates by all-reduce
  std::function<void(double share_done)> progress = [](double) {};
  std::function<void(const ProcessCrew&)> on_start = [](const ProcessCrew&) {};
};

struct LiveRun {
  RunResult result;
  std::vector<LostWorker> lost;
  RefusedConnections refused;
  CommunicationCost communication;  // measured
  double other_load = 0.0;          // just before it began, 0 to 1
  std::vector<Restart> restarts;    // at switches
  std::vector<Replica> replicas;    // as many as were asked for
  RecordedRun recorded;
};

// The program of the workers, beside this one. Throws UserError when it is not installed.
[[nodiscard]] std::filesystem::path worker_program();

// Throws UserError for all that a live job cannot do, each at its place; returns what is worth a note.
[[nodiscard]] std::vector<std::string> check_live(const LoadedScenario& loaded);

// The network whose links the job emulates, if it does.
[[nodiscard]] std::optional<NetworkConfig> emulated_network(const Scenario& scenario);

// Whether Gloo is not to be used.
[[nodiscard]] bool has_own_ring(const Scenario& scenario);
// Over these links, if any.
[[nodiscard]] RingWay ring_way(bool is_own, const std::optional<NetworkConfig>& links);

// What the job's processes are told, the evaluator last.
[[nodiscard]] std::vector<WorkerSetup> setups_of(const Scenario& scenario,
                                                 const NetworkLearnerConfig& learner);

// Of a scenario that passed. Throws Interrupted; UserError for a mistake that only the workers find out.
[[nodiscard]] LiveRun run_live(const Scenario& scenario, const Profiles& profiles, std::uint32_t replication,
                               const LiveOptions& options);

}  // namespace paceline::live
