#include "calibrate/asynchronous/speed_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibrate/asynchronous/network_variables.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/cost/shards.hpp"

namespace paceline {
namespace {

constexpr double wire_bytes_per_s = 8e9 / 8.0;
constexpr double saturated_below = 0.93;  // of the rate of the workers alone
constexpr double fuller_of_two = 1.08;    // times an even share
constexpr double least_deviation = 0.01;
const std::set<std::string> series_campaigns{"base", "networks", "scaling"};

bool is_training_campaign(const std::string& campaign) {
  return !series_campaigns.contains(campaign);
}

// Of logarithms of seconds.
SeenVariance variance_of_steps(const std::vector<double>& logs) {
  const Spread spread = spread_of(logs);
  return {std::exp(spread.mean), spread.deviation * spread.deviation, static_cast<double>(logs.size()) - 1.0};
}

}  // namespace

StepDeviation fit_deviation(const std::vector<SeenVariance>& seen) {
  constexpr int weighting_rounds = 10;
  StepDeviation fitted{.relative = 0.03};
  for (int round = 0; round < weighting_rounds; ++round) {
    double ones = 0.0;
    double cross = 0.0;
    double squares = 0.0;
    double target = 0.0;
    double cross_target = 0.0;
    for (const SeenVariance& one : seen) {
      const double per_second = 1.0 / (one.step_s * one.step_s);
      const double expected = fitted.variance(one.step_s);
      const double weight = one.freedom / (expected * expected);
      ones += weight;
      cross += weight * per_second;
      squares += weight * per_second * per_second;
      target += weight * one.variance;
      cross_target += weight * per_second * one.variance;
    }
    if (ones == 0.0) return {.relative = least_deviation};
    const double determinant = ones * squares - cross * cross;
    double relative = (squares * target - cross * cross_target) / determinant;
    double seconds = (ones * cross_target - cross * target) / determinant;
    if (!(determinant > 1e-9 * ones * squares) || seconds < 0.0) {
      relative = target / ones;
      seconds = 0.0;
    } else if (relative < 0.0) {
      relative = 0.0;
      seconds = cross_target / squares;
    }
    fitted = {std::sqrt(std::max(relative, least_deviation * least_deviation)),
              std::sqrt(std::max(seconds, 0.0))};
  }
  return fitted;
}

std::vector<RateObservation> observe_rates(const AsynchronousRecords& records, const std::string& left_out) {
  std::map<std::pair<std::string, std::string>, std::vector<const TrainingRecord*>> groups;
  for (const TrainingRecord& training : records.trainings)
    if (training.configuration.common_gpu() && training.configuration.name != left_out)
      groups[{training.configuration.name, training.campaign}].push_back(&training);
  std::vector<RateObservation> observations;
  const double pauses_s = (training_updates / checkpoint_updates) * records.checkpoint_s;
  for (const auto& [key, runs] : groups) {
    const Configuration& configuration = runs.front()->configuration;
    const auto workers = static_cast<double>(configuration.workers.size());
    double log_rate = 0.0;
    for (const TrainingRecord* run : runs)
      log_rate += std::log(training_updates / (run->duration_s - pauses_s / workers)) /
                  static_cast<double>(runs.size());
    observations.push_back({key.second, configuration.network, *configuration.common_gpu(),
                            static_cast<int>(workers), configuration.servers, std::exp(log_rate),
                            static_cast<int>(runs.size())});
  }
  for (const SpeedRecord& speed : records.speeds)
    if (speed.configuration.common_gpu() && speed.configuration.name != left_out)
      observations.push_back({speed.campaign, speed.configuration.network, *speed.configuration.common_gpu(),
                              static_cast<int>(speed.configuration.workers.size()),
                              speed.configuration.servers, speed.rate, 1});
  return observations;
}

SpeedModel::SpeedModel(const AsynchronousRecords& records, std::vector<RateObservation> observations)
    : records_(records), observations_(std::move(observations)) {
  estimate_deviations();
  fit_services();
}

// As fast as that many of the worker alone in the same campaign.
bool SpeedModel::is_unslowed(const RateObservation& seen) const {
  constexpr double unslowed = 0.97;
  return std::ranges::any_of(observations_, [&](const RateObservation& alone) {
    return alone.workers == 1 && alone.campaign == seen.campaign && alone.network == seen.network &&
           alone.gpu == seen.gpu && seen.rate >= unslowed * seen.workers * alone.rate;
  });
}

// Several workers count where their server was not near its limit.
std::vector<SpeedModel::CampaignRate> SpeedModel::campaigns_of(const std::string& network,
                                                               const std::string& gpu) const {
  const auto service = std::ranges::find(services_, network, &std::pair<std::string, ServiceTime>::first);
  std::vector<CampaignRate> campaigns;
  for (const RateObservation& seen : observations_) {
    if (seen.network != network || seen.gpu != gpu) continue;
    const bool is_near_limit = service != services_.end() &&
                               service->second.knowledge == ServiceKnowledge::measured &&
                               seen.rate * service->second.seconds > saturated_below;
    if (seen.workers > 1 && is_near_limit && !is_unslowed(seen)) continue;
    auto campaign = std::ranges::find(campaigns, seen.campaign, &CampaignRate::campaign);
    if (campaign == campaigns.end())
      campaign = campaigns.insert(campaigns.end(), {seen.campaign, 0.0, 0.0, 1});
    const double runs = seen.runs;
    const double log_rate = std::log(seen.rate / seen.workers);
    campaign->log_rate = (campaign->log_rate * campaign->runs + log_rate * runs) / (campaign->runs + runs);
    campaign->runs += runs;
    campaign->workers = std::max(campaign->workers, seen.workers);
  }
  return campaigns;
}

double SpeedModel::variance_of(const CampaignRate& campaign) const {
  return machine_deviation(is_training_campaign(campaign.campaign)).variance(campaign.step_s()) /
         campaign.runs;
}

void SpeedModel::estimate_deviations() {
  constexpr std::size_t most_workers = 2;  // more may wait for the server, which hides them
  std::map<std::pair<std::string, std::string>, std::vector<double>> groups;
  for (const TrainingRecord& training : records_.trainings)
    if (const auto workers = training.configuration.workers.size(); workers <= most_workers)
      groups[{training.configuration.name, training.campaign}].push_back(
          std::log(static_cast<double>(workers) * training.duration_s / training_updates));
  std::vector<SeenVariance> seen_variances;
  for (const auto& [key, logs] : groups) seen_variances.push_back(variance_of_steps(logs));
  machine_deviation_ = fit_deviation(seen_variances);
  estimate_series_deviation();

  std::set<std::pair<std::string, std::string>> kinds;
  for (const RateObservation& seen : observations_) kinds.insert({seen.network, seen.gpu});
  seen_variances.clear();
  for (const auto& [network, gpu] : kinds) {
    std::vector<double> logs;
    double within = 0.0;
    for (const CampaignRate& campaign : campaigns_of(network, gpu)) {
      logs.push_back(-campaign.log_rate);
      within += machine_deviation_.variance(campaign.step_s()) / campaign.runs;
    }
    if (logs.empty()) continue;
    seen_variances.push_back(variance_of_steps(logs));
    seen_variances.back().variance -= within / static_cast<double>(logs.size());
  }
  campaign_deviation_ = fit_deviation(seen_variances);
}

// Series of one campaign: each had machines of its own.
void SpeedModel::estimate_series_deviation() {
  std::map<std::array<std::string, 3>, std::vector<double>> groups;
  for (const RateObservation& seen : observations_)
    if (!is_training_campaign(seen.campaign) && (seen.workers == 1 || is_unslowed(seen)))
      groups[{seen.network, seen.gpu, seen.campaign}].push_back(std::log(seen.workers / seen.rate));
  std::vector<SeenVariance> seen_variances;
  for (const auto& [key, logs] : groups) seen_variances.push_back(variance_of_steps(logs));
  series_deviation_ = fit_deviation(seen_variances);
}

void SpeedModel::fit_services() {
  std::map<std::string, const RateObservation*> busiest;
  for (const RateObservation& seen : observations_) {
    if (seen.workers < 2 || seen.servers != 1) continue;
    const RateObservation*& best = busiest[seen.network];
    if (best == nullptr || seen.rate > best->rate) best = &seen;
  }
  for (const auto& [network, seen] : busiest) {
    double log_rate = 0.0;
    double weights = 0.0;
    for (const CampaignRate& campaign : campaigns_of(network, seen->gpu)) {
      const double weight = 1.0 / (campaign_deviation_.variance(campaign.step_s()) + variance_of(campaign));
      log_rate += weight * campaign.log_rate;
      weights += weight;
    }
    const double alone = std::exp(log_rate / weights);
    const double limit = 1.0 / seen->rate;
    if (seen->rate < saturated_below * alone * seen->workers)
      services_.push_back({network, {limit, 0.94 * limit, 1.03 * limit, ServiceKnowledge::measured}});
    else
      services_.push_back({network, {limit, 0.75 * limit, 1.01 * limit, ServiceKnowledge::bounded}});
  }
  // base and per tensor through the known networks: two unknowns for two, one for one.
  struct Point {
    double tensors, rest_s;
  };
  std::vector<Point> points;
  for (const auto& [name, service] : services_) {
    const NetworkSize* size = records_.network(name);
    if (size == nullptr || !size->bytes || !size->tensors) continue;
    // Bounds say nothing from below, and a smaller one of a larger network refutes nothing.
    if (service.knowledge == ServiceKnowledge::bounded && services_.size() > 1 && name != default_network)
      continue;
    points.push_back({*size->tensors, service.seconds - *size->bytes / wire_bytes_per_s});
  }
  if (points.size() >= 2 && points[0].tensors != points[1].tensors) {
    per_tensor_s_ =
        std::max((points[1].rest_s - points[0].rest_s) / (points[1].tensors - points[0].tensors), 0.0);
    base_s_ = std::max(points[0].rest_s - per_tensor_s_ * points[0].tensors, 0.0);
  } else if (!points.empty()) {
    per_tensor_s_ = points[0].rest_s / points[0].tensors;
  }
}

std::optional<AloneRate> SpeedModel::alone(const std::string& network, const std::string& gpu,
                                           bool is_training, const std::string& of_campaign) const {
  const std::vector<CampaignRate> campaigns = campaigns_of(network, gpu);
  if (campaigns.empty()) return std::nullopt;
  const double between = campaign_deviation_.variance(campaigns.front().step_s());
  double mean = 0.0;
  double weights = 0.0;
  for (const CampaignRate& campaign : campaigns) {
    const double weight = 1.0 / (between + variance_of(campaign));
    mean += weight * campaign.log_rate;
    weights += weight;
  }
  mean /= weights;
  // The campaign meant: of the same kind, and of those the one with the most workers at a time.
  const CampaignRate* meant = nullptr;
  for (const CampaignRate& campaign : campaigns)
    if (!of_campaign.empty() ? campaign.campaign == of_campaign
                             : is_training_campaign(campaign.campaign) == is_training &&
                                   (meant == nullptr || campaign.workers > meant->workers ||
                                    (campaign.workers == meant->workers && campaign.runs > meant->runs)))
      meant = &campaign;
  if (meant == nullptr || (of_campaign.empty() && !is_training && meant->workers == 1))
    return AloneRate{std::exp(mean), std::sqrt(1.0 / weights), false};
  const double shrink = between / (between + variance_of(*meant));
  return AloneRate{std::exp(mean + shrink * (meant->log_rate - mean)),
                   std::sqrt(shrink * variance_of(*meant) + (1.0 - shrink) * (1.0 - shrink) / weights), true};
}

std::optional<AloneRate> SpeedModel::remote(const std::string& network, const std::string& gpu,
                                            bool is_training, double latencies) const {
  const LatencyRecord* near = nullptr;
  const LatencyRecord* far = nullptr;
  for (const LatencyRecord& record : records_.latencies) {
    if (record.network != network || record.gpu != gpu) continue;
    if (near == nullptr || record.latency_ms < near->latency_ms) near = &record;
    if (far == nullptr || record.latency_ms > far->latency_ms) far = &record;
  }
  std::optional<AloneRate> rate = alone(network, gpu, is_training);
  if (!rate || near == far) return std::nullopt;
  rate->rate = 1.0 / (1.0 / rate->rate + latencies * (far->step_s - near->step_s));
  return rate;
}

std::optional<ServiceTime> SpeedModel::service(const std::string& network) const {
  const auto known = std::ranges::find(services_, network, &std::pair<std::string, ServiceTime>::first);
  if (known != services_.end() && known->second.knowledge == ServiceKnowledge::measured) return known->second;
  const NetworkSize* size = records_.network(network);
  const bool has_size = size != nullptr && size->bytes && size->tensors && per_tensor_s_ > 0.0;
  if (!has_size) return known == services_.end() ? std::nullopt : std::optional(known->second);
  const double by_rule = base_s_ + per_tensor_s_ * *size->tensors + *size->bytes / wire_bytes_per_s;
  if (known != services_.end())
    return ServiceTime{std::min(by_rule, known->second.seconds),
                       std::min(0.75 * by_rule, known->second.low_s), known->second.high_s,
                       known->second.knowledge};
  // The forms disagree: all per tensor, or all per byte.
  const NetworkSize* fitted = records_.network(default_network);
  const auto reference =
      std::ranges::find(services_, std::string(default_network), &std::pair<std::string, ServiceTime>::first);
  double low = 0.75 * by_rule;
  double high = 1.33 * by_rule;
  if (fitted != nullptr && fitted->bytes && reference != services_.end()) {
    const double by_bytes = reference->second.seconds * *size->bytes / *fitted->bytes;
    const double by_tensors = reference->second.seconds * *size->tensors / *fitted->tensors;
    low = std::min({low, by_bytes, by_tensors});
    high = std::max({high, by_bytes, by_tensors});
  }
  return ServiceTime{by_rule, low, high, ServiceKnowledge::extrapolated};
}

bool SpeedModel::knows_variables(const std::string& network) const {
  const NetworkSize* size = records_.network(network);
  return size != nullptr && !variables_of(*size).empty();
}

std::vector<double> SpeedModel::services_of(const std::string& network, int servers, double service_s,
                                            double base_s) const {
  if (servers == 1) return {service_s};
  const auto count = static_cast<std::size_t>(servers);
  const NetworkSize* size = records_.network(network);
  if (size == nullptr || !size->bytes || !size->tensors)
    return std::vector(count, base_s + fuller_of_two / servers * (service_s - base_s));
  const double by_bytes = *size->bytes / wire_bytes_per_s;
  const double share_of_bytes = by_bytes / (by_bytes + per_tensor_s_ * *size->tensors);
  const auto service_of = [&](double bytes, double variables) {
    return base_s + (service_s - base_s) * (share_of_bytes * bytes + (1.0 - share_of_bytes) * variables);
  };
  const std::vector<Bytes> variables = variables_of(*size);
  if (variables.empty()) return std::vector(count, service_of(fuller_of_two / servers, 1.0 / servers));
  std::vector<double> services;
  for (const ServerShard& shard :
       shards_of(Bytes{*size->bytes}, variables, count, ParameterSplit::whole_variables))
    services.push_back(service_of(shard.bytes.value() / *size->bytes, shard.variables / *size->tensors));
  return services;
}

}  // namespace paceline
