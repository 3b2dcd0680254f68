// How fast asynchronous workers go: the time of each alone, the service time of an update, and how both
// vary.
//
// Models:      rates of workers alone by network and GPU, which differ between jobs and between campaigns; a
//              service time for each network.
// Equation:    ln rate = μ(network, GPU) + campaign + job; variances of campaign and job by moments over all
//              records; a campaign's own mean is shrunk towards μ by σ_c² / (σ_c² + σ_m² / runs). Service:
//              the most updates/s that were seen at one server, R, are credited to it and no more, s = 1/R.
//              It is *measured* if R is at least 7 % short of what the workers alone would do; else only s
//              <= 1/R is known. Other networks: s = base + per_tensor · tensors + bytes / wire, through the
//              networks with one. Networks whose runs stay below the limit: the geometric mean of this rule
//              and 1/R. Fullest of p servers: base + share · (s - base), whole variables placed in turn.
// Units:       seconds, updates/s, bytes.
// Assumptions: the machines of one job are fast or slow together; wire = 8 Gbit/s (the documented limit of a
//              machine with 4 virtual CPUs); the fuller of two servers gets 0.54 of the rest (variables
//              differ in size), of p servers 1.08/p.
// Not modelled: campaigns that change the service time; wire and processors of a server apart.
// Source:      DerSimonian and Laird 1986 for the moments; docs/models.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/asynchronous/records.hpp"

namespace paceline {

// Updates/s of a job of equal workers at one place.
struct RateObservation {
  std::string campaign;
  std::string network;
  std::string gpu;
  int workers = 1;
  int servers = 1;
  double rate = 0.0;
  int runs = 1;
};
// Trainings by configuration and campaign (pauses of the chief taken out), then the series; without the
// configuration named `left_out`.
[[nodiscard]] std::vector<RateObservation> observe_rates(const AsynchronousRecords& records,
                                                         const std::string& left_out = "");

struct AloneRate {
  double rate = 0.0;
  double error = 0.0;  // of its logarithm: what more records would remove
  bool is_own_campaign = false;
};

enum class ServiceKnowledge { measured, bounded, extrapolated };

struct ServiceTime {
  double seconds = 0.0;
  double low_s = 0.0;
  double high_s = 0.0;
  ServiceKnowledge knowledge = ServiceKnowledge::bounded;
};

class SpeedModel {
 public:
  SpeedModel(const AsynchronousRecords& records, std::vector<RateObservation> observations);

  // Nothing when this network never ran on this GPU. For the campaign named, else for the one of the same
  // kind with
  // the most workers at a time.
  [[nodiscard]] std::optional<AloneRate> alone(const std::string& network, const std::string& gpu,
                                               bool is_training, const std::string& of_campaign = "") const;
  // Of a worker whose servers are `latencies` times the recorded added latency away.
  [[nodiscard]] std::optional<AloneRate> remote(const std::string& network, const std::string& gpu,
                                                bool is_training, double latencies) const;
  // Nothing when neither many workers nor the sizes of the network are recorded.
  [[nodiscard]] std::optional<ServiceTime> service(const std::string& network) const;
  // Of the fullest of so many servers, relative to one.
  [[nodiscard]] double share_of_fullest(double service_s, int servers, double base_s) const;

  [[nodiscard]] double machine_deviation(bool is_training) const {
    return is_training ? machine_deviation_ : series_deviation_;
  }
  [[nodiscard]] double campaign_deviation() const { return campaign_deviation_; }
  [[nodiscard]] double base_s() const { return base_s_; }
  [[nodiscard]] double per_tensor_s() const { return per_tensor_s_; }

 private:
  struct CampaignRate {
    std::string campaign;
    double log_rate = 0.0;
    double runs = 0.0;
    int workers = 1;
  };
  [[nodiscard]] std::vector<CampaignRate> campaigns_of(const std::string& network,
                                                       const std::string& gpu) const;
  [[nodiscard]] bool is_unslowed(const RateObservation& seen) const;
  [[nodiscard]] double variance_of(const CampaignRate& campaign) const;
  void estimate_deviations();
  void estimate_series_deviation();
  void fit_services();

  const AsynchronousRecords& records_;
  std::vector<RateObservation> observations_;
  double machine_deviation_ = 0.0;  // of trainings
  double series_deviation_ = 0.0;   // of shorter series: fewer machines, more different
  double campaign_deviation_ = 0.0;
  std::vector<std::pair<std::string, ServiceTime>> services_;
  double base_s_ = 0.0;
  double per_tensor_s_ = 0.0;
};

}  // namespace paceline
