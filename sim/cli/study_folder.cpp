// The folder of a study: made ready before the first run, complete after the last.
#include <array>
#include <charconv>
#include <csignal>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/results_folder.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// Half-written files of processes that are no more.
void remove_partial_files(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view mark = ".partial-";
    const std::size_t at = name.find(mark);
    if (at == name.npos) continue;
    pid_t writer = 0;
    const char* digits = name.data() + at + mark.size();
    const auto [end, status] = std::from_chars(digits, name.data() + name.size(), writer);
    if (status == std::errc{} && end == name.data() + name.size() && writer > 0 && kill(writer, 0) != 0)
      fs::remove(entry.path(), ignored);
  }
}

void refuse_another_study(const fs::path& folder, const std::string& name) {
  const std::string there = string_in(manifest_in(folder), "name");
  if (there.empty() || there == name) return;
  throw UserError(
      fmt::format("{} holds the study `{}`, whose results `{}` would replace", folder.string(), there, name),
      "choose another folder with --output, or replace it with --force");
}

json manifest_of(const PreparedStudy& study) {
  const PlannedStudy& planned = study.planned;
  json variants = json::array();
  for (const StudyPoint& point : study.plan.points) variants.push_back(point.name);
  ValidityTable validity;
  for (const PlannedPoint& point : planned.points)
    validity.add(point.validity, static_cast<std::size_t>(point.replications));
  json manifest = {{"format", "paceline-study"},
                   {"version", 1},
                   {"name", planned.name},
                   {"question", planned.question},
                   {"command", planned.command},
                   {"command_of_one_run", fmt::format("{} --run ID", planned.command)},
                   {"paceline", software_json()},
                   {"store", store_file},
                   {"base", study.plan.base_file.string()},
                   {"columns", planned.columns},
                   {"conditions", planned.conditions},
                   {"combinations", planned.points.size()},
                   {"runs", planned.run_count()},
                   {"network_model", study.network_model},
                   {"notes", study.note_lines()},
                   {"evidence", sentences_of(study.evidence)},
                   {"validity", validity.json()},
                   {"warnings", study.warnings}};
  manifest["figures"] = json::parse(planned.figures);
  manifest["variants"] = std::move(variants);
  manifest["scenario"] = resolved_values(study.scenario(0));  // of the first combination
  return manifest;
}

}  // namespace

std::optional<Shard> parse_shard(const std::string& text) {
  if (text.empty()) return std::nullopt;
  Shard shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool has_slash = index.ec == std::errc{} && index.ptr != end && *index.ptr == '/';
  const auto count = has_slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!has_slash || count.ec != std::errc{} || count.ptr != end || shard.index < 1 ||
      shard.index > shard.count)
    throw UserError(fmt::format("`--shard {}` is not a part of the runs", text),
                    "write `--shard 2/8` for the second of eight parts");
  return shard;
}

bool is_study_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / store_file, ignored) || manifest_in(folder).contains("store");
}

fs::path store_path(const fs::path& folder, const std::optional<Shard>& shard) {
  return shard ? folder / fmt::format("shard-{}-of-{}.sqlite", shard->index, shard->count)
               : folder / store_file;
}

void make_folder_ready(const fs::path& folder, const PreparedStudy& study, const StudyArguments& arguments) {
  remove_partial_files(folder);
  const bool resumes = is_study_folder(folder) && !arguments.force;
  if (resumes) refuse_another_study(folder, study.planned.name);
  if (!resumes) refuse_to_replace(folder, arguments.force);
  std::error_code failed;
  // Other parts of the study may be at work beside this one.
  if (arguments.force)
    fs::remove_all(arguments.shard.empty() ? folder : store_path(folder, parse_shard(arguments.shard)),
                   failed);
  fs::create_directories(folder, failed);
  if (failed)
    throw UserError(fmt::format("cannot write to {}: {}", folder.string(), failed.message()),
                    "choose another folder with --output");
}

void write_manifest(const fs::path& folder, const PreparedStudy& study) {
  write_file_atomically(folder / "manifest.json",
                        manifest_of(study).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

void write_study_results(const fs::path& folder, const PlannedStudy& study, RunStore& store,
                         const Provenance& provenance) {
  write_file_atomically(folder / runs_file, runs_csv(study, store));
  std::vector<ComparedRuns> runs = compared_runs(study, store);
  // What only the runs could tell.
  json manifest = json::parse(read_file(folder / "manifest.json"));
  ValidityTable validity;
  for (const ComparedRuns& one : runs) add_validity(one, validity);
  if (!runs.empty()) manifest["validity"] = validity.json();
  manifest["remarks"] = remarks_in(study, store);
  write_file_atomically(folder / "manifest.json",
                        manifest.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  if (!runs.empty())
    write_file_atomically(folder / "comparison.csv", comparison_csv(compare(std::move(runs))));
  write_run_info(folder, provenance);
  store.compact();
}

int report_counts(const PlannedStudy& study, RunStore& store) {
  const RunCounts counts = store.counts();
  constexpr std::size_t most_failures = 20;
  std::vector<std::string> lines = failures(study, store);
  for (std::size_t i = 0; i < std::min(lines.size(), most_failures); ++i)
    fmt::print(stderr, "error: {}{}", lines[i], lines[i].ends_with('\n') ? "" : "\n");
  if (lines.size() > most_failures)
    fmt::print(stderr, "and {} more; see the column `message` of {}\n", lines.size() - most_failures,
               runs_file);
  if (counts.failed + counts.missing() == 0) return lines.empty() ? exit_done : exit_simulation_failed;
  fmt::print(stderr,
             "{} runs: {} done, {} failed, {} missing; the study's command runs those that are not done\n",
             counts.planned, counts.done, counts.failed, counts.missing());
  return counts.failed > 0 || !lines.empty() ? exit_simulation_failed : exit_done;
}

}  // namespace paceline
