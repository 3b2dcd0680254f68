#include "sim/report/statistics/paper_columns.hpp"

#include <doctest/doctest.h>

using namespace paceline;

namespace {

// Five runs a minute apart around `middle_h`, or none that gets there.
ComparedRuns runs_around(const std::string& choice, const std::string& conditions, double middle_h,
                         bool reaches = true) {
  ComparedRuns runs{{.name = choice + ", " + conditions,
                     .target_accuracy = 0.88,
                     .workload_epochs = 1,
                     .epoch_samples = 1,
                     .price_per_hour = 2.0},
                    {},
                    conditions};
  runs.choice = choice;
  for (std::uint32_t r = 0; r < 5; ++r) {
    RunSummary run;
    run.seed = {1, r};
    run.end_time = Seconds{3600.0 * middle_h + 60.0 * (static_cast<double>(r) - 2.0)};
    if (reaches) run.time_to_accuracy = run.end_time;
    runs.runs.push_back(run);
  }
  return runs;
}

std::vector<ComparedVariant> two_cases() {
  return compare({runs_around("BSP", "network 1 Gbit/s", 12.5), runs_around("BSP", "network 10 Gbit/s", 2.0),
                  runs_around("ASP_1", "network 1 Gbit/s", 0.5),
                  runs_around("ASP_1", "network 10 Gbit/s", 1.0, false)});
}

}  // namespace

TEST_CASE("a table for a paper has a part for each case, times in one unit, and only the columns asked for") {
  const std::vector<ComparedVariant> compared = two_cases();
  CHECK(usual_paper_columns(compared) == std::vector<std::string>{"time", "interval", "reached", "cost"});
  const PaperTable table = paper_table(compared, {"time", "reached", "cost"});
  CHECK(table.head == std::vector<std::string>{"", "time (h)", "reached", "cost"});
  REQUIRE(table.groups.size() == 2);
  CHECK(table.groups[0].title == "network 1 Gbit/s");
  // 12.5 h at 2 an hour.
  CHECK(table.groups[0].rows == TextRows{{"BSP", "12.5", "5/5", "25.0"}, {"ASP_1", "0.500", "5/5", "1.00"}});
  CHECK(table.groups[1].rows == TextRows{{"BSP", "2.00", "5/5", "4.00"}, {"ASP_1", "never", "0/5", "-"}});
  const std::string interval = paper_table(compared, {"interval"}).groups[0].rows[0][1];
  CHECK(interval.starts_with("12.4–12."));
  CHECK(paper_table(compared, {"speedup"}).groups[0].rows[1][1].starts_with("25.0"));
}

TEST_CASE("each notation shows the cases, and whatever a name holds as text") {
  const PaperTable table = paper_table(two_cases(), {"time", "reached"});
  const std::string latex = latex_table(table);
  CHECK(latex.find("\\multicolumn{3}{@{}l@{}}{\\emph{network 1 Gbit/s}} \\\\\n") != std::string::npos);
  CHECK(latex.find("ASP\\_1 & 0.500 & 5/5") != std::string::npos);
  const std::string markdown = markdown_table(table);
  CHECK(markdown.find("**network 10 Gbit/s**\n\n|   | time (h) | reached |\n") != std::string::npos);
  const std::string csv = csv_table(table);
  CHECK(csv.starts_with("case,,time (h),reached\n"));
  CHECK(csv.find("network 1 Gbit/s,ASP_1,0.500,5/5\n") != std::string::npos);
}
