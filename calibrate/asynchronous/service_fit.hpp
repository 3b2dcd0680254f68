// What a worker needs alone and what an update costs the server, from logged asynchronous jobs; or what is
// missing to tell.
//
// Models:      jobs of equal workers at one server, alike in campaign, kind and number of workers; jobs
//              differ by their machines, campaigns by clusters and months.
// Equation:    ln rate = mean of the jobs; its variance σ_m²/jobs + that of the windows. A worker alone in a
//              campaign: its own mean and that of the other campaigns (variance σ_c² (1 + 1/K) more),
//              weighted by 1/variance. Slow-down of n workers D = ln(n/t₁) − ln X. Whatever the distribution
//              of its times, the server is busy X·s ≤ 1, so s ≤ 1/X. Random (exponential) service explains D
//              by the smallest s, s_r: X = mean_value_rate(n, t₁, s_r). A job *saturates* its server when D
//              is above 0 at 95 % and even then the server is busy for X·s_r ≥ 2/3 of the time. Of those the
//              busiest tells s: between s_r at the 5 % limit of D and 1/X at that of X; the value is that of
//              constant service and workers that vary as logged. No job saturates: no service time.
// Units:       seconds, updates/s.
// Assumptions: σ_m and σ_c are pooled over all jobs alike and all networks that are logged; below 5 degrees
//              of freedom 3 % and 5 % are assumed. The server is the same for all kinds of workers.
// Not modelled: overlap of transfers with computing; servers that differ between campaigns; several servers.
// Source:      server_queue.hpp; Denning and Buzen, "The operational analysis of queueing network models",
//              ACM Computing Surveys 1978, for the bounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/asynchronous/prediction.hpp"
#include "calibrate/logs/job_log.hpp"

namespace paceline::calibrate {

inline constexpr double normal_95 = 1.645;  // half of a 90 % range, in standard deviations

struct Deviation {
  double relative = 0.0;
  bool is_assumed = true;
};

// Jobs alike.
struct RateGroup {
  std::string campaign;
  std::string gpu;
  int workers = 1;
  int jobs = 0;
  double rate = 0.0;
  double error = 0.0;  // of its logarithm
  std::string network;
};

struct AloneTime {
  double seconds = 0.0;
  double error = 0.0;  // of its logarithm
  bool is_own_campaign = false;
};

// Of a job of several workers beside its workers alone.
struct SlowDown {
  double logarithm = 0.0;
  double error = 0.0;
  double least_busy = 0.0;  // share of the time, of a server with random service
  bool saturates = false;
};

struct ServiceEstimate {
  double seconds = 0.0;   // constant service
  double random_s = 0.0;  // exponential service
  double low_s = 0.0;     // of the 90 % range
  double high_s = 0.0;
  const RateGroup* from = nullptr;
};

// " (v100)" of workers whose kind is told.
[[nodiscard]] std::string of_kind(const std::string& gpu);

// How much longer an iteration of one worker takes for each second of latency to its server.
struct LatencyFit {
  std::string gpu;
  double from_ms = 0.0;
  double to_ms = 0.0;
  double round_trips = 0.0;
};
[[nodiscard]] std::vector<LatencyFit> fit_latency(const std::vector<LoggedJob>& jobs);

struct ChiefPauses {
  double seconds = 0.0;  // median
  double every_updates = 0.0;
  int count = 0;
};
// Nothing where none was seen.
[[nodiscard]] std::optional<ChiefPauses> chief_pauses(const std::vector<LoggedJob>& jobs);

class ServiceFit {
 public:
  // Of this network; those of others tell how much jobs and campaigns differ, too. Throws UserError where
  // there is no job of it at one server.
  ServiceFit(const std::vector<LoggedJob>& jobs, const std::string& network);

  [[nodiscard]] const std::vector<RateGroup>& groups() const { return groups_; }
  [[nodiscard]] Deviation machines() const { return machines_; }
  [[nodiscard]] Deviation campaigns() const { return campaigns_; }
  // Of one worker's, sd / mean.
  [[nodiscard]] Deviation iterations() const { return iterations_; }
  // Kinds of workers.
  [[nodiscard]] std::vector<std::string> kinds() const;

  [[nodiscard]] const RateGroup* find(const std::string& campaign, const std::string& gpu, int workers) const;
  // Nothing without a job of one such worker. No campaign: another cluster.
  [[nodiscard]] std::optional<AloneTime> alone(const std::string& gpu, const std::string& campaign) const;
  [[nodiscard]] std::optional<SlowDown> slow_down(const RateGroup& group) const;
  [[nodiscard]] std::optional<ServiceEstimate> service() const;
  // No more than that, whatever the distribution: the least 1/X.
  [[nodiscard]] std::optional<double> most_service_s() const;
  // What to record for a service time.
  [[nodiscard]] std::string missing() const;
  // Updates/s of one job, with its 90 % range over machines and forms, from constant to random service;
  // without a service time as if workers did not wait, down to the longest service time that is possible.
  // Nothing without a time alone.
  [[nodiscard]] std::optional<RunRange> predict(const std::string& gpu, const std::string& campaign,
                                                int workers) const;

 private:
  [[nodiscard]] double rate_of(int workers, double alone_s, double service_s, double updates,
                               double service_variation = 0.0) const;

  std::vector<RateGroup> groups_;
  Deviation machines_;
  Deviation campaigns_;
  Deviation iterations_{0.1, true};
};

}  // namespace paceline::calibrate
