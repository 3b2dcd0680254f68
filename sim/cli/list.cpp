// list: what a scenario may name.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/shipped_files.hpp"
#include "sim/cost/compute_law.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {
namespace {

struct ListArguments {
  std::string what;
  std::string folder;  // of profiles or learners; empty: those shipped
};

constexpr const char* list_examples = R"(Examples:
  paceline list policies              words for `policy`, and what they do
  paceline list profiles              shipped ones, with network and core counts
  paceline list learners results      those in a folder of your own)";

using Described = std::vector<std::pair<std::string, std::string>>;

void print_described(const Described& words) {
  std::size_t width = 0;
  for (const auto& [word, description] : words) width = std::max(width, word.size());
  for (const auto& [word, description] : words) fmt::print("{:<{}}  {}\n", word, width, description);
}

template <class Rule>
Described described_rules() {
  Described words;
  for (const Rule& rule : Rule::all())
    words.emplace_back(
        rule.synonym.empty() ? std::string(rule.word) : fmt::format("{} or {}", rule.word, rule.synonym),
        rule.description);
  return words;
}

std::string measured_text(const std::vector<ComputeFit>& fits) {
  std::vector<int> cores;
  for (const ComputeFit& fit : fits) cores.push_back(fit.cores);
  return fmt::format("{}", fmt::join(cores, ", "));
}

// What tells profiles of one network apart: other machines.
std::string iteration_text(const ComputeFit& fit) {
  return fmt::format("{} on {} core{}", format_time(law_seconds(fit, 128.0)), fit.cores,
                     fit.cores == 1 ? "" : "s");
}

std::filesystem::path folder_of(const ListArguments& arguments) {
  if (arguments.folder.empty()) return shipped_scenarios();
  if (std::filesystem::is_directory(arguments.folder)) return arguments.folder;
  throw UserError(fmt::format("there is no folder {}", arguments.folder), "");
}

void print_profiles(const ListArguments& arguments) {
  TextRows rows{{"profile", "network", "times", "cores", "iteration of batch 128", "machine"}};
  for (const Profile& profile : profiles_below(folder_of(arguments)))
    rows.push_back({profile.path, profile.network, profile.is_derived ? "derived" : "measured",
                    measured_text(profile.compute), iteration_text(profile.compute.back()),
                    printable(profile.cpu_model)});
  fmt::print(
      "{}Profiles of one network are of different machines: take the nearest to yours, and scale it by "
      "`speed`,\nor measure yours: paceline calibrate NETWORK. The README.md beside them says more.\n",
      text_table(rows));
}

void print_learners(const ListArguments& arguments) {
  TextRows rows{{"learner", "of", "workers", "runs behind it"}};
  for (const StatisticalModel& learner : learners_below(folder_of(arguments)))
    rows.push_back({learner.path, to_text(learner.identity),
                    fmt::format("{:g} - {:g}", learner.validity.workers_min, learner.validity.workers_max),
                    learner.source == LearnerSource::recorded ? "recorded" : "none: assumed"});
  fmt::print("{}", text_table(rows));
}

// They are known to the program that links LibTorch.
void print_networks(const ListArguments&) {
  exec_calibrate({"networks"});
}

const std::map<std::string, void (*)(const ListArguments&), std::less<>> lists = {
    {"networks", print_networks},
    {"policies", [](const ListArguments&) { print_described(described_rules<SynchronizationRule>()); }},
    {"controllers", [](const ListArguments&) { print_described(described_rules<BatchControllerRule>()); }},
    {"topologies",
     [](const ListArguments&) {
       Described words;
       for (const TopologyWord& topology : topology_words())
         words.emplace_back(topology.word, topology.meaning);
       print_described(words);
     }},
    {"profiles", print_profiles},
    {"learners", print_learners}};

int list_command(const ListArguments& arguments) {
  const auto found = lists.find(arguments.what);
  if (found == lists.end()) {
    const std::optional<std::string> meant = closest(arguments.what, listed_things());
    throw UserError(fmt::format("there is no list of `{}`", arguments.what),
                    meant ? fmt::format("did you mean `{}`?", *meant)
                          : fmt::format("lists: {}", fmt::join(listed_things(), ", ")));
  }
  found->second(arguments);
  return exit_done;
}

}  // namespace

std::vector<std::string> listed_things() {
  std::vector<std::string> things;
  for (const auto& entry : lists) things.push_back(entry.first);
  return things;
}

void add_list_command(CLI::App& app, CommandAction& action) {
  auto [list, arguments] = add_command<ListArguments>(
      app, "list", "list what a scenario may name, and the shipped files", list_command, action);
  list.footer(list_examples);
  list.add_option("WHAT", arguments.what, fmt::format("one of {}", fmt::join(listed_things(), ", ")))
      ->required();
  list.add_option("DIR", arguments.folder,
                  "where to look for profiles or learners (default: the shipped ones)");
}

}  // namespace paceline
