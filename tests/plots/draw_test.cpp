#include "plots/draw.hpp"

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"
#include "tests/plots/synthetic_results.hpp"
#include "tests/support/text.hpp"

namespace paceline::plots {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticRun;
using testing::TemporaryFolder;
using testing::write_run;
using testing::write_study;

PlotRequest request_for(const fs::path& folder, const fs::path& output) {
  PlotRequest request;
  request.folders = {folder};
  request.output = output;
  request.command = "paceline plot somewhere";
  request.tell = [](std::string_view) {};
  return request;
}

std::string complaint_about(const PlotRequest& request) {
  try {
    draw_figures(request);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

std::size_t entries(const fs::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

TEST_CASE("each figure is a PDF, a PNG, a script and a caption, and nothing else is left behind") {
  const TemporaryFolder folder;
  const auto study = write_study(folder.path() / "study", {{.name = "A"}, {.name = "B"}});
  const auto paths = draw_figures(request_for(study, folder.path() / "figures"));
  CHECK(paths.size() == 12);
  CHECK(entries(folder.path() / "figures") == 12);
  for (const fs::path& path : paths) {
    const std::string content = read_file(path);
    CAPTURE(path);
    if (path.extension() == ".pdf") CHECK(content.starts_with("%PDF-"));
    if (path.extension() == ".png") CHECK(content.starts_with("\x89PNG\r\n\x1a\n"));
    if (path.extension() == ".txt") CHECK(test::contains(content, "\nmade by: paceline plot somewhere\n"));
    if (path.extension() == ".gp") CHECK(test::contains(content, "# made by: \"paceline plot somewhere\""));
  }
}

TEST_CASE("the script holds the band computed by hand, the interval and the batches") {
  const TemporaryFolder folder;
  draw_figures(request_for(write_run(folder.path() / "run", {}), folder.path()));
  // At 4 s (grid point 120 of 240) the accuracies are 0.2, 0.3, 0.4: median 0.3,
  // 10 % 0.2 + 0.2 · 0.1 = 0.22, 90 % 0.3 + 0.8 · 0.1 = 0.38. At 8 s: 0.5, 0.6, 0.7.
  const std::string accuracy = read_file(folder.path() / "accuracy-over-time.gp");
  CHECK(test::contains(accuracy, "\n4 3 30 22 38\n"));
  CHECK(test::contains(accuracy, "\n8 3 60 52 68\n"));
  CHECK(test::contains(accuracy, "target 50 \\045"));
  const std::string times = read_file(folder.path() / "time-to-accuracy.gp");
  CHECK(test::contains(times, " 0 8 7 9 "));
  CHECK(test::contains(times, "\"8.00 s, 3/3 reached\""));
  // Worker 1: 32 from 0 s, 40 from 4 s to the end at 8 s.
  CHECK(test::contains(read_file(folder.path() / "batches-over-time.gp"),
                       "$batches_1_1 << END_OF_DATA\n# time batch\n0 32\n4 40\n8 40\nEND_OF_DATA"));
}

TEST_CASE("without a learner the last batch is drawn to the end of the run, not to the last adjustment") {
  // No evaluations; the last adjustment at 4 s, the end at 20 s.
  const TemporaryFolder folder;
  const auto run =
      write_run(folder.path() / "run", {.target = std::nullopt,
                                        .curve = "replication,time_s,updates,samples,epoch,loss,accuracy\n",
                                        .end_s = 20.0});
  draw_figures(request_for(run, folder.path() / "figures"));
  const std::string script = read_file(folder.path() / "figures" / "batches-over-time.gp");
  CHECK(test::contains(script, "$batches_1_1 << END_OF_DATA\n# time batch\n0 32\n4 40\n20 40\nEND_OF_DATA"));
  CHECK(test::contains(script, "set xrange [0:20]\n"));
}

TEST_CASE("a traced run has a timeline: one row for each worker, cut when a worker has done 20 iterations") {
  const TemporaryFolder folder;
  const auto run = write_run(folder.path() / "run", {});
  // Worker 0 computes for 1 s, waits for 1 s, 25 times; worker 1 starts for 5 s and is in transfer from then
  // on.
  std::string rows = "replication,worker,activity,begin_s,end_s\n";
  for (int i = 0; i < 25; ++i)
    rows += fmt::format("0,0,compute,{},{}\n0,0,wait,{},{}\n", 2 * i, 2 * i + 1, 2 * i + 1, 2 * i + 2);
  rows += "0,1,start_up,0,5\n0,1,transfer,5,50\n";
  write_file_atomically(run / "activities.csv", rows);
  CHECK(draw_figures(request_for(run, folder.path() / "figures")).size() == 16);
  const std::string script = read_file(folder.path() / "figures" / "worker-timeline.gp");
  // The 20th iteration ends at 2 · 19 + 1 = 39 s.
  CHECK(test::contains(script, "set xrange [0:39]\n"));
  CHECK(test::contains(script, "\n5 39 1\n"));
  CHECK(test::contains(script, "\n38 39 0\n"));
  CHECK_FALSE(test::contains(script, "\n40 41 0\n"));
  // The legend speaks words, not columns of a file.
  CHECK(test::contains(script, "\"start-up\""));
  CHECK_FALSE(test::contains(script, "\"start_up\""));
}

TEST_CASE("recorded outcomes of a variant with an assumed learner go by the name its study gives it") {
  const TemporaryFolder folder;
  const auto study = write_study(folder.path() / "study", {{.name = "BSP"}, {.name = "ASP"}});
  write_file_atomically(study / "variant-8" / "manifest.json",
                        R"({"format": "paceline-results", "version": 1, "name": "ASP",
                            "scenario": {"learner.kind": "assumed"}})");
  PlotRequest request = request_for(study, folder.path() / "figures");
  request.recorded = folder.path() / "recorded.csv";
  write_file_atomically(request.recorded, "variant,final_accuracy,relative_time\nASP,0.625,0.5\n");
  draw_figures(request);
  const std::string script = read_file(folder.path() / "figures" / "outcomes.gp");
  CHECK(test::contains(script, "\"ASP (assumed learner)\""));
  CHECK(test::contains(script, " 62.5\n"));
  request.force = true;
  write_file_atomically(request.recorded, "variant,final_accuracy,relative_time\nSSP,0.625,0.5\n");
  CHECK(test::contains(complaint_about(request), "no variant is called `SSP`"));
}

TEST_CASE("equal results give an equal script") {
  const TemporaryFolder folder;
  const auto run = write_run(folder.path() / "run", {});
  draw_figures(request_for(run, folder.path() / "first"));
  draw_figures(request_for(run, folder.path() / "second"));
  for (const char* name : {"accuracy-over-time.gp", "time-to-accuracy.gp", "batches-over-time.gp"})
    CHECK(read_file(folder.path() / "first" / name) == read_file(folder.path() / "second" / name));
}

TEST_CASE("names from scenario files are shown and never executed") {
  const TemporaryFolder folder;
  const std::string touch = "touch " + (folder.path() / "executed").string();
  std::vector<SyntheticRun> runs;
  for (const std::string& name : {
           "$(" + touch + ") `" + touch + "`",
           "\"; system(\"" + touch + "\"); print \"",
           "\n!" + touch + "\nEND_OF_DATA\nsystem('" + touch + "')\n",
           "'; ! " + touch + "; '\\",
           std::string("@ARG0 _a ^b {/Bold c} %s %d \\n \\"),
       })
    runs.push_back({.name = name});
  PlotRequest request = request_for(write_study(folder.path() / "study", runs), folder.path() / "figures");
  request.command = "paceline plot `" + touch + "` \n!" + touch + "\n\\";
  request.page.title = "<b>&amp;</svg> \\input{/etc/passwd} $x^2$ `" + touch + "`";
  request.page.formats = {Format::pdf, Format::svg, Format::png, Format::tex};
  CHECK(draw_figures(request).size() == 3 * 7);
  CHECK_FALSE(fs::exists(folder.path() / "executed"));
  // Markup is text of the SVG, and commands are text of the TeX.
  const std::string svg = read_file(request.output / "time-to-accuracy.svg");
  CHECK(test::contains(svg, "&amp;amp;&lt;/svg"));
  CHECK_FALSE(test::contains(svg, "<b"));
  CHECK(svg.find("</svg>") == svg.rfind("</svg>"));
  const std::string tex = read_file(request.output / "time-to-accuracy-tex.tex");
  CHECK(test::contains(tex, "$\\backslash$input\\{"));
  CHECK_FALSE(test::contains(tex, "\\input"));
  // Where there is a LaTeX, it sets each figure.
  if (run_process({.words = {"pdflatex", "--version"}}).status != 0) return;
  for (const char* name : {"accuracy-over-time", "time-to-accuracy", "batches-over-time"}) {
    write_file_atomically(request.output / "paper.tex",
                          fmt::format("\\documentclass{{article}}\\usepackage{{graphicx,color}}"
                                      "\\begin{{document}}\\input{{{}-tex}}\\end{{document}}\n",
                                      name));
    const ProcessResult latex =
        run_process({.words = {"pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"},
                     .folder = request.output});
    CAPTURE(latex.output);
    CHECK(latex.status == 0);
  }
}

TEST_CASE("kept iterations become violins, and uneven workers their update rates") {
  // Iterations of 2 s and 4 s in replication 0 (one was never finished, one is of another replication):
  // median 3 s.
  const TemporaryFolder folder;
  const SyntheticRun run{
      .iterations = "replication,worker,start_s,finish_s\n0,0,0,2\n0,1,0,4\n0,1,4,\n1,0,0,9\n",
      .workers = "replication,worker,gradients,gradients_per_s\n0,0,20,2.5\n0,1,10,1.25\n"};
  CHECK(draw_figures(request_for(write_run(folder.path() / "run", run), folder.path() / "figures")).size() ==
        20);
  const std::string violins = read_file(folder.path() / "figures/compute-times.gp");
  CHECK(test::contains(violins, "\"median 3.00 s\""));
  CHECK(test::contains(violins, "\n2.5 3 3.5 "));
  const std::string updates = read_file(folder.path() / "figures/updates-per-worker.gp");
  CHECK(
      test::contains(updates, "$updates_1 << END_OF_DATA\n# worker per_second\n0 2.5\n1 1.25\nEND_OF_DATA"));
}

TEST_CASE("runs that did not reach the target are drawn and counted") {
  const TemporaryFolder folder;
  const SyntheticRun none{
      .name = "none", .reached = 0, .median_s = std::nullopt, .low_s = std::nullopt, .high_s = std::nullopt};
  const SyntheticRun one{.name = "one", .reached = 1, .median_s = std::nullopt, .high_s = std::nullopt};
  const SyntheticRun most{.name = "most", .reached = 2, .high_s = std::nullopt};
  draw_figures(request_for(write_study(folder.path() / "study", {none, one, most}), folder.path()));
  const std::string script = read_file(folder.path() / "time-to-accuracy.gp");
  CHECK(test::contains(script, " 0 ? ? ? "));
  CHECK(test::contains(script, " 0 ? 7 ? "));
  CHECK(test::contains(script, " 0 8 7 ? "));
  CHECK(test::contains(script, "\"0/3 reached\""));
  CHECK(test::contains(script, "\"median not reached, 1/3 reached\""));
  // The axis reaches past the horizon of 8 s: 8 · 1.03.
  CHECK(test::contains(script, "set xrange [0:8.24]\n"));
}

TEST_CASE("figures with nothing to show are left out, with a message, and stale ones go") {
  const TemporaryFolder folder;
  const auto changing = write_run(folder.path() / "changing", {});
  const auto constant =
      write_run(folder.path() / "constant",
                {.target = std::nullopt,
                 .batches = "replication,time_s,updates,worker,batch_samples\n0,0,0,0,32\n0,4,10,0,32\n"});
  draw_figures(request_for(changing, folder.path() / "figures"));
  std::vector<std::string> told;
  PlotRequest request = request_for(constant, folder.path() / "figures");
  request.force = true;
  request.tell = [&](std::string_view message) { told.emplace_back(message); };
  CHECK(draw_figures(request).size() == 4);
  CHECK(entries(folder.path() / "figures") == 4);
  REQUIRE(told.size() == 2);
  CHECK(test::contains(told[0], "no scenario names a target accuracy"));
  CHECK(test::contains(told[1], "no batch ever changes"));
}

TEST_CASE("an existing figure is kept unless told otherwise") {
  const TemporaryFolder folder;
  PlotRequest request = request_for(write_run(folder.path() / "run", {}), folder.path() / "figures");
  fs::create_directories(request.output);
  write_file_atomically(request.output / "time-to-accuracy.pdf", "mine");
  CHECK(test::contains(complaint_about(request), "time-to-accuracy.pdf exists"));
  CHECK(read_file(request.output / "time-to-accuracy.pdf") == "mine");
  CHECK(entries(request.output) == 1);
  request.force = true;
  CHECK(complaint_about(request).empty());
  CHECK(read_file(request.output / "time-to-accuracy.pdf").starts_with("%PDF-"));
}

TEST_CASE("runs of equal name are told apart by their folders") {
  const TemporaryFolder folder;
  PlotRequest request = request_for(write_run(folder.path() / "one", {}), folder.path() / "figures");
  request.folders.push_back(write_run(folder.path() / "two", {}));
  draw_figures(request);
  const std::string script = read_file(request.output / "batches-over-time.gp");
  CHECK(test::contains(script, "\"BSP (one)\""));
  CHECK(test::contains(script, "\"BSP (two)\""));
}

TEST_CASE("figures asked for by name are drawn alone, and leave the others as they are") {
  const TemporaryFolder folder;
  PlotRequest request = request_for(write_run(folder.path() / "run", {}), folder.path() / "figures");
  draw_figures(request);
  request.only = {"time-to-accuracy"};
  request.force = true;
  CHECK(draw_figures(request).size() == 4);
  CHECK(entries(request.output) == 12);
  request.only = {"time-to-acuracy", "worker-timeline"};
  const std::string complaint = complaint_about(request);
  CHECK(test::contains(complaint, "there is no figure `time-to-acuracy`"));
  CHECK(test::contains(complaint, "did you mean `time-to-accuracy`?"));
  CHECK(test::contains(complaint, "nothing to draw as worker-timeline: no run was traced"));
}

TEST_CASE("an anonymous figure names neither command nor folder, and no figure an absolute path") {
  const TemporaryFolder folder;
  PlotRequest request = request_for(write_run(folder.path() / "run", {}), folder.path() / "figures");
  request.command = "paceline plot " + (folder.path() / "run").string();
  request.force = true;
  for (const bool is_anonymous : {false, true}) {
    request.page.is_anonymous = is_anonymous;
    for (const fs::path& path : draw_figures(request)) {
      if (path.extension() != ".gp" && path.extension() != ".txt") continue;
      const std::string content = read_file(path);
      CHECK_FALSE(test::contains(content, folder.path().string()));
      CHECK(test::contains(content, "paceline plot run") == !is_anonymous);
    }
  }
}

TEST_CASE("a policy has one colour in every figure, also where others are left out") {
  // A has no target, so that B stands first among the times: with the second colour all the same.
  const TemporaryFolder folder;
  draw_figures(request_for(
      write_study(folder.path() / "study", {{.name = "A", .target = std::nullopt}, {.name = "B"}}),
      folder.path()));
  const std::string times = read_file(folder.path() / "time-to-accuracy.gp");
  CHECK(test::contains(times, series_ink(1).colour));
  CHECK_FALSE(test::contains(times, series_ink(0).colour));
}

TEST_CASE("a policy whose runs diverged says so instead of a time, with a cross") {
  const TemporaryFolder folder;
  const SyntheticRun diverged{.name = "fast",
                              .reached = 0,
                              .median_s = std::nullopt,
                              .low_s = std::nullopt,
                              .high_s = std::nullopt,
                              .diverged = 2};
  draw_figures(request_for(write_study(folder.path() / "study", {{.name = "A"}, diverged}), folder.path()));
  const std::string times = read_file(folder.path() / "time-to-accuracy.gp");
  CHECK(test::contains(times, "\"diverged 2/3, 0/3 reached\""));
  CHECK(test::contains(times, "pointtype 2 "));
  CHECK(test::contains(read_file(folder.path() / "accuracy-over-time.gp"), "\"fast (diverged: 2 of 3)\""));
}

TEST_CASE("attribution is stacked: the mean over workers, one activity after the other") {
  // Computing 60 and 80 %: from 0 to 70; the rest is waiting.
  const TemporaryFolder folder;
  const auto run = write_run(folder.path() / "run", {});
  write_file_atomically(
      run / "attribution.csv",
      "replication,worker,compute_s,compute_percent,wait_percent\n0,0,1,60,40\n0,1,1,80,20\n");
  PlotRequest request = request_for(run, folder.path() / "figures");
  request.only = {"attribution"};
  CHECK(draw_figures(request).size() == 4);
  const std::string script = read_file(request.output / "attribution.gp");
  CHECK(test::contains(script, "# from to place\n0 70 "));
  CHECK(test::contains(script, "# from to place\n70 100 "));
}

TEST_CASE("an output that is a file, and no folders at all, are refused") {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "");
  CHECK(test::contains(
      complaint_about(request_for(write_run(folder.path() / "run", {}), folder.path() / "file")),
      "cannot create the folder"));
  PlotRequest nothing = request_for("", folder.path() / "figures");
  nothing.folders.clear();
  CHECK(test::contains(complaint_about(nothing), "nothing to plot"));
}

TEST_CASE("gnuplot's own words reach the user when it fails") {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "wrong.gp", "no such command\n");
  CHECK_THROWS_WITH_AS(run_gnuplot(folder.path(), "wrong.gp"), doctest::Contains("invalid command"),
                       UserError);
}

TEST_CASE("without gnuplot the message names the package, and nothing is written") {
  const TemporaryFolder folder;
  const auto run = write_run(folder.path() / "run", {});
  // Each case runs in a process of its own, so the changed PATH is seen by no other.
  setenv("PATH", folder.path().c_str(), 1);
  CHECK(test::contains(complaint_about(request_for(run, folder.path() / "figures")), "gnuplot-nox"));
  CHECK(entries(folder.path() / "figures") == 0);
}

}  // namespace
}  // namespace paceline::plots
