#include "calibrate/asynchronous/service_report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/output/text_table.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_left_out = 5;

std::string ms(double seconds) {
  return three_digits(1e3 * seconds) + " ms";
}

// The half-width of its 90 % range.
std::string percent(double error) {
  return fmt::format("± {:.1f} %", 100.0 * normal_95 * error);
}

std::string name_of(const RateGroup& group) {
  const std::string kind = fmt::format(
      "{}{}{}", group.gpu, group.gpu.empty() || group.campaign.empty() ? "" : ", ", group.campaign);
  return fmt::format("{} {} of {} {}{}", group.jobs, group.jobs == 1 ? "job" : "jobs", group.workers,
                     group.workers == 1 ? "worker" : "workers",
                     kind.empty() ? "" : fmt::format(" ({})", kind));
}

std::string alone_table(const ServiceFit& fit) {
  TextRows rows{{"workers alone", "campaign", "jobs", "updates/s", "an iteration", "90 % range"}};
  for (const RateGroup& group : fit.groups())
    if (group.workers == 1) {
      const AloneTime alone = *fit.alone(group.gpu, group.campaign);
      rows.push_back({group.gpu, group.campaign, fmt::format("{}", group.jobs), three_digits(group.rate),
                      ms(alone.seconds), percent(alone.error)});
    }
  return rows.size() > 1 ? text_table(rows) + "\n" : "";
}

std::string several_table(const ServiceFit& fit) {
  TextRows rows{{"several workers", "campaign", "workers", "jobs", "updates/s", "of what they do alone",
                 "service at most", "server busy at least", "saturated"}};
  for (const RateGroup& group : fit.groups()) {
    if (group.workers < 2) continue;
    std::vector<std::string> row{group.gpu,
                                 group.campaign,
                                 fmt::format("{}", group.workers),
                                 fmt::format("{}", group.jobs),
                                 three_digits(group.rate),
                                 "-",
                                 ms(1.0 / group.rate),
                                 "-",
                                 "-"};
    if (const std::optional<SlowDown> slow = fit.slow_down(group)) {
      row[5] = fmt::format("{:.2f} {}", std::exp(-slow->logarithm), percent(slow->error));
      row[7] = fmt::format("{:.0f} %", 100.0 * slow->least_busy);
      row[8] = slow->saturates ? "yes" : "no";
    }
    rows.push_back(std::move(row));
  }
  return rows.size() > 1 ? text_table(rows) + "\n" : "";
}

std::string left_out_table(const std::vector<LeftOutGroup>& groups) {
  if (groups.empty()) return "";
  TextRows rows{{"each left out", "campaign", "workers", "predicted/s", "90 % range", "logged/s", "error",
                 "null: alone, added up", "server"}};
  double errors = 0.0;
  double nulls = 0.0;
  int inside = 0;
  for (const LeftOutGroup& left : groups) {
    const RunRange& range = left.predicted;
    rows.push_back(
        {left.group.gpu, left.group.campaign, fmt::format("{}", left.group.workers), three_digits(range.mean),
         fmt::format("{} to {}", three_digits(range.low), three_digits(range.high)),
         three_digits(left.group.rate), fmt::format("{:+.1f} %", 100.0 * left.error()),
         fmt::format("{:+.1f} %", 100.0 * left.null_error()), left.has_service ? "known" : "not known"});
    errors += std::abs(left.error());
    nulls += std::abs(left.null_error());
    inside += left.group.rate >= range.low && left.group.rate <= range.high ? 1 : 0;
  }
  const auto count = static_cast<double>(groups.size());
  return text_table(rows) + fmt::format(
                                "mean absolute error {:.1f} %, null {:.1f} %; {} of {} in their 90 % "
                                "range\n\n",
                                100.0 * errors / count, 100.0 * nulls / count, inside, groups.size());
}

std::string deviation_text(const char* what, const Deviation& deviation) {
  return fmt::format("{} differ by {:.1f} %{}", what, 100.0 * deviation.relative,
                     deviation.is_assumed ? " (assumed: too few of them are logged)" : "");
}

Json range_json(const RunRange& range) {
  return {{"mean", range.mean}, {"low", range.low}, {"high", range.high}};
}

Json group_json(const RateGroup& group) {
  return {{"gpu", group.gpu},   {"campaign", group.campaign},  {"workers", group.workers},
          {"jobs", group.jobs}, {"updates_per_s", group.rate}, {"relative_error", group.error}};
}

}  // namespace

std::vector<LeftOutGroup> leave_groups_out(const std::vector<LoggedJob>& jobs, const std::string& network) {
  std::vector<LeftOutGroup> left_out;
  const ServiceFit all(jobs, network);
  for (const RateGroup& group : all.groups()) {
    const std::optional<AloneTime> alone = all.alone(group.gpu, group.campaign);
    if (group.workers < 2 || !alone) continue;
    std::vector<LoggedJob> others;
    for (const LoggedJob& job : jobs)
      if (job.network != network || job.gpu != group.gpu || job.campaign != group.campaign ||
          job.workers != group.workers)
        others.push_back(job);
    const ServiceFit fit(others, network);
    const RateGroup* one = fit.find(group.campaign, group.gpu, 1);
    const double null_rate = one != nullptr ? one->rate : 1.0 / alone->seconds;
    left_out.push_back({group, *fit.predict(group.gpu, group.campaign, group.workers),
                        group.workers * null_rate, fit.service().has_value()});
  }
  return left_out;
}

std::string no_service_text(const ServiceFit& fit) {
  std::string text = "no service time of the server follows from these jobs: none saturates it\n";
  for (const RateGroup& group : fit.groups()) {
    const std::optional<SlowDown> slow = fit.slow_down(group);
    if (!slow) continue;
    text += fmt::format("  {}: {:.2f} {} of what they do alone, ", name_of(group), std::exp(-slow->logarithm),
                        percent(slow->error));
    text += slow->logarithm > normal_95 * slow->error
                ? fmt::format("but the server may be busy for only {:.0f} % of the time\n",
                              100.0 * slow->least_busy)
                : "which machines and windows explain\n";
  }
  if (const std::optional<double> most = fit.most_service_s())
    text += fmt::format("it is at most {}\n", ms(*most));
  return text + fmt::format("missing: {}\n", fit.missing());
}

std::string service_text(const ServiceReport& report) {
  const ServiceFit& fit = report.fit;
  std::string text = alone_table(fit) + several_table(fit);
  if (const std::optional<ServiceEstimate> service = fit.service())
    text += fmt::format(
        "service time of an update: {}, 90 % range {} to {} (random to constant service), from {}\n",
        ms(service->seconds), ms(service->low_s), ms(service->high_s), name_of(*service->from));
  else
    text += no_service_text(fit);
  text +=
      fmt::format("{}, {}, {}\n", deviation_text("iterations of one worker", fit.iterations()),
                  deviation_text("jobs alike", fit.machines()), deviation_text("campaigns", fit.campaigns()));
  for (const LatencyFit& latency : report.latencies)
    text += fmt::format(
        "each ms of latency to the server adds {:.2g} ms to an iteration{} (from {:g} to {:g} ms): "
        "round_trips: {:.2g} of a straggler\n",
        latency.round_trips, latency.gpu.empty() ? "" : " of " + latency.gpu, latency.from_ms, latency.to_ms,
        latency.round_trips);
  if (report.pauses)
    text +=
        fmt::format("the chief pauses for {} about every {:.0f} updates ({})\n",
                    format_time(Seconds{report.pauses->seconds}), report.pauses->every_updates,
                    report.pauses->count > 0 ? fmt::format("{} pauses", report.pauses->count) : "as given");
  text += "\n" + left_out_table(report.left_out);
  const std::vector<std::string>& left_out = report.logs.left_out;
  for (std::size_t i = 0; i < std::min(most_left_out, left_out.size()); ++i)
    text += "left out: " + printable(left_out[i]) + "\n";
  if (left_out.size() > most_left_out)
    text += fmt::format("left out: {} more jobs\n", left_out.size() - most_left_out);
  return text;
}

Json service_json(const ServiceReport& report) {
  const ServiceFit& fit = report.fit;
  Json json{{"format", "paceline-job-logs"}, {"version", 1}, {"groups", Json::array()}};
  for (const RateGroup& group : fit.groups()) {
    Json entry = group_json(group);
    if (const auto alone = fit.alone(group.gpu, group.campaign))
      entry["alone"] = {{"seconds", alone->seconds}, {"relative_error", alone->error}};
    if (const auto slow = fit.slow_down(group))
      entry["slow_down"] = {{"logarithm", slow->logarithm},
                            {"error", slow->error},
                            {"least_busy", slow->least_busy},
                            {"saturates", slow->saturates}};
    json["groups"].push_back(std::move(entry));
  }
  if (const auto service = fit.service())
    json["service"] = {{"seconds", service->seconds},
                       {"low_s", service->low_s},
                       {"high_s", service->high_s},
                       {"from", group_json(*service->from)}};
  else
    json["service"] = nullptr;
  json["service_at_most_s"] = fit.most_service_s() ? Json(*fit.most_service_s()) : Json(nullptr);
  for (const auto& [key, deviation] :
       {std::pair{"iterations_differ", fit.iterations()}, std::pair{"jobs_differ", fit.machines()},
        std::pair{"campaigns_differ", fit.campaigns()}})
    json[key] = {{"relative", deviation.relative}, {"assumed", deviation.is_assumed}};
  json["latencies"] = Json::array();
  for (const LatencyFit& latency : report.latencies)
    json["latencies"].push_back({{"gpu", latency.gpu}, {"round_trips", latency.round_trips}});
  json["pauses"] = nullptr;
  if (report.pauses)
    json["pauses"] = {{"seconds", report.pauses->seconds}, {"every_updates", report.pauses->every_updates}};
  json["each_left_out"] = Json::array();
  for (const LeftOutGroup& left : report.left_out)
    json["each_left_out"].push_back({{"group", group_json(left.group)},
                                     {"predicted", range_json(left.predicted)},
                                     {"error", left.error()},
                                     {"null_error", left.null_error()},
                                     {"service_known", left.has_service}});
  json["jobs_left_out"] = report.logs.left_out;
  return json;
}

}  // namespace paceline::calibrate
