#include "calibrate/asynchronous/service_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t bytes_per_parameter = 4;
constexpr int updates_per_epoch = 1'000;

std::string service_source(const LoggedJobFacts& facts) {
  if (!facts.service)
    return fmt::format("service time of an update: {:.4g} s, stated, not logged", facts.service_s);
  return fmt::format(
      "service time of an update: {:.4g} s, 90 % range {:.4g} to {:.4g} s, from {} logged jobs of "
      "{} workers ({}); all of it per byte, which logs of one server do not tell",
      facts.service->seconds, facts.service->low_s, facts.service->high_s, facts.service->from->jobs,
      facts.service->from->workers, facts.service->from->gpu);
}

std::string deviation_source(const char* what, const Deviation& deviation) {
  return fmt::format("{}: {:.3g}, {}", what, deviation.relative,
                     deviation.is_assumed ? "assumed" : "sd/mean of the logged ones");
}

}  // namespace

std::string profile_from_logs(const LoggedJobFacts& facts, const ServiceFit& fit) {
  const double slope = (facts.alone.seconds - facts.service_s) / facts.batch;
  const std::int64_t bytes = bytes_per_parameter * facts.parameters;
  const double rate = static_cast<double>(bytes) / facts.service_s;
  const Json profile{
      {"format", "paceline-profile"},
      {"version", 2},
      {"origin", "derived"},
      {"sources",
       {fmt::format(
            "slope: an iteration alone of {:.4g} s ± {:.1f} % (90 %) of batch {}, less the service time; "
            "intercept 0, because one batch was logged: other batches are extrapolated",
            facts.alone.seconds, 100.0 * normal_95 * facts.alone.error, facts.batch),
        service_source(facts), "cores: 1 stands for the whole worker",
        deviation_source("iteration jitter", fit.iterations()),
        deviation_source("run jitter, between jobs alike", fit.machines()),
        deviation_source("between clusters, from campaigns", fit.campaigns()),
        "optimizer step: 0, because logged iterations include it",
        "by `paceline calibrate from-log --jobs`"}},
      {"network",
       {{"name", facts.network}, {"parameter_count", facts.parameters}, {"parameter_bytes", bytes}}},
      {"dataset", {{"name", nullptr}, {"classes", nullptr}}},
      {"machine", {{"cpu_model", facts.gpu.empty() ? "worker of logged jobs" : facts.gpu}}},
      {"fits",
       {{"compute",
         {{{"cores", 1},
           {"law", "affine"},
           {"intercept_s", 0.0},
           {"slope_s_per_sample", slope},
           {"knee", nullptr},
           {"leave_one_out_error", nullptr},
           {"relative_half_width", nullptr},
           {"batch_min", facts.batch},
           {"batch_max", facts.batch},
           {"candidates", Json::array()}}}},
        {"optimizer_step", {{{"cores", 1}, {"seconds", 0.0}}}},
        {"server_accumulate_bytes_per_s", rate},
        {"server_step_bytes_per_s", rate},
        {"core_scaling", nullptr},
        {"memory", nullptr},
        {"ensemble", Json::array()}}},
      {"jitter",
       {{"iteration_cv", fit.iterations().relative},
        {"run_cv", fit.machines().relative},
        {"processes", 1},
        {"process_cv", nullptr},
        {"run_cv_upper", nullptr},
        {"cluster_cv", fit.campaigns().relative},
        {"iteration_law", "log_normal"},
        {"iteration_quantiles", nullptr}}}};
  return profile.dump(1) + "\n";
}

std::string scenario_from_logs(const LoggedJobFacts& facts, const std::string& profile) {
  const auto quoted = [](const std::string& text) { return Json(text).dump(); };
  std::string text = fmt::format(
      "# An asynchronous job as logged, by `paceline calibrate from-log --jobs`: the profile's iteration\n"
      "# includes its transfers, so the network here is nearly free.\n"
      "name: from-logs\n"
      "job:\n"
      "  network: {}\n"
      "  profile: {}\n"
      "  dataset: {{train_samples: {}}}  # {} updates an epoch; logs of updates do not tell\n"
      "  optimizer: {{learning_rate: 0.1}}  # nothing is learned\n"
      "cluster:\n"
      "  workers: [{{{}repeat: {}, cores: 1}}]\n"
      "  network: {{topology: star, bandwidth: 1000 Gbit/s, latency: 0 s}}\n"
      "synchronization: [{{policy: asp, transport: server}}]\n",
      quoted(facts.network), quoted(profile), updates_per_epoch * facts.batch, updates_per_epoch,
      facts.gpu.empty() ? "" : fmt::format("name: {}, ", quoted(facts.gpu)), facts.workers);
  if (facts.pauses)
    text += fmt::format("checkpoints: {{every: {:.0f} updates, cost: {:.4g} s}}  # the chief alone stops\n",
                        facts.pauses->every_updates, facts.pauses->seconds);
  return text + fmt::format(
                    "batching: {{controller: uniform, initial: {}}}\n"
                    "learner: {{kind: none}}\n"
                    "evaluation: {{every: 1 epoch}}\n"
                    "stop: {{epochs: {:.6g}}}\n",
                    facts.batch, facts.updates / updates_per_epoch);
}

}  // namespace paceline::calibrate
