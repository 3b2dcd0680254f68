// A folder of recorded asynchronous jobs: trainings with separate parameter servers, rates of networks,
// exchanges.
//
// Models:      runs.csv and curves.csv (trainings and their evaluations), speed.csv (updates/s of the whole
//              cluster over windows of about 100 updates), networks.csv (sizes), single-gpu-latency.csv,
//              checkpoint.csv, exchange-runs.csv.
// Equation:    steady rate of a series = median of the windows after the first fifth, while workers still
//              join.
// Units:       seconds; updates/s of the whole job; accuracy 0 to 1.
// Assumptions: one GPU for each worker; worker 0 writes the checkpoints.
// Not modelled: machine starts, losses of the series.
// Source:      Li, Walls, Guo, ICDCS 2020, arXiv 2004.03072, and Li et al., ICAC 2019, arXiv 1903.00045
//              (recorded runs published with them).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/asynchronous/configuration.hpp"

namespace paceline {

struct SpeedRecord {
  std::string campaign;
  Configuration configuration;
  double rate = 0.0;  // updates/s
};

struct RecordedEvaluation {
  double time_s = 0.0;
  double progress = 0.0;  // of the workload
  double accuracy = 0.0;
};

struct TrainingRecord {
  std::string campaign;
  std::string run;
  Configuration configuration;
  double duration_s = 0.0;
  double final_accuracy = 0.0;
  std::optional<double> to_85_s;
  std::optional<double> to_90_s;
  std::vector<RecordedEvaluation> curve;
};

struct NetworkSize {
  std::string name;
  std::optional<double> bytes;  // of the parameters
  std::optional<double> tensors;
};

struct LatencyRecord {
  std::string network;
  std::string gpu;
  double latency_ms = 0.0;
  double step_s = 0.0;
};

struct ExchangeRecord {
  Configuration configuration;
  double bytes = 0.0;
  double first_s = 0.0;
  std::optional<double> blocked_s;  // median over the others
};

struct AsynchronousRecords {
  std::vector<TrainingRecord> trainings;  // those that were completed
  std::vector<SpeedRecord> speeds;
  std::vector<NetworkSize> networks;
  std::vector<LatencyRecord> latencies;
  std::vector<ExchangeRecord> exchanges;
  double checkpoint_s = 0.0;  // of the trained network

  [[nodiscard]] const NetworkSize* network(const std::string& name) const;
};

inline constexpr double training_updates = 64'000.0;
inline constexpr double checkpoint_updates = 4'000.0;
inline constexpr double evaluation_grid_s = 60.0;

[[nodiscard]] bool has_asynchronous_records(const std::filesystem::path& folder);
// Throws UserError naming file and line.
[[nodiscard]] AsynchronousRecords read_asynchronous_records(const std::filesystem::path& folder);

}  // namespace paceline
