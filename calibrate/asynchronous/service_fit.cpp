#include "calibrate/asynchronous/service_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/asynchronous/server_queue.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr double assumed_machine_deviation = 0.03;
constexpr double assumed_campaign_deviation = 0.05;
constexpr double fewest_freedom = 5.0;
constexpr double least_busy_share = 2.0 / 3.0;
constexpr double updates_to_fit = 6'400.0;
constexpr double updates_to_predict = 1'600.0;
constexpr int prediction_draws = 200;
constexpr Seed fit_seed{1, 0};

double square(double value) {
  return value * value;
}

// Where a falling function of the service time, from 0 to `most`, has this value.
template <class Rate>
double service_with_rate(double rate, double most, const Rate& rate_of_service) {
  constexpr int halvings = 30;
  double low = 0.0;
  double high = most;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (rate_of_service(middle) > rate ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// At one server, as near as any of their kind that says how near.
std::vector<std::vector<const LoggedJob*>> groups_alike(const std::vector<LoggedJob>& jobs) {
  std::map<std::pair<std::string, std::string>, double> nearest;
  for (const LoggedJob& job : jobs)
    if (job.latency_ms) {
      const auto [at, is_new] = nearest.try_emplace({job.network, job.gpu}, *job.latency_ms);
      if (!is_new) at->second = std::min(at->second, *job.latency_ms);
    }
  std::map<std::tuple<std::string, std::string, std::string, int>, std::vector<const LoggedJob*>> alike;
  for (const LoggedJob& job : jobs)
    if (job.servers == 1 && (!job.latency_ms || *job.latency_ms == nearest[{job.network, job.gpu}]))
      alike[{job.network, job.gpu, job.campaign, job.workers}].push_back(&job);
  std::vector<std::vector<const LoggedJob*>> groups;
  for (auto& [key, group] : alike) groups.push_back(std::move(group));
  return groups;
}

Deviation machine_deviation(const std::vector<std::vector<double>>& log_rates) {
  double squares = 0.0;
  double freedom = 0.0;
  for (const std::vector<double>& logs : log_rates) {
    const auto more = static_cast<double>(logs.size() - 1);
    squares += square(spread_of(logs).deviation) * more;
    freedom += more;
  }
  if (freedom < fewest_freedom) return {assumed_machine_deviation, true};
  return {std::sqrt(squares / freedom), false};
}

// Of workers alone, beyond what their machines explain.
Deviation campaign_deviation(const std::vector<RateGroup>& groups) {
  std::map<std::pair<std::string, std::string>, std::vector<const RateGroup*>> alone;
  for (const RateGroup& group : groups)
    if (group.workers == 1) alone[{group.network, group.gpu}].push_back(&group);
  double between = 0.0;
  double freedom = 0.0;
  for (const auto& [kind, campaigns] : alone) {
    std::vector<double> logs;
    double within = 0.0;
    for (const RateGroup* campaign : campaigns) {
      logs.push_back(std::log(campaign->rate));
      within += square(campaign->error);
    }
    const auto count = static_cast<double>(logs.size());
    between += (square(spread_of(logs).deviation) - within / count) * (count - 1.0);
    freedom += count - 1.0;
  }
  if (freedom < fewest_freedom) return {assumed_campaign_deviation, true};
  return {std::sqrt(std::max(between / freedom, 0.0)), false};
}

double random_service(int workers, double alone_s, double rate) {
  return service_with_rate(rate, alone_s, [&](double s) { return mean_value_rate(workers, alone_s, s); });
}

}  // namespace

std::string of_kind(const std::string& gpu) {
  return gpu.empty() ? "" : fmt::format(" ({})", gpu);
}

std::vector<LatencyFit> fit_latency(const std::vector<LoggedJob>& jobs) {
  struct Ends {
    const LoggedJob* near = nullptr;
    const LoggedJob* far = nullptr;
  };
  std::map<std::string, Ends> kinds;
  for (const LoggedJob& job : jobs) {
    if (!job.latency_ms || job.workers > 1) continue;
    Ends& ends = kinds[job.gpu];
    if (ends.near == nullptr || *job.latency_ms < *ends.near->latency_ms) ends.near = &job;
    if (ends.far == nullptr || *job.latency_ms > *ends.far->latency_ms) ends.far = &job;
  }
  std::vector<LatencyFit> fits;
  for (const auto& [gpu, ends] : kinds) {
    const double added_s = 1e-3 * (*ends.far->latency_ms - *ends.near->latency_ms);
    if (added_s > 0.0)
      fits.push_back({gpu, *ends.near->latency_ms, *ends.far->latency_ms,
                      (1.0 / ends.far->rate - 1.0 / ends.near->rate) / added_s});
  }
  return fits;
}

std::optional<ChiefPauses> chief_pauses(const std::vector<LoggedJob>& jobs) {
  std::vector<double> seconds;
  std::vector<double> apart;
  for (const LoggedJob& job : jobs)
    for (std::size_t i = 0; i < job.pauses.size(); ++i) {
      seconds.push_back(job.pauses[i].seconds);
      if (i > 0) apart.push_back(job.pauses[i].at_updates - job.pauses[i - 1].at_updates);
    }
  if (apart.empty()) return std::nullopt;
  return ChiefPauses{median(seconds), median(apart), static_cast<int>(seconds.size())};
}

ServiceFit::ServiceFit(const std::vector<LoggedJob>& jobs, const std::string& network) {
  std::vector<double> variations;
  for (const LoggedJob& job : jobs)
    if (job.network == network && job.iteration_variation) variations.push_back(*job.iteration_variation);
  if (!variations.empty()) iterations_ = {median(variations), false};
  std::vector<std::vector<double>> log_rates;
  for (const std::vector<const LoggedJob*>& alike : groups_alike(jobs)) {
    std::vector<double> logs;
    double squares = 0.0;
    for (const LoggedJob* job : alike) {
      logs.push_back(std::log(job->rate));
      squares += square(job->relative_error);
    }
    const LoggedJob& first = *alike.front();
    groups_.push_back({.campaign = first.campaign,
                       .gpu = first.gpu,
                       .workers = first.workers,
                       .jobs = static_cast<int>(alike.size()),
                       .rate = std::exp(spread_of(logs).mean),
                       .error = std::sqrt(squares) / static_cast<double>(alike.size()),
                       .network = first.network});
    log_rates.push_back(std::move(logs));
  }
  machines_ = machine_deviation(log_rates);
  for (RateGroup& group : groups_)
    group.error = std::hypot(group.error, machines_.relative / std::sqrt(group.jobs));
  campaigns_ = campaign_deviation(groups_);
  std::erase_if(groups_, [&](const RateGroup& group) { return group.network != network; });
  if (groups_.empty())
    throw UserError("there is no job of equal workers at one server in these logs",
                    "a job says its number of `servers`, `workers` and its `network`, where it is not alone");
}

std::vector<std::string> ServiceFit::kinds() const {
  std::set<std::string> kinds;
  for (const RateGroup& group : groups_) kinds.insert(group.gpu);
  return {kinds.begin(), kinds.end()};
}

const RateGroup* ServiceFit::find(const std::string& campaign, const std::string& gpu, int workers) const {
  const auto found = std::ranges::find_if(groups_, [&](const RateGroup& group) {
    return group.campaign == campaign && group.gpu == gpu && group.workers == workers;
  });
  return found == groups_.end() ? nullptr : &*found;
}

std::optional<AloneTime> ServiceFit::alone(const std::string& gpu, const std::string& campaign) const {
  const RateGroup* own = find(campaign, gpu, 1);
  double sum = 0.0;
  double squares = 0.0;
  double others = 0.0;
  for (const RateGroup& group : groups_)
    if (group.workers == 1 && group.gpu == gpu && &group != own) {
      sum += std::log(group.rate);
      squares += square(group.error);
      others += 1.0;
    }
  if (own == nullptr && others == 0.0) return std::nullopt;
  const double variance = square(campaigns_.relative) * (1.0 + 1.0 / others) + squares / square(others);
  if (own == nullptr) return AloneTime{std::exp(-sum / others), std::sqrt(variance), false};
  if (others == 0.0 || own->error == 0.0) return AloneTime{1.0 / own->rate, own->error, true};
  const double weight = variance / (variance + square(own->error));
  return AloneTime{std::exp(-(weight * std::log(own->rate) + (1.0 - weight) * sum / others)),
                   std::sqrt(weight) * own->error, true};
}

double ServiceFit::rate_of(int workers, double alone_s, double service_s, double updates,
                           double service_variation) const {
  ServerQueue queue;
  queue.workers.assign(static_cast<std::size_t>(workers), {alone_s});
  queue.service_s = {service_s};
  queue.compute_variation = iterations_.relative;
  queue.service_variation = service_variation;
  queue.updates = updates;
  return simulate_queue(queue, RandomStream(fit_seed, Purpose::bootstrap)).rate;
}

std::optional<SlowDown> ServiceFit::slow_down(const RateGroup& group) const {
  const std::optional<AloneTime> one = alone(group.gpu, group.campaign);
  if (group.workers < 2 || !one) return std::nullopt;
  SlowDown slow{.logarithm = std::log(group.workers / one->seconds / group.rate),
                .error = std::hypot(one->error, group.error)};
  if (slow.logarithm > 0.0)
    slow.least_busy = group.rate * random_service(group.workers, one->seconds, group.rate);
  slow.saturates = slow.logarithm > normal_95 * slow.error && slow.least_busy >= least_busy_share;
  return slow;
}

std::optional<ServiceEstimate> ServiceFit::service() const {
  const RateGroup* busiest = nullptr;
  SlowDown slow;
  for (const RateGroup& group : groups_)
    if (const std::optional<SlowDown> each = slow_down(group);
        each && each->saturates && (busiest == nullptr || each->least_busy > slow.least_busy)) {
      busiest = &group;
      slow = *each;
    }
  if (busiest == nullptr) return std::nullopt;
  const double alone_s = alone(busiest->gpu, busiest->campaign)->seconds;
  const double least_slow = slow.logarithm - normal_95 * slow.error;
  ServiceEstimate estimate;
  estimate.seconds = service_with_rate(busiest->rate, alone_s, [&](double s) {
    return rate_of(busiest->workers, alone_s, s, updates_to_fit);
  });
  estimate.random_s = random_service(busiest->workers, alone_s, busiest->rate);
  estimate.low_s =
      random_service(busiest->workers, alone_s, busiest->workers / alone_s * std::exp(-least_slow));
  estimate.high_s = std::exp(normal_95 * busiest->error) / busiest->rate;
  estimate.from = busiest;
  return estimate;
}

std::optional<double> ServiceFit::most_service_s() const {
  std::optional<double> most;
  for (const RateGroup& group : groups_)
    if (const double of_group = std::exp(normal_95 * group.error) / group.rate; !most || of_group < *most)
      most = of_group;
  return most;
}

std::string ServiceFit::missing() const {
  std::set<std::string> without_alone;
  const RateGroup* quickest = nullptr;  // of one worker
  bool has_several = false;
  std::map<std::string, int> most_logged;
  for (const RateGroup& group : groups_) {
    has_several = has_several || group.workers > 1;
    most_logged[group.gpu] = std::max(most_logged[group.gpu], group.workers);
    if (group.workers == 1 && (quickest == nullptr || group.rate > quickest->rate)) quickest = &group;
    if (group.workers > 1 && !alone(group.gpu, group.campaign)) without_alone.insert(group.gpu);
  }
  if (!without_alone.empty())
    return fmt::format("a job of one worker{}, to say what several would do without waiting",
                       of_kind(fmt::format("{}", fmt::join(without_alone, ", "))));
  if (quickest == nullptr) return "jobs of one worker and of several";
  // s is at most that, so fewer workers cannot keep the server busy.
  const double fewest =
      std::max(1.0 / (quickest->rate * *most_service_s()), 1.0 * most_logged[quickest->gpu]);
  return fmt::format("{}jobs of more than {:.0f} workers{}, until more of them are hardly quicker",
                     has_several ? "" : "a job of several workers: ", std::floor(fewest),
                     of_kind(quickest->gpu));
}

std::optional<RunRange> ServiceFit::predict(const std::string& gpu, const std::string& campaign,
                                            int workers) const {
  const std::optional<AloneTime> one = alone(gpu, campaign);
  if (!one) return std::nullopt;
  const std::optional<ServiceEstimate> known = service();
  const double middle = known ? known->seconds : 0.0;
  std::vector<double> rates;
  std::vector<double> least;
  for (std::uint64_t draw = 0; draw < prediction_draws; ++draw) {
    RandomStream random(fit_seed, Purpose::bootstrap, 1, draw);
    const double alone_s =
        one->seconds * std::exp(random.normal(0.0, std::hypot(one->error, machines_.relative)));
    // Half of the draws have constant service, half up to random; each time explains the busiest job.
    const double variation = std::max(0.0, 2.0 * random.uniform() - 1.0);
    const double error = known ? std::exp(random.normal(0.0, known->from->error)) : 1.0;
    const double service_s = known ? error * (middle + variation * (known->random_s - middle)) : 0.0;
    const double most_s = known ? service_s : *most_service_s();
    const auto rate_at = [&](double seconds) {
      return rate_of(workers, alone_s, std::min(seconds, alone_s), updates_to_predict, variation);
    };
    rates.push_back(rate_at(service_s));
    least.push_back(rate_at(most_s));
  }
  return RunRange{rate_of(workers, one->seconds, std::min(middle, one->seconds), updates_to_fit),
                  quantile(least, 0.05), quantile(rates, 0.95)};
}

}  // namespace paceline::calibrate
