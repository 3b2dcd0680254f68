// table: the comparison that `run` and `study` print, for a paper or a page.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"
#include "sim/base/markup.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/paper_table.hpp"
#include "sim/report/output/read_results.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/study/findings.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

struct TableArguments {
  std::string folder;
  std::string format;
};

constexpr const char* table_examples = R"(Examples:
  paceline table results/mine --format latex > table.tex    \input{table} with \usepackage{booktabs}
  paceline table results/mine --format csv                  the same cells; exact numbers: comparison.csv)";

namespace fs = std::filesystem;

struct TableNotation {
  std::string_view word;
  std::string (*table)(const TextRows& rows);
  std::string (*note)(const std::string& sentence);  // below the tables
};

const std::array<TableNotation, 3> notations{
    {{"latex", latex_table,
      [](const std::string& sentence) {
        return fmt::format("\\par{{\\footnotesize {}\\par}}\n", tex_text(sentence));
      }},
     {"markdown", markdown_table,
      [](const std::string& sentence) { return fmt::format("\n{}\n", markdown_text(sentence)); }},
     // Beside cells there is no place for a sentence.
     {"csv", csv_table, [](const std::string&) { return std::string(); }}}};

// And what is missing of the study.
std::vector<ComparedRuns> finished_runs(const fs::path& folder, std::string& missing) {
  if (!is_study_folder(folder)) return {read_compared_runs(folder)};
  RunStore store(folder / store_file, StoreAccess::read);
  const std::optional<PlannedStudy> study = store.plan();
  std::vector<ComparedRuns> runs;
  if (study) runs = compared_runs(*study, store);
  if (runs.empty()) throw UserError(fmt::format("no run of {} is done", folder.string()), "");
  missing = missing_text(store.counts());
  return runs;
}

// What was said when the results were made, each once.
std::vector<std::string> sentences_of(const fs::path& folder) {
  std::vector<std::string> sentences;
  const nlohmann::json manifest = manifest_in(folder);
  for (const char* key : {"warnings", "notes", "remarks"})
    for (const std::string& sentence : manifest.value(key, std::vector<std::string>{}))
      if (std::ranges::count(sentences, sentence) == 0) sentences.push_back(sentence);
  return sentences;
}

int table_command(const TableArguments& arguments) {
  const auto notation = std::ranges::find(notations, arguments.format, &TableNotation::word);
  if (notation == notations.end())
    throw UserError(fmt::format("--format: there is no notation `{}`", arguments.format),
                    "latex, markdown or csv");
  const fs::path folder = arguments.folder;
  std::string missing;
  const ComparisonText text = comparison_text(compare(finished_runs(folder, missing)));
  for (std::size_t i = 0; i < text.tables.size(); ++i)
    fmt::print("{}{}", i > 0 ? "\n" : "", notation->table(text.tables[i]));
  std::vector<std::string> below = text.sentences;
  if (!missing.empty()) {
    fmt::print(stderr, "warning: {}\n", missing);
    below.insert(below.begin(), fmt::format("Unfinished: {}.", missing));
  }
  std::ranges::move(sentences_of(folder), std::back_inserter(below));
  for (std::string& sentence : below) {
    std::ranges::replace(sentence, '\n', ' ');
    fmt::print("{}", notation->note(sentence));
  }
  return exit_done;
}

}  // namespace

void add_table(CLI::App& app, CommandAction& action) {
  auto [table, arguments] = add_command<TableArguments>(
      app, "table", "print the comparison of a study, or a run's results, for a paper or a page",
      table_command, action);
  table.footer(table_examples);
  table.add_option("DIR", arguments.folder, "folder of a study or a run")->required();
  table.add_option("--format", arguments.format, "latex (with the package booktabs), markdown or csv")
      ->type_name("NAME")
      ->required();
}

}  // namespace paceline
