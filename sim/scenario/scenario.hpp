// A scenario as plain structs: one training job on one cluster under one way of synchronizing and batching.
//
// Read from YAML by scenario/reader.hpp, which has checked every value; nothing here carries places or text.
// Paths are absolute or relative to the working directory (the reader has resolved them against the file).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/conditions.hpp"
#include "sim/cluster/network_engine.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/cost/fixed_costs.hpp"
#include "sim/description/kinds.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/optimizer.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "sim/policy/switching/switch_policy.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline {

struct JobConfig {
  std::string network;  // must be the profile's network
  std::filesystem::path profile;
  DatasetSource dataset;
  OptimizerConfig optimizer;
  DataLoading data_loading = DataLoading::inline_;
};

// Of the data sets that paceline knows.
[[nodiscard]] inline std::optional<std::int64_t> known_classes(std::string_view dataset) {
  if (dataset == "cifar100") return 100;
  if (dataset == "built-in-text") return 256;  // bytes
  if (dataset == "built-in-images" || dataset == "cifar10" || dataset == "mnist") return 10;
  return std::nullopt;
}

// statistical: a model fitted to recorded runs; assumed: one that nobody's runs stand behind.
enum class LearnerKind { none, network, statistical, assumed };

struct LearnerConfig {
  LearnerKind kind = LearnerKind::none;
  std::string model;  // the learner file; of `network`: a TorchScript file

  [[nodiscard]] bool trains_file() const { return kind == LearnerKind::network && model.ends_with(".pt"); }
};

// "600 s", "250 updates"
using Often = std::variant<Seconds, Count>;

struct EvaluationConfig {
  Count every;
  EvaluationPayer who_pays = EvaluationPayer::free;
  Seconds cost;
};

// One phase as written: its length in one of two keys, and what is paid before it.
struct PhaseEntry {
  PhaseConfig config;
  std::optional<double> share;
  std::optional<PhaseLength> length;
  RestartCost switching;
  std::optional<Seconds> checkpoint_cost;  // instead of that of all phases
};

// The switch policy, and what its changes of the workers cost.
struct ReactionEntry {
  SwitchChoice policy;
  Seconds regroup_cost;
  Seconds probe_cost;
};

struct CheckpointConfig {
  Often every;
  Seconds cost;
};

struct HeterogeneityConfig {
  Heterogeneity changes;  // without the trace
  std::string trace;      // path of its file; empty: none
};

// Other machines that workers of a live job run on; its server and evaluator stay here.
struct HostsConfig {
  std::string launch;                 // runs what follows it on "{host}"
  std::vector<std::string> names{};   // worker k on the k-th, from the first again after the last
  std::string address = "127.0.0.1";  // of this machine, as they reach it: the server listens there only
  std::string program{};              // paceline-calibrate there; empty: where it is here
};

// What a live job imposes on this machine.
struct EmulationConfig {
  bool links = false;     // of the scenario's network
  bool restarts = false;  // of workers' processes, at each switch
  bool own_ring = false;  // of the workers, whose messages take the network's latency on emulated links
};

struct StopConfig {
  double epochs = 1.0;             // the workload: this many passes over the training set, counted in samples
  std::optional<double> accuracy;  // the target; the job ends at the first evaluation at or above it …
  int evaluations_in_a_row = 1;    // … that begins so many of them
};

// What must hold of the median over the replications, or `paceline run` and `study` end with a code of their
// own.
struct ExpectConfig {
  std::optional<Threshold> time_to_accuracy;
  std::optional<Threshold> p_reach;
  std::optional<Threshold> time_per_epoch;
  std::optional<Threshold> final_accuracy;
  std::optional<Threshold> samples_per_s;
  std::optional<Threshold> staleness;
};

// Whether results are to hold for the cluster described, or for another like it.
enum class PredictedCluster { another, same };
struct PredictionConfig {
  PredictedCluster cluster = PredictedCluster::another;
  std::optional<double> clusters_differ;  // sd / mean of the time that all work takes
};

struct Scenario {
  std::filesystem::path file;
  std::string name;
  std::string question;
  std::uint32_t seed = 1;
  int replications = 5;
  NetworkEngine engine = NetworkEngine::automatic;
  Shortcuts shortcuts = Shortcuts::on;
  JobConfig job;
  Cluster cluster;
  std::vector<PhaseEntry> synchronization;
  std::optional<ReactionEntry> reaction;  // absent: the phases as written
  CoordinationCost coordination;
  std::optional<CommunicationCost> communication;
  std::optional<RestartCost> start_up;
  std::optional<RampUp> ramp_up;
  std::vector<RestCost> resume;
  std::optional<CheckpointConfig> checkpoints;
  BatchingConfig batching;
  HeterogeneityConfig heterogeneity;
  JitterOverrides jitter;
  PredictionConfig prediction;
  LearnerConfig learner;
  EvaluationConfig evaluation;
  StopConfig stop;
  ExpectConfig expect;
  std::optional<HostsConfig> hosts;
  std::optional<EmulationConfig> emulate;
};

}  // namespace paceline
