#include "plots/draw.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <stdlib.h>

#include "plots/data/results.hpp"
#include "plots/figures.hpp"
#include "plots/figures/profile_figure.hpp"
#include "plots/figures/study_figure.hpp"
#include "plots/page/gnuplot.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

namespace fs = std::filesystem;

// A new folder for half-made figures, on the file system of the finished ones; gone with its owner.
class Workshop {
 public:
  explicit Workshop(const fs::path& parent) {
    std::string name = (parent / ".paceline-plot-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw UserError(fmt::format("cannot write to {}: {}", parent.string(), std::strerror(errno)),
                      "name a folder you may write to");
    path_ = name;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<PlottedRun> read_all(const std::vector<fs::path>& folders) {
  if (folders.empty()) throw UserError("nothing to plot", "name a results folder or a study folder");
  std::vector<PlottedRun> runs;
  for (const fs::path& folder : folders) std::ranges::move(read_results(folder), std::back_inserter(runs));
  // The same scenario drawn from two folders: the folder tells them apart.
  std::map<std::string, int> uses;
  for (const PlottedRun& run : runs) ++uses[run.name];
  for (PlottedRun& run : runs) {
    if (uses[run.name] > 1) run.name += fmt::format(" ({})", run.folder.lexically_normal().string());
  }
  return runs;
}

// What a study asks to be drawn of its runs.
std::vector<Figure> study_figures(const PlotRequest& request) {
  std::vector<Figure> figures;
  for (const fs::path& folder : request.folders)
    for (const StudyFigureSpec& spec : study_figure_specs(folder)) {
      std::optional<Figure> figure = study_figure(read_study_chart(folder, spec), request.command);
      if (!figure) continue;
      if (std::ranges::count(figures, figure->name, &Figure::name) > 0)
        throw UserError(fmt::format("two figures have the name `{}`", figure->name),
                        "draw the studies one by one");
      figures.push_back(std::move(*figure));
    }
  return figures;
}

// By the names of the figures; the file names variants as their study does.
RecordedOutcomes recorded_outcomes(const std::vector<PlottedRun>& runs, const PlotRequest& request) {
  RecordedOutcomes drawn;
  if (request.recorded.empty()) return drawn;
  for (const auto& [name, outcome] : read_recorded_outcomes(request.recorded)) {
    const std::string& called = name;
    const auto run = std::ranges::find_if(runs, [&](const PlottedRun& one) {
      return one.name == called || one.name == with_assumed_learner(called);
    });
    if (run == runs.end())
      throw UserError(fmt::format("{}: no variant is called `{}`", request.recorded.string(), name),
                      "its first column names variants as the study does");
    drawn.emplace(run->name, outcome);
  }
  return drawn;
}

std::vector<Figure> figures_of(const std::vector<PlottedRun>& runs, const PlotRequest& request) {
  std::vector<Figure> figures = study_figures(request);
  if (runs.empty() && figures.empty())
    throw UserError(fmt::format("{} holds no results", request.folders.front().string()), "");
  if (runs.empty()) return figures;
  const auto tell = [&](const char* message) {
    if (request.tell) {
      request.tell(message);
    } else {
      fmt::print(stderr, "{}\n", message);
    }
  };
  if (auto figure = accuracy_figure(runs, request.command)) {
    figures.push_back(std::move(*figure));
  } else {
    tell("no accuracy-over-time figure: no scenario learns");
  }
  if (auto figure = time_to_accuracy_figure(runs, request.command)) {
    figures.push_back(std::move(*figure));
  } else {
    tell("no time-to-accuracy figure: no scenario names a target accuracy");
  }
  if (auto figure = batch_figure(runs, request.command)) {
    figures.push_back(std::move(*figure));
  } else {
    tell("no batches-over-time figure: no batch ever changes");
  }
  if (auto figure = outcome_figure(runs, recorded_outcomes(runs, request), request.command))
    figures.push_back(std::move(*figure));
  // Most runs are not traced: that needs no message.
  if (auto figure = timeline_figure(runs, request.command)) figures.push_back(std::move(*figure));
  if (auto figure = compute_time_figure(runs, request.command)) figures.push_back(std::move(*figure));
  if (auto figure = update_density_figure(runs, request.command)) figures.push_back(std::move(*figure));
  return figures;
}

std::vector<std::string> files_of(std::string_view figure) {
  return {fmt::format("{}.pdf", figure), fmt::format("{}.png", figure), fmt::format("{}.gp", figure)};
}

void prepare_output(const PlotRequest& request, const std::vector<Figure>& figures) {
  std::error_code failure;
  fs::create_directories(request.output, failure);
  if (!fs::is_directory(request.output))
    throw UserError(fmt::format("cannot create the folder {}: {}", request.output.string(),
                                failure ? failure.message() : "a file has that name"),
                    "name another folder with -o");
  if (request.force) return;
  for (const Figure& figure : figures) {
    for (const std::string& file : files_of(figure.name)) {
      if (fs::exists(fs::symlink_status(request.output / file)))
        throw UserError(fmt::format("{} exists", (request.output / file).string()),
                        "--force replaces it; or name another folder with -o");
    }
  }
}

// A figure of earlier results that these have nothing to show for must not stay beside the new ones.
void remove_stale(const fs::path& output, const std::vector<Figure>& figures) {
  for (const std::string_view name : figure_names) {
    if (std::ranges::count(figures, name, &Figure::name) > 0) continue;
    for (const std::string& file : files_of(name)) {
      std::error_code ignored;
      fs::remove(output / file, ignored);
    }
  }
}

// gnuplot can end in peace without having drawn, e.g. on a full disk.
void expect_drawn(const fs::path& file, std::string_view magic) {
  if (!fs::exists(file) || !read_file(file).starts_with(magic))
    throw UserError(fmt::format("gnuplot did not draw {}", file.filename().string()),
                    "check that the disk has space left");
}

// A file is a profile, a folder holds results.
bool is_profile(const PlotRequest& request) {
  const auto files =
      std::ranges::count_if(request.folders, [](const fs::path& path) { return fs::is_regular_file(path); });
  if (files == 0) return false;
  if (request.folders.size() > 1)
    throw UserError("a profile is drawn by itself", "name one profile, or results folders only");
  return true;
}

}  // namespace

std::vector<fs::path> draw_figures(const PlotRequest& request) {
  const bool of_profile = is_profile(request);
  const std::vector<Figure> figures =
      of_profile ? std::vector<Figure>{profile_figure(request.folders.front(), request.command)}
                 : figures_of(read_all(request.folders), request);
  if (figures.empty())
    throw UserError("there is nothing to draw: no scenario learns, and no batch ever changes",
                    "the throughputs are in comparison.csv and summary.csv");
  prepare_output(request, figures);

  const Workshop workshop(request.output);
  for (const Figure& figure : figures) {
    write_file_atomically(workshop.path() / (figure.name + ".gp"), figure.script);
    run_gnuplot(workshop.path(), figure.name + ".gp");
    expect_drawn(workshop.path() / (figure.name + ".pdf"), "%PDF-");
    expect_drawn(workshop.path() / (figure.name + ".png"), "\x89PNG\r\n\x1a\n");
  }
  std::vector<fs::path> paths;
  for (const Figure& figure : figures) {
    for (const std::string& file : files_of(figure.name)) {
      std::error_code failure;
      fs::rename(workshop.path() / file, request.output / file, failure);
      if (failure)
        throw UserError(
            fmt::format("cannot write {}: {}", (request.output / file).string(), failure.message()), "");
      paths.push_back(request.output / file);
    }
  }
  if (request.force && !of_profile) remove_stale(request.output, figures);
  return paths;
}

}  // namespace paceline::plots
