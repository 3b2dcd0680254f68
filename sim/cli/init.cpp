// init: a first scenario or study, valid and with comments, to be changed by hand.
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/shipped_files.hpp"
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {
namespace {

struct InitArguments {
  std::string file;  // empty: scenario.yaml or study.yaml
  bool study = false;
  std::string base;  // of the study; empty: scenario.yaml beside it
  std::string network = "resnet32";
  std::string profile;  // empty: a shipped one of the network
  std::string workers = "2x2,2x1";
  std::string bandwidth = "10 Gbit/s";
  std::string policy = "bsp";
  std::string target = "88 %";
  double epochs = 60.0;
  bool force = false;
};

constexpr const char* init_examples = R"(Examples:
  paceline init                                                scenario.yaml, of ResNet-32 on CIFAR-10
  paceline init six.yaml --network resnet50-cifar --workers 2x16,3x8,4 --target '70 %'
  paceline init mine.yaml --profile profile.json --policy asp  with the times of your own machine
  paceline init --study                                        scenario.yaml and a study.yaml of it
  paceline init six-study.yaml --study --base six.yaml         a study of a scenario that is there)";

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view hint) {
  throw UserError(fmt::format("--{}: `{}` makes no sense", option, value), hint);
}

int whole_number(const std::string& text, std::string_view option, const std::string& value,
                 std::string_view hint) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || number < 1) refuse(option, value, hint);
  return number;
}

// "2x16,8" as two workers of 16 cores and one of 8.
std::string workers_text(const std::string& written) {
  constexpr const char* hint =
      "write --workers 2x16,3x8,4 for two workers of 16 cores, three of 8 and one of 4";
  std::string text;
  std::size_t begin = 0;
  while (begin <= written.size()) {
    const std::size_t end = std::min(written.find(',', begin), written.size());
    const std::string group = written.substr(begin, end - begin);
    const std::size_t times = group.find('x');
    const int cores =
        whole_number(times == group.npos ? group : group.substr(times + 1), "workers", written, hint);
    if (times == group.npos)
      text += fmt::format("    - {{cores: {}}}\n", cores);
    else
      text += fmt::format("    - {{repeat: {}, cores: {}}}\n",
                          whole_number(group.substr(0, times), "workers", written, hint), cores);
    begin = end + 1;
  }
  return text;
}

// One line of `synchronization`. What a policy asks for besides stands with a number to begin with.
std::string phase_text(const std::string& word) {
  std::vector<std::string> known;
  for (const SynchronizationRule& rule : SynchronizationRule::all()) {
    known.emplace_back(rule.word);
    if (rule.word != word) continue;
    struct RequiredKeys : Visitor {
      std::string text;
      void visit(const Key& key) override {
        if (key.absence == Key::Absence::not_allowed) text += fmt::format(", {}: 2", key.name);
      }
    } required;
    Parameters parameters = rule.parameters;
    parameters.describe_to(required);
    return fmt::format("{{policy: {}, transport: {}{}}}", word,
                       rule.waits_for == WaitsFor::all ? "ring" : "server", required.text);
  }
  refuse("policy", word, fmt::format("policies: {}", fmt::join(known, ", ")));
}

std::string learner_text(const std::optional<StatisticalModel>& learner, const fs::path& beside) {
  if (!learner)
    return "# None is shipped for this network and data set: only times are predicted. `paceline fit` makes "
           "one from\n"
           "# recorded runs.\n"
           "learner: {kind: none}\n";
  const bool is_recorded = learner->source == LearnerSource::recorded;
  return fmt::format(
      "# {}: what becomes of updates and their staleness. `paceline fit` makes one from logs.\n"
      "learner: {{kind: {}, model: {}}}\n",
      is_recorded ? "Fitted to recorded runs" : "Assumed, no runs of this network stand behind it",
      is_recorded ? "statistical" : "assumed",
      nlohmann::json(fs::proximate(learner->path, beside).string()).dump());
}

// What the profile and the learner say of it, as far as they do.
std::string dataset_text(const Identity& profile, const std::optional<StatisticalModel>& learner) {
  const Identity fitted = learner ? learner->identity : Identity{};
  const std::optional<std::string> name = profile.dataset ? profile.dataset : fitted.dataset;
  const std::optional<std::int64_t> classes = profile.classes ? profile.classes : fitted.classes;
  std::string text;
  if (name) text += fmt::format("name: {}, ", *name);
  if (classes) text += fmt::format("classes: {}, ", *classes);
  return text + fmt::format("train_samples: {}", profile.network == "small-cnn" ? 8192 : 50000);
}

fs::path profile_of(const InitArguments& arguments) {
  if (!arguments.profile.empty()) return fs::absolute(arguments.profile);
  if (const std::optional<Profile> profile = shipped_profile(arguments.network)) return profile->path;
  std::vector<std::string> shipped;
  for (const Profile& profile : profiles_below(shipped_scenarios())) shipped.push_back(profile.network);
  const std::optional<std::string> likely = closest(arguments.network, shipped);
  throw UserError(fmt::format("no profile of `{}` is shipped", arguments.network),
                  (likely ? fmt::format("did you mean `{}`? ", *likely) : "") +
                      fmt::format("Measure it: paceline calibrate {} -o profile.json, then --profile "
                                  "profile.json; paceline list profiles shows the shipped ones",
                                  shell_quoted(arguments.network)));
}

std::string scenario_text(const InitArguments& arguments, const fs::path& beside) {
  const fs::path path = profile_of(arguments);
  const Profile profile = read_profile(path);
  const std::string& network = profile.network;
  const std::optional<StatisticalModel> learner = shipped_learner(profile.identity);
  return fmt::format(
      R"(# One training job on one cluster. `paceline check FILE` prints every value, `paceline run FILE`
# simulates it. Every key: docs/scenario-reference.md, or `paceline reference scenario`.
name: {network} on my cluster
seed: 1
replications: 10                # runs with seeds of their own: intervals come from them

job:
  network: {network}
  # How long an iteration takes, by batch and cores. Measure your machine: paceline calibrate {network}
  profile: {profile}
  dataset: {{{dataset}}}
  optimizer: {{learning_rate: {rate}, momentum: {momentum}, worker_scaling: {scaling}}}

cluster:
  workers:                      # uneven machines; also `name`, `speed: 0.5`, `memory: 16 GB`
{workers}  network: {{topology: star, bandwidth: {bandwidth}, latency: 50 us}}

# When gradients become an update: `paceline list policies`. Of several phases each but the last has a
# length, such as `share: 25 %`.
synchronization:
  - {phase}
# How large each worker's batch is: `paceline list controllers`.
batching: {{controller: uniform, initial: 128, minimum: 8, maximum: 512}}

# What changes while the job runs. Remove the # to try it:
# heterogeneity:
#   stragglers: [{{worker: 0, from: 10 min, every: 1 h, for: 20 min, slowdown: 4}}]

{learner}evaluation: {{every: 1 epoch}}
stop: {{epochs: {epochs:g}{target}}}
)",
      fmt::arg("network", network),
      fmt::arg("profile", nlohmann::json(fs::proximate(path, beside).string()).dump()),
      fmt::arg("dataset", dataset_text(profile.identity, learner)),
      fmt::arg("rate", network == "small-cnn" ? "0.05" : "0.1"),
      fmt::arg("momentum", network == "small-cnn" ? "0" : "0.9"), fmt::arg("scaling", "linear"),
      fmt::arg("workers", workers_text(arguments.workers)), fmt::arg("bandwidth", arguments.bandwidth),
      fmt::arg("phase", phase_text(arguments.policy)), fmt::arg("learner", learner_text(learner, beside)),
      fmt::arg("epochs", arguments.epochs),
      fmt::arg("target", learner ? fmt::format(", accuracy: {}", arguments.target) : ""));
}

std::string study_text(const fs::path& base, const fs::path& beside) {
  return fmt::format(
      R"(# One scenario in several variants, with every combination of what is varied. `paceline study FILE`
# simulates all, `paceline compare results/…` says which is best. Every key: docs/study-reference.md.
study: policies and networks
base: {base}
replications: 10
variants:                       # each sets some values of the base
  - {{name: BSP, set: {{synchronization: [{{policy: bsp, transport: ring}}]}}}}
  - name: BSP, batches follow speed
    set: {{synchronization: [{{policy: bsp, transport: ring}}], batching.controller: static}}
  - {{name: ASP, set: {{synchronization: [{{policy: asp, transport: server}}]}}}}
vary:                           # and every variant meets each of these
  - {{key: cluster.network.bandwidth, values: [1 Gbit/s, 10 Gbit/s]}}
figures:
  - {{name: time-by-policy, metric: {metric}, against: bandwidth, series: variant}}
)",
      fmt::arg("base", nlohmann::json(fs::proximate(base, beside).string()).dump()),
      fmt::arg("metric",
               load_scenario(base, {}).scenario.stop.accuracy ? "time_to_accuracy_s" : "end_time_s"));
}

// Writes what is valid only: a mistake in an option is told as one in the file.
template <class Check>
void write_checked(const fs::path& file, const std::string& text, bool force, const Check& check) {
  if (!force && fs::exists(file))
    throw UserError(fmt::format("{} is already there", file.string()), "--force replaces it");
  fs::path draft = file;
  draft += ".draft.yaml";
  try {
    write_file_atomically(draft, text);
    check(draft);
  } catch (const UserError& error) {
    std::error_code ignored;
    fs::remove(draft, ignored);
    // The draft is nobody's file: what is wrong is wrong in the one that is asked for.
    std::string said = error.what();
    for (std::size_t at = said.find(draft.string()); at != said.npos; at = said.find(draft.string(), at))
      said.replace(at, draft.string().size(), file.string());
    throw UserError(said);
  }
  fs::rename(draft, file);
  fmt::print("{}\n", file.string());
}

int init_command(const InitArguments& arguments) {
  if (!arguments.base.empty() && !arguments.study)
    throw UserError("--base is of a study", "add --study, or leave it out");
  const fs::path file =
      arguments.file.empty() ? (arguments.study ? "study.yaml" : "scenario.yaml") : arguments.file;
  const fs::path folder = fs::absolute(file).parent_path();
  if (!arguments.base.empty() && !fs::is_regular_file(arguments.base))
    throw UserError(fmt::format("--base: there is no file {}", arguments.base),
                    "paceline init writes a scenario; or leave --base out");
  if (!arguments.base.empty() && is_study_file(arguments.base))
    throw UserError(fmt::format("--base: {} is a study, not a scenario", arguments.base),
                    "name the scenario that the study is to be of");
  const fs::path scenario = !arguments.base.empty() ? fs::path(arguments.base)
                            : arguments.study       ? file.parent_path() / "scenario.yaml"
                                                    : file;
  // An own scenario beside a new study is its base, as it is.
  const bool keeps_scenario =
      !arguments.base.empty() || (arguments.study && !arguments.force && fs::exists(scenario));
  if (!keeps_scenario)
    write_checked(scenario, scenario_text(arguments, folder), arguments.force,
                  [](const fs::path& draft) { static_cast<void>(load_scenario(draft, {})); });
  if (arguments.study)
    write_checked(file, study_text(scenario, folder), arguments.force,
                  [](const fs::path& draft) { static_cast<void>(load_study(draft, {})); });
  return exit_done;
}

}  // namespace

void add_init(CLI::App& app, CommandAction& action) {
  auto [init, arguments] = add_command<InitArguments>(
      app, "init", "write a first scenario or study, with comments", init_command, action);
  init.footer(init_examples);
  init.add_option("FILE", arguments.file, "to write (default: scenario.yaml, or study.yaml with --study)");
  init.add_flag("--study", arguments.study,
                "write a study, and its base scenario.yaml beside it, unless that is already there");
  add_path(init, "--base", arguments.base, "scenario that the study is of", "FILE");
  init.add_option("--network", arguments.network, "neural network: paceline list networks")
      ->capture_default_str();
  add_path(init, "--profile", arguments.profile,
           "calibration file (default: a shipped one of the network: paceline list profiles)", "FILE");
  init.add_option("--workers", arguments.workers, "how many of how many cores")
      ->type_name("NxCORES,…")
      ->capture_default_str();
  init.add_option("--bandwidth", arguments.bandwidth, "of each worker's link")->capture_default_str();
  init.add_option("--policy", arguments.policy, "synchronization policy: paceline list policies")
      ->capture_default_str();
  init.add_option("--target", arguments.target,
                  "accuracy to reach, where a learner of the network is shipped")
      ->capture_default_str();
  add_number(init, "--epochs", arguments.epochs, "passes over the training samples, at most", 1e-3, 1e6);
  init.add_flag("--force", arguments.force, "replace files that are already there");
}

}  // namespace paceline
