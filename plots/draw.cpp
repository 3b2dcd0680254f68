#include "plots/draw.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

namespace fs = std::filesystem;

struct RunFigure {
  std::string_view name;  // of its files
  std::optional<Figure> (*show)(const ShownRuns& shown);
  std::string_view why_missing;
  bool is_usual = false;       // to have none is worth a message
  bool is_on_request = false;  // drawn only by --only
};

constexpr std::array<RunFigure, 12> run_figures{
    {{"accuracy-over-time", accuracy_figure, "no scenario learns", true},
     {"accuracy-over-samples", accuracy_over_samples_figure, "no scenario learns", false, true},
     {"loss-over-time", loss_figure, "no run has a loss", false, true},
     {"loss-over-samples", loss_over_samples_figure, "no run has a loss", false, true},
     {"time-to-accuracy", time_to_accuracy_figure, "no scenario names a target accuracy", true},
     {"batches-over-time", batch_figure, "no batch ever changes", true},
     {"outcomes", outcome_figure, "they are of several policies, of jobs without a target"},
     {"worker-timeline", timeline_figure, "no run was traced (--trace)"},
     {"compute-times", compute_time_figure, "no run kept its iterations (--iterations)"},
     {"updates-per-worker", update_density_figure, "every worker contributed the same"},
     {"staleness", staleness_figure, "no gradient was stale"},
     {"attribution", attribution_figure, "the results do not say what time went into"}}};
// Of one study's folder.
struct WholeStudyFigure {
  std::string_view name;
  std::optional<Figure> (*show)(const fs::path& folder, const PageOptions& page);
  std::string_view why_missing;
};
constexpr std::array<WholeStudyFigure, 3> whole_study_figures{
    {{"pareto", [](const fs::path& folder, const PageOptions&) { return pareto_figure(folder); },
      "it is of a study of three combinations or more"},
     {"time-map", [](const fs::path& folder, const PageOptions&) { return time_map_figure(folder); },
      "it is of a study that varies two names or more"},
     {"tornado", tornado_figure, "it is of a study that varies two names or more"}}};
constexpr auto all_of_the_study = "study";
constexpr auto caption_ending = ".txt";

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
  if (folders.size() > 1)
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].series = {i, 0};
  // The same scenario drawn from two folders: the folder tells them apart, from where they part.
  std::map<std::string, std::vector<PlottedRun*>> namesakes;
  for (PlottedRun& run : runs) namesakes[run.name].push_back(&run);
  for (const auto& [name, twins] : namesakes) {
    if (twins.size() < 2) continue;
    fs::path common = fs::absolute(twins.front()->folder).lexically_normal();
    const auto holds_all = [&] {
      return std::ranges::all_of(twins, [&](const PlottedRun* run) {
        const fs::path there = fs::absolute(run->folder).lexically_normal().lexically_relative(common);
        return there != "." && *there.begin() != "..";
      });
    };
    while (common != common.root_path() && !holds_all()) common = common.parent_path();
    for (PlottedRun* run : twins) {
      const fs::path there = fs::absolute(run->folder).lexically_normal().lexically_relative(common);
      run->name += fmt::format(" ({})", there.string());
    }
  }
  return runs;
}

bool is_asked_for(std::string_view name, const PlotRequest& request) {
  return request.only.empty() || std::ranges::count(request.only, name) > 0;
}

// What a study asks to be drawn of its runs.
std::vector<Figure> study_figures(const PlotRequest& request) {
  std::vector<Figure> figures;
  for (const fs::path& folder : request.folders)
    for (const StudyFigureSpec& spec : study_figure_specs(folder)) {
      std::optional<Figure> figure = study_figure(read_study_chart(folder, spec));
      if (!figure || !(is_asked_for(all_of_the_study, request) || is_asked_for(figure->name, request)))
        continue;
      if (std::ranges::count(figures, figure->name, &Figure::name) > 0)
        throw UserError(fmt::format("two figures have the name `{}`", figure->name),
                        "draw the studies one by one");
      figures.push_back(std::move(*figure));
    }
  if (request.folders.size() > 1) return figures;
  const auto is_taken = [&](std::string_view name) {
    return std::ranges::count(figures, name, &Figure::name) > 0;
  };
  for (const WholeStudyFigure& kind : whole_study_figures)
    if (is_asked_for(kind.name, request) && !is_taken(kind.name))
      if (std::optional<Figure> figure = kind.show(request.folders.front(), request.page))
        figures.push_back(std::move(*figure));
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

// What every figure says of the results behind it: how far they leave what was fitted, and what is missing.
std::string common_note(const std::vector<PlottedRun>& runs, const PlotRequest& request) {
  std::vector<std::string> beyond;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& each : more)
      if (std::ranges::count(beyond, each) == 0) beyond.push_back(each);
  };
  for (const PlottedRun& run : runs) add(run.beyond_fit);
  for (const fs::path& folder : request.folders) add(quantities_beyond_fit(folder));
  // Of a quantity that is near in some jobs and outside in others the worse word is enough.
  const std::vector<std::string> all = beyond;
  std::erase_if(beyond, [&](const std::string& each) {
    constexpr std::string_view near = " near";
    return each.ends_with(near) &&
           std::ranges::count(all, each.substr(0, each.size() - near.size()) + " outside") > 0;
  });
  std::string note =
      beyond.empty() ? "" : fmt::format("; beyond what was fitted or assumed: {}", fmt::join(beyond, ", "));
  if (!request.missing.empty()) note += "; " + request.missing;
  return note;
}

std::vector<Figure> shown_figures(const std::vector<PlottedRun>& runs, const PlotRequest& request) {
  std::vector<Figure> figures = study_figures(request);
  if (runs.empty() && !request.recorded.empty())
    throw UserError("--recorded: there are no results of single variants to stand beside it",
                    "`paceline study --folders` keeps them");
  if (runs.empty()) return figures;
  const ShownRuns shown{runs, recorded_outcomes(runs, request), request.page};
  for (const RunFigure& kind : run_figures) {
    // A study's own figure of the same name stands for it.
    if (!is_asked_for(kind.name, request) || (kind.is_on_request && request.only.empty()) ||
        std::ranges::count(figures, kind.name, &Figure::name) > 0)
      continue;
    if (std::optional<Figure> figure = kind.show(shown)) {
      figure->name = kind.name;
      figures.push_back(std::move(*figure));
    } else if (kind.is_usual && request.only.empty()) {
      request.tell(fmt::format("no {} figure: {}", kind.name, kind.why_missing));
    }
  }
  return figures;
}

std::vector<Figure> figures_of(const std::vector<PlottedRun>& runs, const PlotRequest& request) {
  std::vector<Figure> figures = shown_figures(runs, request);
  const std::string note = common_note(runs, request);
  for (Figure& figure : figures)
    figure.note += figure.note.empty() ? note.substr(std::min<std::size_t>(note.size(), 2)) : note;
  return figures;
}

// Each figure that was asked for by name must be there.
void refuse_missing(const std::vector<Figure>& figures, const PlotRequest& request) {
  std::vector<std::string> known;
  for (const RunFigure& kind : run_figures) known.emplace_back(kind.name);
  for (const WholeStudyFigure& kind : whole_study_figures) known.emplace_back(kind.name);
  known.emplace_back(all_of_the_study);
  for (const Figure& figure : figures) known.push_back(figure.name);
  std::string mistakes;
  for (const std::string& name : request.only) {
    const auto kind = std::ranges::find(run_figures, name, &RunFigure::name);
    const bool is_drawn = std::ranges::count(figures, name, &Figure::name) > 0;
    if (is_drawn || (name == all_of_the_study && !figures.empty())) continue;
    if (kind != run_figures.end()) {
      mistakes +=
          UserError(fmt::format("--only: there is nothing to draw as {}: {}", name, kind->why_missing), "")
              .what();
      continue;
    }
    const auto of_study = std::ranges::find(whole_study_figures, name, &WholeStudyFigure::name);
    if (of_study != whole_study_figures.end()) {
      mistakes +=
          UserError(fmt::format("--only: there is nothing to draw as {}: {}", name, of_study->why_missing),
                    "")
              .what();
      continue;
    }
    const std::optional<std::string> meant = closest(name, known);
    mistakes += UserError(fmt::format("--only: there is no figure `{}`", name),
                          meant ? fmt::format("did you mean `{}`?", *meant)
                                : fmt::format("one of {}, or the name of a figure of the study",
                                              fmt::join(known, ", ")))
                    .what();
  }
  if (!mistakes.empty()) throw UserError(mistakes);
}

// The files of these figures, in the order drawn.
std::vector<std::string> files_of(const std::vector<std::string>& figures, const PageOptions& page) {
  std::vector<std::string> files;
  for (const std::string& figure : figures) {
    std::ranges::move(files_of(figure, page), std::back_inserter(files));
    files.push_back(figure + caption_ending);
  }
  return files;
}

void prepare_output(const PlotRequest& request, const std::vector<std::string>& files) {
  std::error_code failure;
  fs::create_directories(request.output, failure);
  if (!fs::is_directory(request.output))
    throw UserError(fmt::format("cannot create the folder {}: {}", request.output.string(),
                                failure ? failure.message() : "a file has that name"),
                    "name another folder with -o");
  if (request.force) return;
  for (const std::string& file : files)
    if (fs::exists(fs::symlink_status(request.output / file)))
      throw UserError(fmt::format("{} exists", (request.output / file).string()),
                      "--force replaces it; or name another folder with -o");
}

// A figure of earlier results that these have nothing to show for must not stay beside the new ones.
void remove_stale(const PlotRequest& request, const std::vector<std::string>& drawn) {
  std::vector<std::string> stale;
  for (const RunFigure& kind : run_figures)
    if (is_asked_for(kind.name, request) && std::ranges::count(drawn, kind.name) == 0)
      stale.emplace_back(kind.name);
  for (const WholeStudyFigure& kind : whole_study_figures)
    if (is_asked_for(kind.name, request) && std::ranges::count(drawn, kind.name) == 0)
      stale.emplace_back(kind.name);
  std::error_code ignored;
  for (const std::string& file : files_of(stale, request.page)) fs::remove(request.output / file, ignored);
}

// A file stands for itself: a profile, or the table of a validation.
std::optional<std::vector<Figure>> figures_of_file(const PlotRequest& request) {
  const auto files =
      std::ranges::count_if(request.folders, [](const fs::path& path) { return fs::is_regular_file(path); });
  if (files == 0) return std::nullopt;
  if (request.folders.size() > 1)
    throw UserError("a file is drawn by itself", "name one profile or table, or results folders only");
  const fs::path& file = request.folders.front();
  if (file.extension() == ".csv") return validation_figures(file);
  if (file.extension() == ".yaml" || file.extension() == ".yml")
    throw UserError(fmt::format("{} is a scenario or a study, not its results", file.string()),
                    "run it first, then name its results folder");
  const nlohmann::json content = nlohmann::json::parse(read_file(file), nullptr, false);
  if (content.is_object() && content.value("format", "") == "paceline-learner")
    return std::vector{learner_figure(file, content)};
  return std::vector{profile_figure(file, request.page)};
}

}  // namespace

void print_to_stderr(std::string_view message) {
  fmt::print(stderr, "{}\n", message);
}

std::vector<SvgFigure> figures_as_svg(PlotRequest request) {
  request.page.formats = {Format::svg};
  const std::vector<PlottedRun> runs = read_all(request.folders);
  const Workshop workshop(fs::temp_directory_path());
  std::vector<SvgFigure> drawn;
  for (const Figure& figure : figures_of(runs, request)) {
    draw_figure(figure, workshop.path(), request.command, request.page);
    drawn.push_back({figure.name, caption_of(figure, "", request.page),
                     read_file(workshop.path() / (figure.name + ending_of(Format::svg)))});
  }
  return drawn;
}

std::vector<fs::path> draw_figures(const PlotRequest& request) {
  std::optional<std::vector<Figure>> of_file = figures_of_file(request);
  if (of_file && of_file->size() > 1)
    std::erase_if(*of_file, [&](const Figure& figure) { return !is_asked_for(figure.name, request); });
  const std::vector<PlottedRun> runs = of_file ? std::vector<PlottedRun>{} : read_all(request.folders);
  const std::vector<Figure> figures = of_file ? *of_file : figures_of(runs, request);
  if (figures.empty() && runs.empty())
    throw UserError(fmt::format("{} holds no results", request.folders.front().string()), "");
  refuse_missing(figures, request);
  if (figures.empty())
    throw UserError("there is nothing to draw: no scenario learns, and no batch ever changes",
                    "the throughputs are in comparison.csv and summary.csv");
  std::vector<std::string> names;
  for (const Figure& figure : figures) names.push_back(figure.name);
  const std::vector<std::string> files = files_of(names, request.page);
  prepare_output(request, files);

  const Workshop workshop(request.output);
  for (const Figure& figure : figures) {
    draw_figure(figure, workshop.path(), request.command, request.page);
    write_file_atomically(workshop.path() / (figure.name + caption_ending),
                          caption_of(figure, request.command, request.page));
  }
  std::vector<fs::path> paths;
  for (const std::string& file : files) {
    std::error_code failure;
    paths.push_back(request.output / file);
    fs::rename(workshop.path() / file, paths.back(), failure);
    if (failure)
      throw UserError(fmt::format("cannot write {}: {}", paths.back().string(), failure.message()), "");
  }
  if (request.force && !of_file) remove_stale(request, names);
  return paths;
}

}  // namespace paceline::plots
