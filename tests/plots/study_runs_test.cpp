#include "plots/data/study_runs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
using namespace paceline::plots;

namespace {

constexpr const char* manifest =
    R"({"format": "paceline-study", "version": 1, "columns": ["variant", "share"],
  "figures": [{"name": "f", "metric": "time_to_accuracy_s", "against": "share", "series": "variant",
               "where": {}, "recorded": ""}]})";

// A takes 1, 2, 2, 2, 3 s at 10 % and reaches once in three at 50 %; B has one run, at 50 %.
constexpr const char* runs = R"(point,variant,share,status,time_to_accuracy_s
1,A,10 %,done,3
1,A,10 %,done,1
1,A,10 %,done,2
1,A,10 %,done,2
1,A,10 %,done,2
2,A,50 %,done,4
2,A,50 %,done,
2,A,50 %,done,
3,B,10 %,failed,
4,B,50 %,done,7
)";

struct StudyFolder {
  StudyFolder() {
    write_file_atomically(folder.path() / "manifest.json", manifest);
    write_file_atomically(folder.path() / "runs.csv", runs);
  }
  [[nodiscard]] StudyFigureSpec spec() const { return study_figure_specs(folder.path()).at(0); }
  test::TemporaryFolder folder;
};

// With its caption.
std::string script_of(const StudyChart& chart) {
  const Figure figure = study_figure(chart).value();
  return gnuplot_script(figure, "paceline plot") + caption_of(figure, "");
}

}  // namespace

TEST_CASE(
    "a chart has a series for each label, a point for each place, medians with 90 % prediction intervals") {
  const StudyFolder study;
  const StudyChart chart = read_study_chart(study.folder.path(), study.spec());
  CHECK(chart.is_numeric);
  CHECK(chart.unit == " %");
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].name == "A");
  const StudyPoint& at_ten = chart.series[0].points.at(0);
  CHECK(at_ten.x == 10.0);
  CHECK(at_ten.runs == 5);
  CHECK(*at_ten.middle == 2.0);
  // Of ln 1, ln 2 thrice, ln 3: mean 0.6356, s 0.3963; exp(0.6356 ± t(0.95, 4) · s · √(1 + 1/5)), t = 2.1318.
  CHECK(*at_ten.low == doctest::Approx(0.7483).epsilon(0.001));
  CHECK(*at_ten.high == doctest::Approx(4.764).epsilon(0.001));
  // Two of three never reached: the middle one is never.
  CHECK_FALSE(chart.series[0].points.at(1).middle.has_value());
  CHECK(chart.never == 1);
  // A run that failed is none.
  REQUIRE(chart.series[1].points.size() == 1);
  CHECK(*chart.series[1].points[0].middle == 7.0);
}

TEST_CASE("recorded values stand at their numbers, in the series they name") {
  const StudyFolder study;
  StudyFigureSpec spec = study.spec();
  spec.recorded = study.folder.path() / "recorded.csv";
  write_file_atomically(spec.recorded, "series,x,y\nA,12.5,2.5\nB,50 %,6\n");
  const StudyChart chart = read_study_chart(study.folder.path(), spec);
  REQUIRE(chart.series[0].recorded.size() == 1);
  CHECK(chart.series[0].recorded[0].x == 12.5);
  CHECK(chart.series[1].recorded[0].x == 50.0);
  const std::string script = script_of(chart);
  CHECK(script.find("$recorded_1") != std::string::npos);
  CHECK(script.find("hollow: recorded") != std::string::npos);
  write_file_atomically(spec.recorded, "series,x,y\nC,1,1\n");
  CHECK_THROWS_WITH_AS(read_study_chart(study.folder.path(), spec), doctest::Contains("has no series `C`"),
                       UserError);
}

TEST_CASE("an empty metric that is no time to accuracy is no value, not a late one") {
  const StudyFolder study;
  write_file_atomically(study.folder.path() / "runs.csv",
                        "point,variant,share,replication,status,time_to_accuracy_s,mean_lag_s\n"
                        "1,A,10 %,0,done,1,\n1,A,10 %,1,done,1,8\n");
  StudyFigureSpec spec = study.spec();
  spec.metric = std::string("mean_lag_s");
  const StudyChart chart = read_study_chart(study.folder.path(), spec);
  CHECK(chart.never == 0);
  CHECK(chart.series.at(0).points.at(0).runs == 1);
  CHECK(*chart.series.at(0).points.at(0).middle == 8.0);
}

TEST_CASE("a run that diverged has no time to its end, and the figure says how many it leaves out") {
  // A ends at 4 and 6 s, and at 0.1 s where it diverged: the median is 5, not 4. Its accuracy is shown as any
  // other.
  const StudyFolder study;
  write_file_atomically(study.folder.path() / "runs.csv",
                        "point,variant,share,replication,status,end_time_s,final_accuracy,end_reason\n"
                        "1,A,10 %,0,done,4,0.8,workload-done\n1,A,10 %,1,done,6,0.8,workload-done\n"
                        "1,A,10 %,2,done,0.1,0.1,diverged\n2,A,50 %,0,done,0.1,0.1,stalled\n");
  StudyFigureSpec spec = study.spec();
  spec.metric = std::string("end_time_s");
  const StudyChart chart = read_study_chart(study.folder.path(), spec);
  REQUIRE(chart.series.at(0).points.size() == 1);
  CHECK(*chart.series[0].points[0].middle == 5.0);
  CHECK(chart.cut_short == 2);
  CHECK(script_of(chart).find("without 2 that diverged or stalled") != std::string::npos);
  spec.metric = std::string("final_accuracy");
  const StudyChart accuracy = read_study_chart(study.folder.path(), spec);
  CHECK(accuracy.series.at(0).points.at(0).runs == 3);
  CHECK(accuracy.cut_short == 0);
}

TEST_CASE("a figure of which only recorded values are left marks what diverged") {
  const StudyFolder study;
  write_file_atomically(study.folder.path() / "runs.csv",
                        "point,variant,share,status,end_time_s,end_reason\n1,A,10 %,done,0.1,diverged\n");
  StudyFigureSpec spec = study.spec();
  spec.metric = std::string("end_time_s");
  spec.recorded = study.folder.path() / "recorded.csv";
  write_file_atomically(spec.recorded, "series,x,y\nA,10 %,2.5\n");
  const std::string script = script_of(read_study_chart(study.folder.path(), spec));
  CHECK(script.find("cross at the top: most runs diverged") != std::string::npos);
  CHECK(script.find("hollow: recorded") != std::string::npos);
}

TEST_CASE("differences from a series are paired by replication: mean and 95 % interval") {
  // B - A at 10 %: 1, 2 and 6 s in replications 0, 1, 2: mean 3, sd √7, t(0.975, 2) = 4.303: 3 ± 4.303·√(7/3)
  // = ± 6.573. At 50 % replication 0 of A failed and 2 of B never reached, which leaves 1: 5 - 4 = 1.
  const StudyFolder study;
  write_file_atomically(study.folder.path() / "runs.csv",
                        R"(point,variant,share,replication,status,time_to_accuracy_s
1,A,10 %,0,done,1
1,A,10 %,1,done,2
1,A,10 %,2,done,3
2,A,50 %,0,failed,
2,A,50 %,1,done,4
2,A,50 %,2,done,4
3,B,10 %,2,done,9
3,B,10 %,1,done,4
3,B,10 %,0,done,2
4,B,50 %,0,done,7
4,B,50 %,1,done,5
4,B,50 %,2,done,
)");
  StudyFigureSpec spec = study.spec();
  spec.difference_from =
      std::string("A");  // not from a literal: GCC 12 warns of an overlap in its own library
  const StudyChart chart = read_study_chart(study.folder.path(), spec);
  REQUIRE(chart.series.size() == 1);
  CHECK(chart.series[0].name == "B");
  const StudyPoint& at_ten = chart.series[0].points.at(0);
  CHECK(at_ten.runs == 3);
  CHECK(*at_ten.middle == doctest::Approx(3.0));
  CHECK(*at_ten.low == doctest::Approx(3.0 - 6.573).epsilon(1e-3));
  CHECK(*at_ten.high == doctest::Approx(3.0 + 6.573).epsilon(1e-3));
  CHECK(chart.series[0].points.at(1).runs == 1);
  CHECK(*chart.series[0].points.at(1).middle == doctest::Approx(1.0));
  const std::string script = script_of(chart);
  CHECK(script.find("change of time to accuracy (s)") != std::string::npos);
  CHECK(script.find("mean of 1–3 pairs") != std::string::npos);
  CHECK(script.find("first 0 to graph 1") != std::string::npos);
}

TEST_CASE("a condition leaves only what has one of its labels") {
  const StudyFolder study;
  StudyFigureSpec spec = study.spec();
  spec.where = {{"variant", {"B"}}};
  const StudyChart chart = read_study_chart(study.folder.path(), spec);
  REQUIRE(chart.series.size() == 1);
  CHECK(chart.series[0].name == "B");
}

TEST_CASE("labels in several units stand side by side") {
  const StudyFolder study;
  std::string text = runs;
  text.replace(text.find("50 %"), 4, "half");
  write_file_atomically(study.folder.path() / "runs.csv", text);
  const StudyChart chart = read_study_chart(study.folder.path(), study.spec());
  CHECK_FALSE(chart.is_numeric);
  CHECK(chart.axis_labels == std::vector<std::string>{"10 %", "half", "50 %"});
}

TEST_CASE("a metric that the runs do not have is named with its file") {
  const StudyFolder study;
  StudyFigureSpec spec = study.spec();
  spec.metric = "beauty";
  CHECK_THROWS_WITH_AS(read_study_chart(study.folder.path(), spec), doctest::Contains("beauty"), UserError);
}

TEST_CASE("a study that names no figure gets its last column's") {
  const StudyFolder study;
  write_file_atomically(
      study.folder.path() / "manifest.json",
      R"({"format": "paceline-study", "version": 1, "columns": ["variant"], "figures": []})");
  CHECK(study.spec().against == "variant");
  write_file_atomically(
      study.folder.path() / "manifest.json",
      R"({"format": "paceline-study", "version": 1, "columns": ["variant", "share"], "figures": []})");
  CHECK(study.spec().against == "share");
  CHECK(study.spec().metric == "time_to_accuracy_s");
}

TEST_CASE(
    "a study figure marks the series whose learner is assumed, and reads older results that do not say") {
  const StudyFolder study;
  const auto legend_with = [&](const char* of_a, const char* of_b) {
    write_file_atomically(study.folder.path() / "runs.csv",
                          fmt::format("point,variant,share,assumed_learner,status,time_to_accuracy_s\n"
                                      "1,A,10 %,{0},done,3\n2,A,50 %,0,done,4\n3,B,10 %,{1},done,5\n",
                                      of_a, of_b));
    return script_of(read_study_chart(study.folder.path(), study.spec()));
  };
  // One assumed combination is enough.
  const std::string script = legend_with("1", "0");
  CHECK(script.find("\"A (assumed learner)\"") != std::string::npos);
  CHECK(script.find("\"B\"") != std::string::npos);
  CHECK(legend_with("0", "0").find("assumed") == std::string::npos);
  write_file_atomically(study.folder.path() / "runs.csv", runs);
  CHECK_FALSE(read_study_chart(study.folder.path(), study.spec()).series[0].has_assumed_learner);
}

TEST_CASE("recorded values of a series with an assumed learner go by the name the study gives it") {
  const StudyFolder study;
  write_file_atomically(study.folder.path() / "runs.csv",
                        "point,variant,share,assumed_learner,status,time_to_accuracy_s\n1,A,10 %,1,done,3\n");
  StudyFigureSpec spec = study.spec();
  spec.recorded = study.folder.path() / "recorded.csv";
  write_file_atomically(spec.recorded, "series,x,y\nA,10 %,2.5\n");
  CHECK(read_study_chart(study.folder.path(), spec).series[0].recorded.size() == 1);
}

TEST_CASE("a figure of a single series without a name has a legend only if its learner is assumed") {
  const StudyFolder study;
  StudyFigureSpec spec = study.spec();
  spec.where = {{"variant", {"A"}}};
  spec.series.clear();
  const auto legend_with = [&](const char* assumed) {
    write_file_atomically(
        study.folder.path() / "runs.csv",
        fmt::format("point,variant,share,assumed_learner,status,time_to_accuracy_s\n1,A,10 %,{},done,3\n",
                    assumed));
    return script_of(read_study_chart(study.folder.path(), spec));
  };
  CHECK(legend_with("1").find("\"assumed learner\"") != std::string::npos);
  CHECK(legend_with("0").find("assumed") == std::string::npos);
}

TEST_CASE("categories are not joined by lines, and what diverged is marked at the top") {
  StudyChart chart{.spec = {.name = "times", .metric = "time_to_accuracy_s", .against = "topology"},
                   .is_numeric = false,
                   .axis_labels = {"ring", "star"}};
  StudySeries& series = chart.series.emplace_back();
  series.points = {{.x = 0.0, .middle = 2.0, .low = 1.0, .high = 3.0, .runs = 3},
                   {.x = 1.0, .runs = 3, .diverged = 2}};
  const std::string script = script_of(chart);
  CHECK(script.find("with lines") == std::string::npos);
  CHECK(script.find("cross at the top: most runs diverged") != std::string::npos);
  chart.is_numeric = true;
  CHECK(script_of(chart).find("with lines") != std::string::npos);
}

TEST_CASE("a series keeps its place in the table where a figure shows only some") {
  const StudyFolder study;
  StudyFigureSpec spec = study.spec();
  spec.where["variant"] = {"B"};
  const StudyChart chart = read_study_chart(study.folder.path(), spec);
  REQUIRE(chart.series.size() == 1);
  CHECK(chart.series[0].place.colour == 1);
}
