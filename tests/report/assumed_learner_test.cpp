#include <doctest/doctest.h>

#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;

namespace {

ComparedRuns one_run(const char* name, bool is_assumed) {
  RunSummary run;
  run.end_time = Seconds{10.0};
  run.time_to_accuracy = Seconds{5.0};
  return {{.name = name,
           .target_accuracy = 0.5,
           .workload_epochs = 1.0,
           .epoch_samples = 100,
           .has_assumed_learner = is_assumed},
          {run}};
}

std::string table_of(bool first_is_assumed, bool second_is_assumed) {
  return comparison_table(compare({one_run("BSP", first_is_assumed), one_run("ASP", second_is_assumed)}));
}

}  // namespace

TEST_CASE("where every learner is assumed, a line below the table says so, and the rows keep their names") {
  const std::string table = table_of(true, true);
  CHECK(contains(table, "Assumed learner: no recorded runs stand behind its accuracies"));
  CHECK_FALSE(contains(table, "(assumed learner)"));
}

TEST_CASE("where some learners are assumed, their rows say so, and the line below counts them") {
  const std::string table = table_of(false, true);
  CHECK(contains(table, "Assumed learner in 1 of 2: no recorded runs"));
  // In the table of times and in that of pairs.
  const std::size_t first = table.find("ASP (assumed learner)");
  REQUIRE(first != std::string::npos);
  CHECK(table.find("ASP (assumed learner)", first + 1) != std::string::npos);
  CHECK_FALSE(contains(table, "BSP (assumed learner)"));
}

TEST_CASE("where no learner is assumed, nothing is marked") {
  CHECK_FALSE(contains(table_of(false, false), "ssumed"));
}

TEST_CASE("files for machines say for each variant whether its learner is assumed") {
  const auto compared = compare({one_run("BSP", false), one_run("ASP", true)});
  CHECK(contains(comparison_csv(compared), "BSP,0.5,0,"));
  CHECK(contains(comparison_csv(compared), "ASP,0.5,1,"));
  CHECK(contains(comparison_json(compared), "\"assumed_learner\": 1"));
}
