// Every kind of figure: its data by hand, one rendering each, and hostile text in it.
#include <doctest/doctest.h>

#include "plots/data/combinations.hpp"
#include "plots/draw.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/plots/synthetic_results.hpp"
#include "tests/support/text.hpp"

namespace paceline::plots {
namespace {

using testing::SyntheticRun;
using testing::TemporaryFolder;
using testing::write_run;
using testing::write_study;
namespace fs = std::filesystem;

// The script of one figure, which is drawn.
std::string script_of(const fs::path& results, const std::string& figure, const fs::path& output) {
  PlotRequest request{.folders = {results},
                      .output = output,
                      .force = true,
                      .command = "paceline plot",
                      .tell = [](std::string_view) {},
                      .only = {figure}};
  request.page.formats = {Format::svg};
  draw_figures(request);
  CHECK(fs::file_size(output / (figure + ".svg")) > 1000);
  return read_file(output / (figure + ".gp"));
}

// Two policies by two rates by two networks, the network a condition; times by hand:
//          10 Gbit/s: rate 0.1, 0.2    1 Gbit/s: 0.1, 0.2
// BSP                     100,  50               200, 150
// ASP                      80, never             160, diverged
// A run costs 0.01 core-hours a second to its end at 200 s.
fs::path write_varied_study(const fs::path& folder, const std::string& bsp = "BSP",
                            const char* asp_is_assumed = "0") {
  fs::create_directories(folder);
  const nlohmann::json manifest{{"format", "paceline-study"},
                                {"version", 1},
                                {"variants", nlohmann::json::array()},
                                {"columns", {"variant", "network", "rate"}},
                                {"conditions", {"network"}}};
  write_file_atomically(folder / "manifest.json", manifest.dump());
  std::string rows =
      "point,variant,network,rate,replication,status,time_to_accuracy_s,end_time_s,end_reason,core_hours,"
      "assumed_learner\n";
  const auto add = [&](const std::string& variant, const char* network, const char* rate, const char* time,
                       const char* reason) {
    std::string quoted;
    for (const char c : variant) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    rows += fmt::format("1,\"{}\",{},{},0,done,{},200,{},2,{}\n", quoted, network, rate, time, reason,
                        variant == "ASP" ? asp_is_assumed : "0");
  };
  add(bsp, "10 Gbit/s", "0.1", "100", "target-reached");
  add(bsp, "10 Gbit/s", "0.2", "50", "target-reached");
  add(bsp, "1 Gbit/s", "0.1", "200", "target-reached");
  add(bsp, "1 Gbit/s", "0.2", "150", "target-reached");
  add("ASP", "10 Gbit/s", "0.1", "80", "target-reached");
  add("ASP", "10 Gbit/s", "0.2", "", "workload-done");
  add("ASP", "1 Gbit/s", "0.1", "160", "target-reached");
  add("ASP", "1 Gbit/s", "0.2", "", "diverged");
  write_file_atomically(folder / "runs.csv", rows);
  return folder;
}

TEST_CASE("a policy has one colour and marker in all figures of a study, whatever conditions it meets") {
  const TemporaryFolder folder;
  const fs::path study = write_varied_study(folder.path() / "s");
  // The rate is chosen too: the colour of its policy, with another marker.
  InkPlaces inks(*read_combinations(study));
  CHECK(inks.column() == 0);
  CHECK(inks.of("BSP", "BSP, rate 0.1") == SeriesPlace{0, 0});
  CHECK(inks.of("BSP", "BSP, rate 0.2") == SeriesPlace{0, 1});
  CHECK(inks.of("ASP", "ASP, rate 0.1") == SeriesPlace{1, 0});
  CHECK(inks.of("BSP", "BSP, rate 0.1") == SeriesPlace{0, 0});
  CHECK(series_ink(1, 1).colour == series_ink(1, 0).colour);
  CHECK(series_ink(1, 1).marker != series_ink(1, 0).marker);
  const auto places = [&](const StudyFigureSpec& spec) {
    std::vector<SeriesPlace> all;
    for (const StudySeries& series : read_study_chart(study, spec).series) all.push_back(series.place);
    return all;
  };
  StudyFigureSpec spec{.name = "f",
                       .metric = "time_to_accuracy_s",
                       .against = "rate",
                       .series = "variant",
                       .where = {{"network", {"1 Gbit/s"}}}};
  CHECK(places(spec) == std::vector<SeriesPlace>{{0, 0}, {1, 0}});
  spec.where.clear();  // BSP and ASP on two networks each
  CHECK(places(spec) == std::vector<SeriesPlace>{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  // Lines that are no policies have the colours after those of the two policies.
  spec = {.name = "f",
          .metric = "time_to_accuracy_s",
          .against = "variant",
          .series = "network",
          .where = {{"rate", {"0.1"}}}};
  CHECK(places(spec) == std::vector<SeriesPlace>{{2, 0}, {3, 0}});
}

TEST_CASE("times and curves of a study with folders have a panel for each case, with policies as names") {
  const TemporaryFolder folder;
  const fs::path study = folder.path() / "s";
  std::string rows =
      "point,variant,network,replication,status,time_to_accuracy_s,end_time_s,end_reason,core_hours,"
      "assumed_learner\n";
  nlohmann::json names = nlohmann::json::array();
  int point = 0;
  for (const char* variant : {"BSP", "ASP"})
    for (const char* network : {"1 Gbit/s", "10 Gbit/s"}) {
      names.push_back(fmt::format("{}, network {}", variant, network));
      rows += fmt::format("{},{},{},0,done,100,200,target-reached,2,0\n", ++point, variant, network);
      SyntheticRun run;
      run.name = names.back().get<std::string>();
      write_run(study / fmt::format("{}", point), run);
    }
  const nlohmann::json manifest{{"format", "paceline-study"},
                                {"version", 1},
                                {"variants", names},
                                {"columns", {"variant", "network"}},
                                {"conditions", {"network"}}};
  write_file_atomically(study / "manifest.json", manifest.dump());
  write_file_atomically(study / "runs.csv", rows);
  for (const char* figure : {"time-to-accuracy", "accuracy-over-time"}) {
    CAPTURE(figure);
    const std::string script = script_of(study, figure, folder.path() / "out");
    CHECK(test::contains(script, "network 1 Gbit/s"));
    CHECK(test::contains(script, "network 10 Gbit/s"));
    CHECK(test::contains(script, "\"ASP\""));
    CHECK_FALSE(test::contains(script, "ASP, network"));
  }
}

TEST_CASE("a time map has a square for each pair of labels, a cross where runs diverged, nothing for never") {
  const TemporaryFolder folder;
  const auto script = script_of(write_varied_study(folder.path() / "s"), "time-map", folder.path() / "out");
  // Rates across, networks up, a map for each variant. The fastest, 50 s, is the lightest (#FDE725), the
  // 200 s, the darkest (#440154).
  CHECK(test::contains(script, fmt::format("\n1 0 {} 50\n", 0xFDE725)));
  CHECK(test::contains(script, fmt::format("\n0 1 {} 200\n", 0x440154)));
  CHECK(test::contains(script, "$cells_2 << END_OF_DATA\n# x y colour time\n0 0 "));
  CHECK(test::contains(script, "$diverged_2 << END_OF_DATA\n# x y\n1 1\nEND_OF_DATA"));
}

TEST_CASE("a percent sign in the label of a tic is text, not a format") {
  const TemporaryFolder folder;
  const auto study = write_varied_study(folder.path() / "s");
  std::string rows = read_file(study / "runs.csv");
  for (std::size_t at = rows.find(",0.1,"); at != rows.npos; at = rows.find(",0.1,"))
    rows.replace(at, 5, ",10 %s,");
  write_file_atomically(study / "runs.csv", rows);
  CHECK(test::contains(script_of(study, "time-map", folder.path() / "out"), "\"10 \\045\\045s\" 0"));
}

TEST_CASE("a Pareto figure has stairs of what nothing beats, for each condition") {
  const TemporaryFolder folder;
  const auto script = script_of(write_varied_study(folder.path() / "s"), "pareto", folder.path() / "out");
  // Cost to the target: 2 core-hours · time / 200 s. At 10 Gbit/s BSP at 0.2 is both soonest and cheapest.
  CHECK(test::contains(script, "$stairs_1 << END_OF_DATA\n# time cost\n50 0.5\nEND_OF_DATA"));
  CHECK(test::contains(script, "$stairs_2 << END_OF_DATA\n# time cost\n150 1.5\nEND_OF_DATA"));
  CHECK(test::contains(script, "\"BSP, rate 0.1\""));
}

TEST_CASE("a tornado shows what each name alone does to the first combination, the widest first") {
  const TemporaryFolder folder;
  const auto script = script_of(write_varied_study(folder.path() / "s"), "tornado", folder.path() / "out");
  // From BSP, 10 Gbit/s, 0.1 (100 s): network 100 to 200, rate 50 to 100, variant 80 to 100.
  const auto data = script.substr(script.find("$swings"));
  CHECK(data.find("100 200 ") < data.find("50 100 "));
  CHECK(data.find("50 100 ") < data.find("80 100 "));
  CHECK(test::contains(script, "network: 10 Gbit/s to 1 Gbit/s"));
}

TEST_CASE("figures of a whole study name the variants whose learner is assumed") {
  const TemporaryFolder folder;
  const auto study = write_varied_study(folder.path() / "s");
  for (const char* figure : {"pareto", "time-map", "tornado"})
    CHECK_FALSE(test::contains(script_of(study, figure, folder.path() / "out"), "assumed"));
  write_varied_study(study, "BSP", "1");
  const auto pareto = script_of(study, "pareto", folder.path() / "out");
  CHECK(test::contains(pareto, "\"ASP, rate 0.1 (assumed learner)\""));
  CHECK(test::contains(pareto, "\"BSP, rate 0.1\""));
  CHECK(test::contains(script_of(study, "time-map", folder.path() / "out"), "ASP (assumed learner)"));
  CHECK(test::contains(script_of(study, "tornado", folder.path() / "out"), "(assumed learner)"));
}

TEST_CASE("staleness is a share of the gradients for each number of updates between") {
  const TemporaryFolder folder;
  const auto run = write_run(folder.path() / "run", {});
  write_file_atomically(run / "staleness.csv",
                        "replication,worker,staleness,gradients\n0,0,0,5\n0,1,0,1\n0,1,2,2\n1,0,9,99\n");
  const auto script = script_of(run, "staleness", folder.path() / "out");
  CHECK(test::contains(script, "\n0 75\n1 0\n2 25\nEND_OF_DATA"));
}

TEST_CASE("loss and accuracy are drawn over time and over samples") {
  const TemporaryFolder folder;
  const auto run = write_run(folder.path() / "run", {});
  // Three replications have a loss of 2.3 at first and 1.0 after 200 samples, 8 s.
  const auto loss = script_of(run, "loss-over-time", folder.path() / "out");
  CHECK(test::contains(loss, "\n0 3 2.3 2.3 2.3\n"));
  CHECK(test::contains(loss, "\n8 3 1 1 1\n"));
  const auto samples = script_of(run, "accuracy-over-samples", folder.path() / "out");
  CHECK(test::contains(samples, "\n0.0002 3 60 52 68\n"));
  CHECK(test::contains(script_of(run, "loss-over-samples", folder.path() / "out"), "\n0.0002 3 1 1 1\n"));
}

TEST_CASE("more than six policies have a panel each, over the others in grey") {
  const TemporaryFolder folder;
  std::vector<SyntheticRun> runs;
  for (int i = 0; i < 12; ++i) runs.push_back({.name = fmt::format("policy {}", i)});
  const auto script =
      script_of(write_study(folder.path() / "study", runs), "accuracy-over-time", folder.path() / "out");
  std::size_t panels = 0;
  for (std::size_t at = script.find("\n  plot "); at != script.npos; at = script.find("\n  plot ", at + 1))
    ++panels;
  CHECK(panels == 12);
  CHECK(test::contains(script, "#CCCCCC"));
  // All on one page of a column: the numbers stand at the left and below.
  CHECK(test::contains(script, "set format y \"\""));
}

TEST_CASE("workers are called what they are") {
  const TemporaryFolder folder;
  const SyntheticRun run{
      .workers = "replication,worker,gradients,gradients_per_s\n0,0,20,2.5\n0,1,10,1.25\n0,2,9,1\n"};
  const auto place = write_run(folder.path() / "run", run);
  write_file_atomically(place / "manifest.json",
                        R"json({"format": "paceline-results", "version": 1, "name": "BSP", "scenario": {
                            "cluster.workers.0.cores": "16", "cluster.workers.1.cores": "4",
                            "cluster.workers.2.cores": "4", "cluster.workers.2.name": "old \"one\""},
                            "validity": [{"quantity": "cores", "validity": "near"},
                                         {"quantity": "batch (samples)", "validity": "inside"
}]
})json");
  const auto script = script_of(place, "updates-per-worker", folder.path() / "out");
  CHECK(test::contains(script, "\"16 cores\" 0, \"1: 4 cores\" 1, \"old \\042one\\042\" 2"));
  // Every figure says how far the job leaves what was fitted.
  CHECK(test::contains(script, "fitted or assumed: cores near"));
  CHECK(test::contains(script_of(place, "batches-over-time", folder.path() / "out"), "\"1: 4 cores\""));
}

TEST_CASE("where too few runs give an interval, a time that all reached has none, and no open arrow") {
  const TemporaryFolder folder;
  const auto script =
      script_of(write_run(folder.path() / "run",
                          {.replications = 2, .reached = 2, .low_s = std::nullopt, .high_s = std::nullopt}),
                "time-to-accuracy", folder.path() / "out");
  CHECK(test::contains(script, "with boxxyerror"));
  CHECK_FALSE(test::contains(script, "vectors"));
  CHECK_FALSE(test::contains(script, "open arrow"));
}

TEST_CASE("what is predicted stands against what is recorded, with intervals and the line of equals") {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "validation.csv",
                        "fold,group,runs,quantity,predicted,predicted_low,predicted_high,recorded\n"
                        "a: x,g,3,final_accuracy,0.7,0.65,0.75,0.72\na: y,g,3,final_accuracy,,,,0.6\n");
  const auto script =
      script_of(folder.path() / "validation.csv", "predicted-final-accuracy", folder.path() / "out");
  CHECK(test::contains(script, "\n0.72 0.7 0.65 0.75\n"));
  CHECK(test::contains(script, "$diagonal"));
  write_file_atomically(folder.path() / "learner.json",
                        R"({"format": "paceline-learner", "name": "mine", "left_out":
                            [{"recorded_final_accuracy": 0.9, "predicted_final_accuracy": 0.91}]})");
  CHECK(test::contains(
      script_of(folder.path() / "learner.json", "predicted-against-recorded", folder.path() / "out"),
      "\n0.9 0.91 "));
}

TEST_CASE("hostile names in figures of a whole study are text") {
  const TemporaryFolder folder;
  const std::string touch = "touch " + (folder.path() / "executed").string();
  const auto study = write_varied_study(folder.path() / "s", "`" + touch + "` \"; system('" + touch + "')");
  for (const char* figure : {"time-map", "pareto", "tornado", "study"}) {
    PlotRequest request{.folders = {study}, .output = folder.path() / figure, .only = {figure}};
    request.missing = "`" + touch + "`";
    request.page.formats = {Format::svg, Format::pdf};
    draw_figures(request);
  }
  CHECK_FALSE(fs::exists(folder.path() / "executed"));
}

}  // namespace
}  // namespace paceline::plots
