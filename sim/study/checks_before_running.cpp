#include "sim/study/checks_before_running.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cost/compute_law.hpp"
#include "sim/study/pool/memory.hpp"

namespace paceline {
namespace {

const Profile& read_profile_at(const LoadedScenario& loaded, const std::filesystem::path& path,
                               const std::string& key, InputFiles& files) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    fail_at(loaded, key, fmt::format("there is no profile {}", path.string()),
            fmt::format("measure this machine: `paceline calibrate {} -o {}`", loaded.scenario.job.network,
                        path.string()));
  return files.profile(path);
}

std::vector<Worker> workers_of(const Scenario& scenario, const Profiles& profiles, std::size_t profile) {
  std::vector<Worker> workers;
  for (std::size_t w = 0; w < profiles.of_worker.size(); ++w)
    if (profiles.of_worker[w] == profile) workers.push_back(scenario.cluster.workers[w]);
  // What levels make of them counts as much as what they start as.
  for (const Level& level : scenario.heterogeneity.changes.schedule)
    for (std::size_t k = 0; k < level.cores.size(); ++k) {
      const std::uint64_t w = level.workers.empty() ? k : level.workers[k];
      if (profiles.of_worker[w] == profile) workers.push_back({.cores = level.cores[k]});
    }
  return workers;
}

std::vector<int> cores_of(const std::vector<Worker>& workers) {
  std::vector<int> cores;
  for (const Worker& worker : workers) cores.push_back(worker.cores);
  return cores;
}

void check_cores(const LoadedScenario& loaded, const Profiles& profiles) {
  const auto check_measured = [&](std::size_t worker, int cores, const std::string& key) {
    const Profile& profile = profiles.of(worker);
    std::vector<int> measured;
    for (const ComputeFit& fit : profile.compute) measured.push_back(fit.cores);
    if (!fit_for_cores(profile, cores))
      fail_at(loaded, key,
              fmt::format("{} was measured with {} cores, not with {}", profile.path,
                          fmt::join(measured, ", "), cores),
              "calibrate with several counts (`--cores 1,2,4`): a law through them covers all others; or "
              "describe another machine by `speed`");
  };
  const std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  for (std::size_t w = 0; w < workers.size(); ++w)
    check_measured(w, workers[w].cores, fmt::format("cluster.workers.{}.cores", w));
  const std::vector<Level>& schedule = loaded.scenario.heterogeneity.changes.schedule;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (std::size_t k = 0; k < schedule[i].cores.size(); ++k)
      check_measured(schedule[i].workers.empty() ? k : schedule[i].workers[k], schedule[i].cores[k],
                     fmt::format("heterogeneity.schedule.{}.cores", i));
}

// What depends on the network's variables needs to know them.
void check_variables(const LoadedScenario& loaded, const Profile& profile) {
  const ServersConfig& servers = loaded.scenario.cluster.servers;
  const auto require = [&](const char* key) {
    if (profile.variables.empty())
      fail_at(loaded, key, fmt::format("{} does not say how large the network's variables are", profile.path),
              "calibrate again with this version, or add their sizes as `variable_bytes: [...]` to the "
              "profile's `network`");
  };
  if (loaded.scenario.communication && loaded.scenario.communication->server_variable > Seconds{})
    require("communication.server_variable");
  const std::vector<PhaseEntry>& phases = loaded.scenario.synchronization;
  for (std::size_t i = 0; i < phases.size(); ++i)
    if (phases[i].config.buckets && profile.variable_ready.empty())
      fail_at(loaded, fmt::format("synchronization.{}.buckets", i),
              fmt::format("{} does not say when each gradient is computed", profile.path),
              "calibrate again with this version, or add to the profile's `network`, beside "
              "`variable_bytes`, shares of an iteration as `variable_ready: [...]`");
  if (servers.split == ParameterSplit::even) return;
  require("cluster.servers.split");
  const std::vector<ServerShard> shards =
      shards_of(profile.parameter_bytes, profile.variables, servers.count, servers.split);
  const auto idle = std::ranges::find(shards, Bytes{}, &ServerShard::bytes);
  if (idle != shards.end())
    fail_at(loaded, "cluster.servers.count",
            fmt::format("server {} would hold none of the {} variables", idle - shards.begin(),
                        profile.variables.size()),
            "write `split: even`, or fewer servers");
}

// A fit that misses its own measurements by more than this is poor, as `paceline calibrate` says too.
constexpr double poor_leave_one_out_error = 0.10;

std::vector<std::string> poor_fit_notes(const std::vector<Worker>& workers, const Profile& profile) {
  std::vector<std::string> notes;
  for (const ComputeFit& fit : profile.compute) {
    const bool used = std::any_of(workers.begin(), workers.end(),
                                  [&](const Worker& worker) { return worker.cores == fit.cores; });
    if (used && fit.leave_one_out_error > poor_leave_one_out_error)
      notes.push_back(
          fmt::format("{}: with {} cores the fit misses left-out batches by {:.0f} %: calibrate again on a "
                      "quiet machine before trusting these times",
                      profile.path, fit.cores, 100.0 * fit.leave_one_out_error));
  }
  return notes;
}

// A controller that does not keep the total batch changes what an update is: comparisons must know whether
// the learning rate followed.
std::optional<std::string> growth_note(const Scenario& scenario) {
  const BatchControllerChoice& controller = scenario.batching.controller;
  if (!controller->adjusts || controller->keeps_total) return std::nullopt;
  const bool follows = scenario.job.optimizer.batch_scaling != RateScaling::none;
  return fmt::format(
      "`controller: {}` does not keep the total batch (mean_batch_growth in summary.csv), and the learning "
      "rate {} it (job.optimizer.batch_scaling)",
      controller->word, follows ? "follows" : "does not follow");
}

std::string check_drawing(const LoadedScenario& loaded, const Profiles& profiles) {
  for (const Profile& profile : profiles.distinct)
    if (profile.ensemble.empty())
      fail_at(
          loaded, "job.profile",
          fmt::format("{} holds no ensemble of parameters: the uncertainty of its fits is unknown",
                      profile.path),
          profile.is_derived
              ? "it is derived from publications, which do not give any; leave out --profile-uncertainty, or "
                "use a profile that was measured"
              : "calibrate again with this version, with at least 3 processes; or leave out "
                "--profile-uncertainty");
  return fmt::format("each replication draws its compute times from the {} equally likely calibrations in {}",
                     profiles.job().ensemble.size(), profiles.job().path);
}

// Gradients of one job have one size, and times are those of its network.
void check_identities(const LoadedScenario& loaded, const Profiles& profiles) {
  UserErrors mistakes;
  const Identity job = identity_of(loaded);
  for (std::size_t p = 0; p < profiles.distinct.size(); ++p) {
    const Profile& profile = profiles.distinct[p];
    Identity expected = job;
    if (p > 0) expected.parameter_count = profiles.job().identity.parameter_count;
    if (!differ(expected, profile.identity)) continue;
    const bool is_other_network = profile.network != loaded.scenario.job.network;
    const std::string key = is_other_network ? "job.network" : "job.profile";
    const std::string hint =
        is_other_network
            ? "name the network of the profile, or calibrate this one (`paceline calibrate --help` lists "
              "them)"
            : fmt::format(
                  "say which data set the job trains on (`job.dataset`), or calibrate the network for it: "
                  "`paceline calibrate {} --classes {}`",
                  loaded.scenario.job.network, job.classes.value_or(10));
    mistakes.attempt([&] {
      fail_at(loaded, key,
              fmt::format("the profile {} is of {}, the job trains {}", profile.path,
                          to_text(profile.identity), to_text(expected)),
              hint);
    });
  }
  mistakes.throw_if_any();
}

void append(std::vector<std::string>& notes, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(notes));
}

}  // namespace

void fail_at(const LoadedScenario& loaded, const std::string& key, const std::string& message,
             const std::string& hint) {
  throw UserError(fmt::format("{}: error: `{}`: {}\nhint: {}\n", origin_of(loaded, key), key, message, hint));
}

Identity identity_of(const LoadedScenario& loaded) {
  const JobConfig& job = loaded.scenario.job;
  Identity identity{.network = job.network, .classes = job.dataset.classes};
  if (!job.dataset.name.empty())
    identity.dataset = job.dataset.name;
  else if (origin_of(loaded, "job.dataset.kind") != "default")
    identity.dataset = job.dataset.kind;
  if (identity.dataset && !identity.classes) identity.classes = known_classes(*identity.dataset);
  return identity;
}

Profiles read_profiles(const LoadedScenario& loaded, InputFiles& files) {
  const Scenario& scenario = loaded.scenario;
  Profiles profiles;
  profiles.distinct.front() = read_profile_at(loaded, scenario.job.profile, "job.profile", files);
  std::map<std::string, std::size_t> known{{"", 0}, {scenario.job.profile.string(), 0}};
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w) {
    const std::string& path = scenario.cluster.workers[w].profile;
    const auto [entry, is_new] = known.try_emplace(path, profiles.distinct.size());
    if (is_new)
      profiles.distinct.push_back(
          read_profile_at(loaded, path, fmt::format("cluster.workers.{}.profile", w), files));
    profiles.of_worker.push_back(entry->second);
  }
  return profiles;
}

std::vector<std::string> check_before_running(const LoadedScenario& loaded, InputFiles& files,
                                              ProfileUse use) {
  const Scenario& scenario = loaded.scenario;
  UserErrors mistakes;
  std::vector<std::string> notes;
  const DatasetSource& dataset = scenario.job.dataset;
  std::error_code ignored;
  mistakes.attempt([&] {
    if (scenario.learner.kind == LearnerKind::network && !dataset.path.empty() &&
        !std::filesystem::is_directory(dataset.path, ignored))
      fail_at(loaded, "job.dataset.path", fmt::format("{} is not a folder", dataset.path),
              fmt::format("name the folder that holds the files of {}", dataset.kind));
  });
  // A trace that makes no sense is refused before the first run.
  mistakes.attempt([&] { static_cast<void>(heterogeneity(scenario)); });
  std::shared_ptr<const Profiles> known;
  mistakes.attempt([&] { known = files.profiles_of(loaded); });
  if (known) {
    const Profiles& profiles = *known;
    mistakes.attempt([&] { check_identities(loaded, profiles); });
    mistakes.attempt([&] { check_cores(loaded, profiles); });
    mistakes.attempt([&] { check_variables(loaded, profiles.job()); });
    append(notes, resolve_jitter(profiles.job(), scenario.jitter).notes);
    if (const double variation = cluster_variation(scenario, profiles.job()); variation > 0.0)
      notes.push_back(fmt::format(
          "for another cluster like the one described: the work of such clusters differs by {:.2g} % (sd / "
          "mean); `prediction: {{cluster: same}}` leaves that out",
          100.0 * variation));
    for (std::size_t p = 0; p < profiles.distinct.size(); ++p) {
      const Profile& profile = profiles.distinct[p];
      const std::vector<Worker> workers = workers_of(scenario, profiles, p);
      append(notes, core_law_notes(profile, cores_of(workers)));
      append(notes, poor_fit_notes(workers, profile));
    }
    mistakes.attempt([&] { append(notes, check_memory(loaded, profiles)); });
    mistakes.attempt([&] { append(notes, check_network_memory(loaded, profiles, available_memory_mib())); });
    if (use == ProfileUse::drawn) mistakes.attempt([&] { notes.push_back(check_drawing(loaded, profiles)); });
  }
  if (!scenario.communication && scenario.cluster.workers.size() > 1)
    notes.emplace_back("communication costs no processor time here: not calibrated (`communication`)");
  if (scenario.communication && scenario.resume.empty() && scenario.cluster.workers.size() > 1)
    notes.emplace_back("going on after a wait takes no longer than computing on: not calibrated (`resume`)");
  if (scenario.communication && scenario.batching.controller->adjusts && !scenario.batching.preparation)
    notes.emplace_back(
        "a batch that is new to its worker takes no longer than others: not calibrated "
        "(`batching.preparation`)");
  if (std::ranges::any_of(scenario.cluster.workers,
                          [](const Worker& worker) { return worker.quota && !worker.quota->resume; }))
    notes.emplace_back(
        "going on after a quota's stop takes no longer than computing on: not calibrated (`quota.resume`)");
  if (scenario.job.optimizer.kind == OptimizerKind::adamw)
    notes.emplace_back(
        "a step of AdamW takes as long here as the profile's step, one of SGD with momentum: it was not "
        "timed");
  if (auto note = growth_note(scenario)) notes.push_back(std::move(*note));
  mistakes.attempt([&] { append(notes, check_learner(loaded, files, known.get())); });
  mistakes.throw_if_any();
  return notes;
}

void check_files(const LoadedScenario& loaded, InputFiles& files) {
  const Scenario& scenario = loaded.scenario;
  UserErrors mistakes;
  std::shared_ptr<const Profiles> known;
  // Where some value could not be read, a file's name may be the one.
  const bool all_are_read = !loaded.values.empty();
  if (all_are_read)
    mistakes.attempt([&] { known = files.profiles_of(loaded); });
  else if (!scenario.job.profile.empty())
    mistakes.attempt([&] { read_profile_at(loaded, scenario.job.profile, "job.profile", files); });
  if (known) mistakes.attempt([&] { check_identities(loaded, *known); });
  if (uses_model(scenario) && !scenario.learner.model.empty())
    mistakes.attempt([&] {
      const StatisticalModel& model = read_learner(loaded, files);
      if (all_are_read) static_cast<void>(check_learner_identity(loaded, model, known.get()));
    });
  mistakes.throw_if_any();
}

std::vector<ValidityRow> validity_of(const LoadedScenario& loaded, InputFiles& files) {
  const Scenario& scenario = loaded.scenario;
  const Profiles& profiles = *files.profiles_of(loaded);
  const BatchRange batches = possible_batches(scenario.batching);
  std::vector<ValidityRow> rows;
  for (std::size_t p = 0; p < profiles.distinct.size(); ++p) {
    const std::vector<Worker> workers = workers_of(scenario, profiles, p);
    if (workers.empty()) continue;
    std::ranges::move(
        validity_rows(profiles.distinct[p], workers,
                      {static_cast<double>(batches.smallest), static_cast<double>(batches.largest)}),
        std::back_inserter(rows));
  }
  if (uses_model(scenario))
    std::ranges::move(learner_validity(scenario, files.learner(scenario.learner.model)),
                      std::back_inserter(rows));
  return rows;
}

}  // namespace paceline
