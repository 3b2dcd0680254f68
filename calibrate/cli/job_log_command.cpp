// `paceline calibrate from-log --jobs`: what asynchronous jobs cost worker and server, from their logs.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibrate/asynchronous/service_files.hpp"
#include "calibrate/asynchronous/service_report.hpp"
#include "calibrate/cli/commands.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;

// What is asked for, where there is a choice.
std::string one_of(const std::vector<std::string>& there, const std::string& asked, const char* option,
                   const char* what) {
  if (asked.empty() && there.size() == 1) return there.front();
  if (std::ranges::find(there, asked) != there.end()) return asked;
  throw UserError(asked.empty() ? fmt::format("these logs are of several {}", what)
                                : fmt::format("{}: there is no job of `{}` in these logs", option, asked),
                  fmt::format("choose one with {}: {}", option, fmt::join(there, ", ")));
}

std::string one_network(const std::vector<LoggedJob>& jobs, const std::string& asked) {
  std::set<std::string> networks;
  for (const LoggedJob& job : jobs) networks.insert(job.network);
  if (networks.empty()) throw UserError("no job is left in these logs", "their rows are too few");
  return one_of({networks.begin(), networks.end()}, asked, "--network", "networks");
}

void check_options(const JobLogArguments& arguments) {
  UserErrors errors;
  const auto need = [&](bool holds, const char* what, const char* hint) {
    errors.attempt([&] {
      if (!holds) throw UserError(what, hint);
    });
  };
  need(arguments.pause_s.has_value() == arguments.pause_every.has_value(),
       "--pause and --pause-every go together", "for example --pause 3.8 --pause-every 4000");
  need(arguments.scenario.empty() || !arguments.output.empty(), "--scenario needs a profile",
       "write it with -o FILE");
  const bool has_sizes = arguments.batch > 0 && arguments.parameters > 0;
  need(arguments.output.empty() || has_sizes, "a profile needs --batch and --parameters",
       "samples of a mini-batch, and how many parameters the network has; logs do not tell");
  for (const std::string& file : {arguments.output, arguments.scenario})
    need(arguments.force || file.empty() || !fs::exists(file),
         fmt::format("{} is there already", file).c_str(), "--force replaces it");
  errors.throw_if_any();
}

void write_files(const JobLogArguments& arguments, const ServiceReport& report, LoggedJobFacts facts) {
  const ServiceFit& fit = report.fit;
  if (facts.network.empty())
    throw UserError("no profile: these logs do not name their network", "name it with --network");
  facts.gpu = one_of(fit.kinds(), arguments.gpu, "--gpu", "kinds of workers");
  const std::optional<AloneTime> alone = fit.alone(facts.gpu, arguments.campaign);
  if (!alone)
    throw UserError(fmt::format("no profile: there is no job of one worker{}", of_kind(facts.gpu)),
                    "what it takes alone does not follow from several");
  facts.alone = *alone;
  if (!arguments.service_s) facts.service = fit.service();
  if (!arguments.service_s && !facts.service)
    throw UserError("no profile: " + no_service_text(fit), "--service-time states one from elsewhere");
  facts.service_s = arguments.service_s.value_or(facts.service ? facts.service->seconds : 0.0);
  if (facts.service_s >= alone->seconds)
    throw UserError(fmt::format("no profile: a service time of {:.4g} s does not fit into an iteration of "
                                "{:.4g} s",
                                facts.service_s, alone->seconds),
                    "workers of this kind alone are known to be quicker than that");
  write_file_atomically(arguments.output, profile_from_logs(facts, fit));
  if (arguments.scenario.empty()) return;
  const fs::path folder = fs::absolute(arguments.scenario).parent_path();
  write_file_atomically(
      arguments.scenario,
      scenario_from_logs(facts, fs::absolute(arguments.output).lexically_relative(folder).string()));
}

}  // namespace

int run(const JobLogArguments& arguments) {
  check_options(arguments);
  JobLogOptions options{.network = arguments.network, .time_column = arguments.time_column};
  if (arguments.pause_s) options.pauses = KnownPauses{*arguments.pause_s, *arguments.pause_every};
  const JobLogs logs = read_job_logs({arguments.jobs.begin(), arguments.jobs.end()}, options);
  LoggedJobFacts facts;
  facts.network = one_network(logs.jobs, arguments.network);
  const ServiceFit fit(logs.jobs, facts.network);
  std::vector<LoggedJob> jobs = logs.jobs;
  std::erase_if(jobs, [&](const LoggedJob& job) { return job.network != facts.network; });
  ServiceReport report{logs, fit, leave_groups_out(logs.jobs, facts.network), chief_pauses(jobs),
                       fit_latency(jobs)};
  if (arguments.pause_s) report.pauses = ChiefPauses{*arguments.pause_s, *arguments.pause_every, 0};
  nlohmann::ordered_json json = service_json(report);
  std::string text = service_text(report);
  if (arguments.predict_workers > 0) {
    const std::string gpu = one_of(fit.kinds(), arguments.gpu, "--gpu", "kinds of workers");
    const auto predicted = fit.predict(gpu, arguments.campaign, arguments.predict_workers);
    if (!predicted)
      throw UserError(fmt::format("--predict: there is no job of one worker{}", of_kind(gpu)),
                      "what it takes alone does not follow from several");
    text +=
        fmt::format("{} workers{}: {:.4g} updates/s, 90 % range {:.4g} to {:.4g}{}\n",
                    arguments.predict_workers, of_kind(gpu), predicted->mean, predicted->low, predicted->high,
                    fit.service() ? "" : ": without a service time, as if they did not wait");
    json["prediction"] = {{"gpu", gpu},
                          {"workers", arguments.predict_workers},
                          {"updates_per_s", predicted->mean},
                          {"low", predicted->low},
                          {"high", predicted->high}};
  }
  fmt::print("{}", arguments.json ? json.dump(2) + "\n" : text);
  if (arguments.output.empty()) return exit_done;
  for (const RateGroup& group : fit.groups()) facts.workers = std::max(facts.workers, group.workers);
  if (arguments.predict_workers > 0) facts.workers = arguments.predict_workers;
  for (const LoggedJob& job : jobs) facts.updates = std::max(facts.updates, job.updates);
  facts.batch = arguments.batch;
  facts.parameters = arguments.parameters;
  facts.pauses = report.pauses;
  write_files(arguments, report, std::move(facts));
  return exit_done;
}

}  // namespace paceline::calibrate
