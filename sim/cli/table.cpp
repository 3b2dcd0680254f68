// table: the comparison that `run` and `study` print, for a paper or a page.
#include <algorithm>
#include <array>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"
#include "sim/base/markup.hpp"
#include "sim/base/number_text.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/paper_table.hpp"
#include "sim/report/output/read_results.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/statistics/paper_columns.hpp"
#include "sim/study/findings.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

struct TableArguments {
  std::string folder;
  std::string format;
  std::string columns;  // words with commas; empty: the notation's own
};

constexpr const char* table_examples = R"(Examples:
  paceline table results/mine --format latex > table.tex    \input{table} with \usepackage{booktabs}
  paceline table results/mine --format latex --columns time,speedup,faster > wide.tex
  paceline table results/mine --format csv                  all cells of the terminal)";

namespace fs = std::filesystem;

struct TableNotation {
  std::string_view word;
  std::string (*full)(const TextRows& rows);
  std::string (*compact)(const PaperTable& table);
  bool is_compact;                                                  // unless --columns says otherwise
  std::string (*notes)(const std::vector<std::string>& sentences);  // below the tables
};

const std::array<TableNotation, 3> notations{
    {{"latex", latex_table, latex_table, true,
      [](const std::vector<std::string>& sentences) {
        std::string text;
        for (const std::string& sentence : sentences)
          text += fmt::format(" {}{}", tex_text(sentence), sentence.ends_with('.') ? "" : ".");
        return fmt::format("\\par{{\\footnotesize\\noindent{}\\par}}\n", text);
      }},
     {"markdown", markdown_table, markdown_table, false,
      [](const std::vector<std::string>& sentences) {
        std::string text;
        for (const std::string& sentence : sentences) text += fmt::format("\n{}\n", markdown_text(sentence));
        return text;
      }},
     // Beside cells there is no place for a sentence.
     {"csv", csv_table, csv_table, false, [](const std::vector<std::string>&) { return std::string(); }}}};

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

constexpr std::string_view all_tables = "all";

// Empty: all tables with all their columns.
std::vector<std::string> columns_of(const TableArguments& arguments, bool is_compact,
                                    const std::vector<ComparedVariant>& compared) {
  if (arguments.columns.empty())
    return is_compact ? usual_paper_columns(compared) : std::vector<std::string>{};
  if (arguments.columns == all_tables) return {};
  std::vector<std::string> known;
  for (const PaperColumn& column : paper_columns()) known.emplace_back(column.word);
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= arguments.columns.size();) {
    const std::size_t end = std::min(arguments.columns.find(',', at), arguments.columns.size());
    words.emplace_back(trimmed(std::string_view(arguments.columns).substr(at, end - at)));
    at = end + 1;
    if (std::ranges::count(known, words.back()) > 0) continue;
    const std::optional<std::string> likely = closest(words.back(), known);
    throw UserError(fmt::format("--columns: there is no column `{}`", words.back()),
                    likely ? fmt::format("did you mean `{}`?", *likely)
                           : fmt::format("{}, or {}", fmt::join(known, ", "), all_tables));
  }
  return words;
}

// What stands in the table of validity, for where that table does not stand.
std::vector<std::string> beyond_validity(const std::vector<ComparedVariant>& compared) {
  ValidityTable validity;
  for (const ComparedVariant& one : compared) add_validity(one, validity);
  std::vector<std::string> sentences;
  const TextRows rows = validity.rows();
  for (std::size_t r = 1; r < rows.size(); ++r)
    if (const auto& row = rows[r]; row[4] != to_string(Validity::inside))
      sentences.push_back(fmt::format("{}: {} holds for {}, used is {}: {} ({} runs).", row[0], row[1],
                                      row[2], row[3], row[4], row[5]));
  return sentences;
}

int table_command(const TableArguments& arguments) {
  const auto notation = std::ranges::find(notations, arguments.format, &TableNotation::word);
  if (notation == notations.end())
    throw UserError(fmt::format("--format: there is no notation `{}`", arguments.format),
                    "latex, markdown or csv");
  const fs::path folder = arguments.folder;
  std::string missing;
  const std::vector<ComparedVariant> compared = compare(finished_runs(folder, missing));
  const std::vector<std::string> columns = columns_of(arguments, notation->is_compact, compared);
  const bool has_pairs = columns.empty() || std::ranges::count(columns, "speedup") > 0 ||
                         std::ranges::count(columns, "faster") > 0;
  const ComparisonText text = comparison_text(compared, has_pairs);
  std::vector<std::string> below = text.sentences;
  if (columns.empty()) {
    for (std::size_t i = 0; i < text.tables.size(); ++i)
      fmt::print("{}{}", i > 0 ? "\n" : "", notation->full(text.tables[i]));
  } else {
    fmt::print("{}", notation->compact(paper_table(compared, columns)));
    std::ranges::move(beyond_validity(compared), std::back_inserter(below));
  }
  if (!missing.empty()) {
    fmt::print(stderr, "warning: {}\n", missing);
    below.insert(below.begin(), fmt::format("Unfinished: {}.", missing));
  }
  std::ranges::move(sentences_of(folder), std::back_inserter(below));
  // Whose table it is knows where the files are; its readers need their names.
  static const std::regex folders_of_file(R"(\S*/([^\s/]+\.json))");
  for (std::string& sentence : below) {
    std::ranges::replace(sentence, '\n', ' ');
    sentence = std::regex_replace(sentence, folders_of_file, "$1");
  }
  fmt::print("{}", notation->notes(below));
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
  std::string columns;
  for (const PaperColumn& column : paper_columns())
    columns += fmt::format("{}{}: {}", columns.empty() ? "" : "; ", column.word, column.meaning);
  table
      .add_option(
          "--columns", arguments.columns,
          fmt::format("one narrow table, a part for each case, with these columns, joined by commas ({}); or "
                      "all: every table of the terminal (default: time,interval,reached and the cost for "
                      "latex, else all)",
                      columns))
      ->type_name("WORDS");
}

}  // namespace paceline
