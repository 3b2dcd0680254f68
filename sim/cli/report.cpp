// report: a study or a run as one page to read, print and pass on.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plots/draw.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/unfinished.hpp"
#include "sim/report/output/html_page.hpp"
#include "sim/report/output/read_results.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/study/answer.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string folder;
  std::string against;  // another folder; empty: none
  std::string output = "report.html";
  bool force = false;
};

constexpr const char* report_examples = R"(Examples:
  paceline report results/mine -o mine.html                 one file, for any browser, offline or printed
  paceline report results/mine --against results/before     what changed since then, paired by seed)";

constexpr std::size_t all_lines = 1'000'000;

struct Reported {
  fs::path folder;
  Findings found;
  nlohmann::json manifest;
};

Reported read_reported(const fs::path& folder) {
  return {folder, findings_in(folder, ""), manifest_in(folder)};
}

std::vector<std::string> sentences_in(const nlohmann::json& manifest, const char* key) {
  std::vector<std::string> sentences;
  for (const std::string& sentence : manifest.value(key, std::vector<std::string>{}))
    if (std::ranges::count(sentences, sentence) == 0) sentences.push_back(sentence);
  return sentences;
}

void write_answer(HtmlPage& page, const Findings& found) {
  page.section("answer", "Answer");
  page.answer(answer_of(found));
  if (found.cases.size() > 1) page.list(answers_by_case(found));
  page.paragraph(found.assumed.note());
  if (const std::string missing = missing_text(found.counts); !missing.empty())
    page.paragraph(fmt::format("{}: what stands here is of the others.", missing));
}

void write_tables(HtmlPage& page, const Findings& found) {
  constexpr std::size_t readable = 60;
  page.section("comparison", "Comparison");
  if (found.table.runs.size() <= readable) {
    const ComparisonText text = comparison_text(compare(found.table.runs));
    page.table(text.tables.front(), "Times of all combinations");
    for (const std::string& sentence : text.sentences) page.paragraph(sentence);
  }
  if (found.table.runs.size() == 1) return;
  for (const Case& one : found.cases) {
    const std::string at = one.at.empty() ? "" : fmt::format(" at {}", one.at);
    page.table(ranking_rows(found, one, all_lines), fmt::format("Ranking{}", at));
    page.table(paired_rows(found, one, all_lines), fmt::format("Paired with the best{}", at));
  }
  page.paragraph(ranking_note);
}

// Those with a seed that the other has too, if there are any.
ComparedRuns common_runs(const ComparedRuns& of, const ComparedRuns& other) {
  ComparedRuns common = of;
  std::erase_if(common.runs, [&](const RunSummary& run) {
    return std::ranges::none_of(other.runs, [&](const RunSummary& one) { return one.seed == run.seed; });
  });
  return common.runs.empty() ? of : common;
}

// "stop.epochs: 60, now 50", of the first combinations.
std::vector<std::string> changed_settings(const Reported& before, const Reported& now) {
  constexpr std::size_t most = 20;
  const nlohmann::json was = before.manifest.value("scenario", nlohmann::json::object());
  const nlohmann::json is = now.manifest.value("scenario", nlohmann::json::object());
  std::vector<std::string> changed;
  if (was.empty() || is.empty()) return changed;
  std::set<std::string> keys;
  for (const nlohmann::json* values : {&was, &is})
    for (const auto& [key, value] : values->items()) keys.insert(key);
  keys.erase("name");
  keys.erase("question");
  const auto text = [](const nlohmann::json& values, const std::string& key) {
    return values.contains(key) ? string_in(values, key.c_str()) : std::string("not there");
  };
  for (const std::string& key : keys)
    if (text(was, key) != text(is, key))
      changed.push_back(fmt::format("{}: {}, now {}", key, text(was, key), text(is, key)));
  if (changed.size() > most) {
    const std::size_t more = changed.size() - most;
    changed.resize(most);
    changed.push_back(fmt::format("and {} more", more));
  }
  return changed;
}

void write_changes(HtmlPage& page, const Reported& now, const Reported& before) {
  page.section("changes", "Changes");
  page.paragraph(
      fmt::format("From {} to this one: medians over the seeds of both, differences paired by seed.",
                  before.folder.filename().string()));
  page.list(changed_settings(before, now));
  TextRows rows{{"combination", "time before", "time now", "difference [90 %]", "speed-up [90 %]",
                 "P(faster now) [90 %]", "pairs"}};
  std::vector<std::string> apart;
  const std::vector<ComparedRuns>& earlier = before.found.table.runs;
  for (const ComparedRuns& runs : now.found.table.runs) {
    const bool is_single = earlier.size() == 1 && now.found.table.runs.size() == 1;
    const auto twin =
        is_single ? earlier.begin() : std::ranges::find(earlier, runs.name, &ComparedRuns::name);
    if (twin == earlier.end()) {
      apart.push_back(fmt::format("{}: new", runs.name));
      continue;
    }
    const ComparedRuns was = common_runs(*twin, runs);
    const ComparedRuns is = common_runs(runs, *twin);
    std::vector<std::string> row{runs.name, time_or_outcome(was, median_time(was)),
                                 time_or_outcome(is, median_time(is))};
    const std::optional<PairedComparison> paired = compare_pairs(*twin, runs);
    std::ranges::move(pair_cells(paired), std::back_inserter(row));
    if (!paired) apart.push_back(fmt::format("{}: no common seeds, target and workload", runs.name));
    rows.push_back(std::move(row));
  }
  for (const ComparedRuns& runs : earlier)
    if (now.found.table.runs.size() > 1 &&
        std::ranges::count(now.found.table.runs, runs.name, &ComparedRuns::name) == 0)
      apart.push_back(fmt::format("{}: gone", runs.name));
  page.table(rows, "What changed");
  page.list(apart);
}

// Where the folders of a study's combinations are, or the results folder itself.
std::vector<fs::path> results_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_directory() && string_in(manifest_in(entry.path()), "format") == "paceline-results")
      folders.push_back(entry.path());
  std::ranges::sort(folders);
  if (folders.empty() && string_in(manifest_in(folder), "format") == "paceline-results")
    folders.push_back(folder);
  return folders;
}

void write_why(HtmlPage& page, const Reported& reported, const std::vector<HtmlFigure>& figures) {
  const Findings& found = reported.found;
  page.section("why", "Why");
  page.figures(figures);
  std::vector<std::string> bottlenecks;
  const std::vector<fs::path> folders = results_folders(reported.folder);
  for (const fs::path& folder : folders)
    if (const std::optional<Bottleneck> worst = bottleneck_in(folder))
      bottlenecks.push_back(fmt::format("{}: {} is at its full rate {:.0f} % of the time",
                                        string_in(manifest_in(folder), "name"), worst->resource,
                                        100.0 * worst->share));
  if (folders.empty()) {
    page.paragraph(
        "What the workers' time went into, bottlenecks and batches are kept by `paceline study --folders` "
        "only.");
  } else {
    page.subtitle("Bottlenecks");
    if (bottlenecks.empty())
      page.paragraph("No link and no server is at its full rate for half of the time or more.");
    page.list(bottlenecks);
  }
  if (found.table.runs.size() > 1 && found.table.columns.size() > 1) {
    page.table(sensitivity_rows(found.effects), "What the time depends on");
    page.paragraph(sensitivity_note);
  }
}

void write_trust(HtmlPage& page, const Reported& reported) {
  page.section("trust", "How far to trust it");
  page.table(reported.found.validity.rows(),
             "What was asked of profiles and learners, beside what they hold for: fitted, or assumed");
  page.subtitle("Where predictions could be checked");
  const std::vector<std::string> evidence = sentences_in(reported.manifest, "evidence");
  page.list(evidence);
  if (evidence.empty()) page.paragraph("The results do not say.");
  std::vector<std::string> warnings = sentences_in(reported.manifest, "warnings");
  warnings.insert(warnings.end(), reported.found.warnings.begin(), reported.found.warnings.end());
  if (!warnings.empty()) page.subtitle("Warnings");
  page.list(warnings);
  std::vector<std::string> notes = sentences_in(reported.manifest, "notes");
  std::ranges::move(sentences_in(reported.manifest, "remarks"), std::back_inserter(notes));
  if (!notes.empty()) page.subtitle("Assumed, and left out");
  page.list(notes);
  page.paragraph(
      "Intervals hold what differs between seeds: jitter, chance in learning, and what is said above to be "
      "drawn by each run or cluster. Under one seed a draw is the same for all combinations, so differences "
      "and orders depend on it less than times. Errors that nothing draws are in no interval.");
}

void write_runs(HtmlPage& page, const Findings& found) {
  page.section("runs", "Every run");
  page.paragraph(fmt::format("{} planned, {} done, {} failed, {} missing.", found.counts.planned,
                             found.counts.done, found.counts.failed, found.counts.missing()));
  page.list(found.failures);
  std::set<std::uint32_t> seeds;
  for (const ComparedRuns& runs : found.table.runs)
    for (const RunSummary& run : runs.runs) seeds.insert(run.seed.seed);
  const bool has_seeds = seeds.size() > 1;
  PaperTable table{
      {"no.", "end", "time to target (s)", "end of the job (s)", "final accuracy", "updates", "run"}, {}};
  if (has_seeds) table.head.emplace_back("seed");
  for (std::size_t i = 0; i < found.table.runs.size(); ++i) {
    PaperGroup& group = table.groups.emplace_back(PaperGroup{found.name(i), {}});
    for (const RunSummary& run : found.table.runs[i].runs) {
      group.rows.push_back({fmt::format("{}", run.seed.replication), run.end_reason,
                            run.time_to_accuracy ? fmt::format("{:.6g}", run.time_to_accuracy->value()) : "-",
                            fmt::format("{:.6g}", run.end_time.value()),
                            or_dash("{:.4f}", run.final_accuracy), fmt::format("{}", run.updates),
                            i < found.point_of.size()
                                ? run_id(found.study.points[found.point_of[i]].digest, run.seed.replication)
                                : "-"});
      if (has_seeds) group.rows.back().push_back(fmt::format("{}", run.seed.seed));
    }
  }
  page.table(table, has_seeds
                        ? "Runs that are done, by replication"
                        : fmt::format("Runs that are done, by replication, of seed {}", *seeds.begin()));
}

void write_reproduction(HtmlPage& page, const Reported& reported) {
  const nlohmann::json& manifest = reported.manifest;
  page.section("reproduce", "How to reproduce it");
  std::string commands = reported.found.study.command;
  if (const std::string one = string_in(manifest, "command_of_one_run"); !one.empty()) commands += "\n" + one;
  page.code(commands);
  TextRows rows{{"of", "value"}};
  const auto add = [&](const std::string& name, const nlohmann::json& values) {
    for (const auto& [key, value] : values.items())
      if (value.is_string() && !value.get<std::string>().empty())
        rows.push_back({name + key, value.get<std::string>()});
  };
  if (manifest.contains("paceline")) add("paceline: ", manifest["paceline"]);
  if (manifest.contains("profile")) add("profile: ", manifest["profile"]);
  if (manifest.contains("network_model"))
    rows.push_back(
        {"network model", fmt::format("{}", fmt::join(sentences_in(manifest, "network_model"), " "))});
  const Findings& found = reported.found;
  for (std::size_t i = 0; i < found.point_of.size(); ++i)
    rows.push_back({found.table.runs[i].name, found.study.points[found.point_of[i]].digest});
  page.table(rows, "Program, files, and hashes of everything that determines each combination's runs");
  page.paragraph("The same scenario, seed, profile, build and type of processor give the same bytes.");
}

// The lines of a caption; the figure itself has the names of its series.
std::string one_line(const std::string& caption, bool with_names) {
  std::string text;
  for (std::size_t at = 0; at < caption.size();) {
    const std::size_t end = std::min(caption.find('\n', at), caption.size());
    const std::string line = caption.substr(at, end - at);
    at = end + 1;
    if (!with_names && (line.starts_with("series: ") || line.starts_with("panels: "))) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ". ", line);
  }
  return text;
}

// Those that say why, and the others.
struct Drawn {
  std::vector<HtmlFigure> results;
  std::vector<HtmlFigure> reasons;
};

Drawn drawn_figures(const fs::path& folder) {
  static const std::vector<std::string> reasons{"attribution",        "batches-over-time", "compute-times",
                                                "updates-per-worker", "staleness",         "worker-timeline"};
  Drawn drawn;
  const DrawableFolder drawable(folder);
  plots::PlotRequest request{.folders = {drawable.path()}, .output = {}, .tell = [](std::string_view) {}};
  request.page.width_in = 4.5;
  request.page.has_footer = false;
  for (plots::SvgFigure& figure : plots::figures_as_svg(request)) {
    std::string title = figure.name;
    std::ranges::replace(title, '-', ' ');
    std::vector<HtmlFigure>& place =
        std::ranges::count(reasons, figure.name) > 0 ? drawn.reasons : drawn.results;
    place.push_back({std::move(figure.svg), fmt::format("{}: {}", title, one_line(figure.caption, true)),
                     fmt::format("{}. {}", title, one_line(figure.caption, false))});
  }
  return drawn;
}

int report_command(const ReportArguments& arguments) {
  const fs::path output = arguments.output;
  if (fs::exists(fs::symlink_status(output)) && !arguments.force)
    throw UserError(fmt::format("{} exists", output.string()),
                    "--force replaces it; or name another file with -o");
  const Reported reported = read_reported(arguments.folder);
  const Drawn drawn = drawn_figures(arguments.folder);
  HtmlPage page(reported.found.study.name);
  if (!reported.found.study.question.empty()) page.question(reported.found.study.question);
  write_answer(page, reported.found);
  if (!arguments.against.empty()) write_changes(page, reported, read_reported(arguments.against));
  write_tables(page, reported.found);
  if (!drawn.results.empty()) {
    page.section("figures", "Figures");
    page.figures(drawn.results);
  }
  write_why(page, reported, drawn.reasons);
  write_trust(page, reported);
  write_runs(page, reported.found);
  write_reproduction(page, reported);
  write_file_atomically(output, page.text());
  fmt::print("{}\n", output.string());
  return exit_done;
}

}  // namespace

void add_report(CLI::App& app, CommandAction& action) {
  auto [report, arguments] = add_command<ReportArguments>(
      app, "report", "write a study or a run as one page: answer, figures, reasons, limits, every run",
      report_command, action);
  report.footer(report_examples);
  report.add_option("DIR", arguments.folder, "folder of a study or a run")->required();
  add_path(report, "--against", arguments.against, "another one, to show what changed", "DIR");
  add_path(report, "-o,--output", arguments.output, "the page", "FILE");
  report.add_flag("--force", arguments.force, "replace a page that is already there");
}

}  // namespace paceline
