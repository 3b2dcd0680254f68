// Final accuracy and relative time side by side, and recorded values beside them.
#include <fstream>

#include <doctest/doctest.h>

#include "plots/figures/figures.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/plots/synthetic_results.hpp"

using namespace paceline;
using namespace paceline::plots;
using namespace paceline::testing;

namespace {

// With its caption.
std::string script_of(const ShownRuns& shown) {
  const std::optional<Figure> figure = outcome_figure(shown);
  return figure ? gnuplot_script(*figure, "paceline plot x") + caption_of(*figure, "") : "";
}

std::vector<PlottedRun> two_policies(const TemporaryFolder& folder,
                                     std::optional<double> target = std::nullopt) {
  SyntheticRun bsp;
  SyntheticRun asp;
  bsp.target = asp.target = target;
  asp.name = "ASP";
  asp.end_s = 2.0;
  return read_results(write_study(folder.path() / "study", {bsp, asp}));
}

}  // namespace

TEST_CASE("what is drawn is the mean of the last evaluations, and of the end times over the first policy's") {
  // Last accuracies 0.5, 0.6, 0.7: mean 60 %, deviation 10 %. Ends at 8 s and 2 s: 1 and 0.25.
  const TemporaryFolder folder;
  const std::string script = script_of({two_policies(folder)});
  // mean, and the ends of the whisker
  CHECK(script.find(" 60 50 70 ?\n") != std::string::npos);
  CHECK(script.find(" 1 1 1 ?\n") != std::string::npos);
  CHECK(script.find(" 0.25 0.25 0.25 ?\n") != std::string::npos);
}

TEST_CASE("a job that diverged at once is not drawn as the fastest: its end is no end of the work") {
  // ASP: 2, 2, and 0.1 s where it diverged. Over the 8 s of BSP that is 0.25, not 0.17.
  const TemporaryFolder folder;
  SyntheticRun bsp;
  SyntheticRun asp;
  bsp.target = asp.target = std::nullopt;
  asp.name = "ASP";
  asp.end_s = 2.0;
  asp.diverged = 1;
  const auto script = [&](const char* name) {
    return script_of({read_results(write_study(folder.path() / name, {bsp, asp}))});
  };
  const std::string one_diverged = script("one");
  CHECK(one_diverged.find(" 0.25 0.25 0.25 ?\n") != std::string::npos);
  CHECK(one_diverged.find("times without 1") != std::string::npos);
  // Without a single end of the first's work there is nothing to divide by: no time is drawn.
  bsp.diverged = 3;
  const std::string none_to_compare = script("none");
  CHECK(none_to_compare.find("$time") == std::string::npos);
  CHECK(none_to_compare.find("$accuracy every") != std::string::npos);
}

TEST_CASE("recorded values are read by the policy's name, and any of them may be missing") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "recorded.csv";
  std::ofstream(file) << "variant,final_accuracy,relative_time\nBSP,0.62,1\nASP,,0.2\n";
  const std::string script = script_of({two_policies(folder), read_recorded_outcomes(file)});
  CHECK(script.find(" 60 50 70 62\n") != std::string::npos);
  CHECK(script.find(" 60 50 70 ?\n") != std::string::npos);
  CHECK(script.find(" 0.25 0.25 0.25 0.2\n") != std::string::npos);
  std::ofstream(file) << "variant,final_accuracy,relative_time\nBSP,much,1\n";
  CHECK_THROWS_AS(static_cast<void>(read_recorded_outcomes(file)), UserError);
}

TEST_CASE("accuracies are points, since their axis does not start at zero, and times are bars from zero") {
  // Accuracies of 60 % ± 10 %: from 48.4 to 71.6 %. Times of 1 and 0.25.
  const TemporaryFolder folder;
  const std::string script = script_of({two_policies(folder)});
  const std::size_t times = script.find("set xrange [0:1.06]");
  REQUIRE(times != std::string::npos);
  const std::string of_accuracy = script.substr(0, times);
  CHECK(of_accuracy.find("set xrange [48.4:71.6]") != std::string::npos);
  CHECK(of_accuracy.find("boxxyerror") == std::string::npos);
  CHECK(of_accuracy.find("$accuracy every ::1::1 using 3:1 with points") != std::string::npos);
  CHECK(script.find("boxxyerror", times) != std::string::npos);
}

TEST_CASE("tics are 1, 2 or 5 times a power of ten apart, and no more than fit") {
  // Of 98 at most 5: 19.6 apart or more, so 20. Of 5.2: 1.04, so 2. Of 1.06: 0.212, so 0.5. Of 100 exactly 5:
  // 20.
  CHECK(tic_step(98.0, 5) == doctest::Approx(20.0));
  CHECK(tic_step(5.2, 5) == doctest::Approx(2.0));
  CHECK(tic_step(1.06, 5) == doctest::Approx(0.5));
  CHECK(tic_step(100.0, 5) == doctest::Approx(20.0));
  CHECK(tic_step(41.0, 5) == doctest::Approx(10.0));
}

TEST_CASE("one policy, and jobs that end at a target, need no such bars") {
  const TemporaryFolder folder;
  std::vector<PlottedRun> runs = two_policies(folder, 0.5);
  CHECK_FALSE(outcome_figure({runs}).has_value());
  CHECK(outcome_figure({runs, {{"BSP", {0.6, 1.0}}}}).has_value());
  const TemporaryFolder other;
  runs = two_policies(other);
  runs.pop_back();
  CHECK_FALSE(outcome_figure({runs}).has_value());
}
