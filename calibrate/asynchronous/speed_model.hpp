// How fast asynchronous workers go: the time of each alone, the service time of an update, and how both
// vary.
//
// Models:      rates of workers alone by network and GPU, which differ between jobs and between campaigns; a
//              service time for each network.
// Equation:    ln rate = μ(network, GPU) + campaign + job; of both the variance is ρ² + (δ/t)², t the time of
//              an iteration, by moments over all records; a campaign's own mean is shrunk towards μ by
//              σ_c² / (σ_c² + σ_m² / runs). Service: the most updates/s that were seen at one server, R, are
//              credited to it and no more, s = 1/R.
//              It is *measured* if R is at least 7 % short of what the workers alone would do; else only s
//              <= 1/R is known. Other networks: s = base + per_tensor · tensors + bytes / wire, through the
//              networks with one. Networks whose runs stay below the limit: the geometric mean of this rule
//              and 1/R. Server j of several, whole variables placed in turn: base + (s - base) · (β · its
//              share of the bytes + (1 - β) · its share of the variables), β the share of the bytes in the
//              rule.
// Units:       seconds, updates/s, bytes.
// Assumptions: the machines of one job are fast or slow together; wire = 8 Gbit/s (the documented limit of a
//              machine with 4 virtual CPUs); of networks whose variables are not known the fuller of p
//              servers gets 1.08/p of the bytes.
// Not modelled: campaigns that change the service time; wire and processors of a server apart.
// Source:      DerSimonian and Laird 1986 for the moments; docs/models.md.
#pragma once

#include <cmath>
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

// Of the logarithm of a rate of one iteration in `step_s`: variance = relative² + (seconds / step_s)². What a
// machine does besides its GPU takes as many seconds longer or shorter whatever the network.
struct StepDeviation {
  double relative = 0.0;
  double seconds = 0.0;

  [[nodiscard]] double variance(double step_s) const {
    return relative * relative + seconds * seconds / (step_s * step_s);
  }
  [[nodiscard]] double of(double step_s) const { return std::sqrt(variance(step_s)); }
};
struct SeenVariance {
  double step_s = 0.0;
  double variance = 0.0;  // of logarithms; an estimate may be negative
  double freedom = 0.0;
};
// By least squares, weighted by degrees of freedom / expected variance²; neither part is negative.
[[nodiscard]] StepDeviation fit_deviation(const std::vector<SeenVariance>& seen);

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
  // Of an update that one server would take `service_s` for, of which `base_s` whatever it holds; by server.
  [[nodiscard]] std::vector<double> services_of(const std::string& network, int servers, double service_s,
                                                double base_s) const;
  // Whether they follow from the network's variables.
  [[nodiscard]] bool knows_variables(const std::string& network) const;

  [[nodiscard]] const StepDeviation& machine_deviation(bool is_training) const {
    return is_training ? machine_deviation_ : series_deviation_;
  }
  [[nodiscard]] const StepDeviation& campaign_deviation() const { return campaign_deviation_; }
  [[nodiscard]] double base_s() const { return base_s_; }
  [[nodiscard]] double per_tensor_s() const { return per_tensor_s_; }

 private:
  struct CampaignRate {
    std::string campaign;
    double log_rate = 0.0;  // of one worker
    double runs = 0.0;
    int workers = 1;

    [[nodiscard]] double step_s() const { return std::exp(-log_rate); }
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
  StepDeviation machine_deviation_;  // of trainings
  StepDeviation series_deviation_;   // of shorter series: fewer machines, more different
  StepDeviation campaign_deviation_;
  std::vector<std::pair<std::string, ServiceTime>> services_;
  double base_s_ = 0.0;
  double per_tensor_s_ = 0.0;
};

}  // namespace paceline
