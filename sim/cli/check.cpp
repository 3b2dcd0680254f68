// check: look at a scenario or study before it runs.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

constexpr const char* check_examples = R"(Examples:
  paceline check scenario.yaml                        every value, where it is written, and notes
  paceline check scenario.yaml --set stop.epochs=20   with a value replaced
  paceline check study.yaml --json                    every combination of a study, for machines)";

using json = nlohmann::ordered_json;

// All that a run would refuse is refused here.
PreparedStudy checked(const RunArguments& arguments) {
  PreparedStudy study = is_study_file(arguments.file)
                            ? prepare_study(arguments.file, arguments.overrides, use_of(arguments))
                            : prepare_scenario(arguments.file, arguments.overrides, use_of(arguments));
  try_network_learners(study);
  return study;
}

// A job reads samples only where a network trains on them: what would be read otherwise is no value of it.
std::vector<ResolvedValue> shown_values(const LoadedScenario& loaded) {
  std::vector<ResolvedValue> values = loaded.values;
  if (loaded.scenario.learner.kind == LearnerKind::network) return values;
  for (ResolvedValue& value : values)
    if (value.key == "job.dataset.kind" && value.origin == "default") {
      value.value = "no samples are read: no network is trained";
      value.is_absent = true;
    }
  return values;
}

// The values of all combinations: what is the same in several of them is one line.
class ValueLines {
 public:
  explicit ValueLines(bool is_study) : is_study_(is_study) {}

  void add(const LoadedScenario& loaded) {
    ++combinations_;
    for (const ResolvedValue& value : shown_values(loaded)) {
      if (is_study_ && value.key == "name") continue;  // `study --list` has them
      auto key = std::ranges::find(keys_, value.key, &Key::name);
      if (key == keys_.end()) key = keys_.insert(keys_.end(), Key{value.key, {}});
      ++key->lines[{value.value, value.origin}];
    }
  }

  void print() const {
    constexpr std::size_t most_lines = 12;  // of one key
    std::size_t key_width = 0;
    std::size_t value_width = 0;
    for (const Key& key : keys_) {
      key_width = std::max(key_width, key.name.size());
      for (const auto& [line, count] : key.lines)
        value_width = std::max(value_width, std::min<std::size_t>(line.first.size(), 32));
    }
    for (const Key& key : keys_) {
      std::size_t shown = 0;
      for (const auto& [line, count] : key.lines) {
        if (++shown > most_lines) break;
        fmt::print("{:<{}}  {:<{}}  # {}{}\n", key.name, key_width, line.first, value_width, line.second,
                   count < combinations_ ? fmt::format(" ({} of {})", count, combinations_) : "");
      }
      if (shown > most_lines)
        fmt::print("{:<{}}  … {} more\n", key.name, key_width, key.lines.size() - most_lines);
    }
  }

 private:
  struct Key {
    std::string name;
    std::map<std::pair<std::string, std::string>, std::size_t> lines;  // value and origin; how many have them
  };
  bool is_study_;
  std::vector<Key> keys_;
  std::size_t combinations_ = 0;
};

json values_json(const LoadedScenario& loaded) {
  json values = json::array();
  for (const ResolvedValue& value : shown_values(loaded))
    values.push_back({{"key", value.key},
                      {"value", value.is_absent ? json(nullptr) : json(value.value)},
                      {"origin", value.origin}});
  return {{"name", loaded.scenario.name}, {"values", values}, {"warnings", loaded.warnings}};
}

int check_command(const RunArguments& arguments) {
  PreparedStudy study = checked(arguments);
  json all = json::array();
  ValidityTable validity;
  ValueLines values(study.scenarios.empty());
  for (std::size_t p = 0; p < study.planned.points.size(); ++p) {
    const LoadedScenario loaded = study.scenario(p);
    const std::vector<ValidityRow>& rows = study.planned.points[p].validity;
    validity.add(rows, static_cast<std::size_t>(loaded.scenario.replications));
    if (arguments.json) {
      all.push_back(values_json(loaded));
      all.back()["notes"] = check_before_running(loaded, study.files, study.use);
      all.back()["validity"] = validity_json(rows);
      continue;
    }
    values.add(loaded);
  }
  if (arguments.json) {
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    if (study.scenarios.empty())
      fmt::print("# {}: {} combinations, {} runs\n", printable(study.planned.name),
                 study.planned.points.size(), study.planned.run_count());
    else
      fmt::print("# {}\n", study.scenarios.front().scenario.name);
    values.print();
    fmt::print("\n{}", validity.text());
  }
  print_warnings(study.warnings, study.note_lines());
  return exit_done;
}

}  // namespace

void add_check(CLI::App& app, CommandAction& action) {
  auto [check, arguments] = add_command<RunArguments>(
      app, "check", "read a scenario or study and print every value with its origin", check_command, action);
  check.footer(check_examples);
  add_file_options(check, arguments, "scenario or study (YAML)");
}

}  // namespace paceline
