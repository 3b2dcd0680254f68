// reference: what paceline reads and writes, as Markdown, from the tables that the program itself works by.
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/options.hpp"
#include "sim/report/output/result_files.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

constexpr const char* schema_examples = R"(Examples:
  paceline schema > scenario.schema.json           then, as the first line of a scenario:
                                                   # yaml-language-server: $schema=scenario.schema.json
  paceline schema --study > study.schema.json)";

constexpr const char* reference_examples = R"(Examples:
  paceline reference scenario | less
  paceline reference results > results.md)";

template <class Column>
std::string table_of(std::string_view file, const std::vector<Column>& columns) {
  std::string text = fmt::format("\n## {}\n\n| column | unit | meaning |\n|---|---|---|\n", file);
  for (const ColumnText& column : columns)
    text += fmt::format("| `{}` | {} | {} |\n", column.name, column.unit, column.meaning);
  return text;
}

constexpr std::string_view results_head = R"(# Results

Every file and column that `paceline run` and `paceline study` write. This page is the output of
`paceline reference results`; a test fails when it is stale. Times are simulated seconds since the start
of the job, and `replication` counts from 0. An empty cell: there is no such value.

## The folder of a run

| file | content |
|---|---|
)";

constexpr std::string_view study_introduction = R"(
## The folder of a study

| file | content |
|---|---|
| `study.sqlite` | every run, as it ended; the view `results` has most columns of `runs.csv` |
| `runs.csv` | one row for each planned run |
| `comparison.csv` | one row for each combination with finished runs |
| `manifest.json` | the study: its command, that of a single run, combinations, notes, versions |
| `run-info.json` | date, host, jobs, wall time, memory |
| `submit.sbatch`, `task-N.log`, `shard-I-of-N.sqlite` | of a study in parts: job array, logs, runs |

With named variants alone, or `--folders`, each combination has the folder of a run besides. A search
(`paceline search`) leaves the same files; `paceline timing` writes `timing.json`.
)";

std::string results_reference() {
  std::string text(results_head);
  for (const ResultFile& file : result_files())
    text += fmt::format("| `{}` | {} |\n", file.name, file.content);
  text += study_introduction;
  for (const ResultFile& file : result_files())
    if (!file.columns.empty()) text += table_of(file.name, file.columns);
  text += table_of("runs.csv", runs_columns({"the varied names"}, true));
  return text + table_of("comparison.csv", comparison_columns());
}

struct SchemaArguments {
  bool of_study = false;
};

int schema_command(const SchemaArguments& arguments) {
  fmt::print("{}\n", arguments.of_study ? study_schema() : scenario_schema());
  return exit_done;
}

}  // namespace

void add_schema(CLI::App& app, CommandAction& action) {
  auto [schema, arguments] = add_command<SchemaArguments>(
      app, "schema", "print the JSON schema of scenario files, for editors", schema_command, action);
  schema.footer(schema_examples);
  schema.add_flag("--study", arguments.of_study, "the schema of study files instead");
}

void add_reference(CLI::App& app, CommandAction& action) {
  CLI::App& reference = *app.add_subcommand("reference", "print what paceline reads and writes, as Markdown");
  reference.require_subcommand(1);
  reference.footer(reference_examples);
  using Page = std::tuple<const char*, const char*, std::string (*)()>;
  for (const auto& [name, help, text] :
       {Page{"results", "every result file and column, with unit and meaning", results_reference},
        Page{"scenario", "every key of scenario files, with unit, default and meaning", scenario_reference},
        Page{"study", "every key of study files", study_reference}})
    reference.add_subcommand(name, help)->footer(reference_examples)->callback([&action, print = text] {
      action = [print] {
        fmt::print("{}", print());
        return exit_done;
      };
    });
}

}  // namespace paceline
