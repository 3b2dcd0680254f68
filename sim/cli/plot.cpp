// plot: figures of results folders, studies and profiles.
#include <list>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/draw.hpp"
#include "plots/page/page_words.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/unfinished.hpp"

namespace paceline {
namespace {

struct PlotArguments {
  std::vector<std::string> folders;
  std::vector<std::string> only;
  plots::PageWords page;
  std::string recorded;  // CSV file; empty: none
  std::string output = "figures";
  bool force = false;
  bool json = false;
};

constexpr const char* plot_examples = R"(Examples:
  paceline plot results/mine -o figures                     everything there is to see
  paceline plot results/mine --only time-to-accuracy --style acm --format pdf,tex -o paper
Each figure comes with NAME.txt, its caption, and NAME.gp: `gnuplot NAME.gp` draws it again. For TeX,
\input{NAME-tex} (with NAME-tex.pdf beside it; needs graphicx and color).)";

int plot_command(const PlotArguments& arguments) {
  plots::PlotRequest request{.folders = {},
                             .output = arguments.output,
                             .force = arguments.force,
                             .command = "paceline plot",
                             .only = arguments.only,
                             .recorded = arguments.recorded,
                             .page = plots::page_options(arguments.page)};
  std::list<DrawableFolder> drawable;
  for (const std::string& folder : arguments.folders) {
    const DrawableFolder& place = drawable.emplace_back(folder);
    request.folders.push_back(place.path());
    if (!place.missing().empty()) {
      request.missing += fmt::format("{}{}", request.missing.empty() ? "" : ", ", place.missing());
      fmt::print(stderr, "warning: {}: {}\n", folder, place.missing());
    }
    request.command += fmt::format(" {}", shell_quoted(folder));
  }
  if (!arguments.recorded.empty())
    request.command += fmt::format(" --recorded {}", shell_quoted(arguments.recorded));
  auto paths = nlohmann::json::array();
  for (const std::filesystem::path& path : plots::draw_figures(request)) {
    paths.push_back(path.string());
    if (!arguments.json) fmt::print("{}\n", path.string());
  }
  if (arguments.json) fmt::print("{}\n", paths.dump(2));
  return exit_done;
}

}  // namespace

void add_plot(CLI::App& app, CommandAction& action) {
  auto [plot, arguments] = add_command<PlotArguments>(
      app, "plot", "draw figures from results folders, a study, or a profile", plot_command, action);
  plot.footer(plot_examples);
  plot.add_option("DIR", arguments.folders,
                  "results folders, study folders, or one profile, learner or validation.csv")
      ->required();
  add_path(plot, "-o,--output", arguments.output, "folder of the figures", "DIR");
  add_path(plot, "--recorded", arguments.recorded,
           "CSV file of recorded outcomes (variant,final_accuracy,relative_time), drawn as circles", "FILE");
  add_list(plot, "--only", arguments.only, "draw this figure alone, e.g. time-to-accuracy (repeatable)",
           "NAME");
  plots::PageWords& page = arguments.page;
  plot.add_option("--style", page.style, "a column of an acm or ieee paper: width, font and size, no footer");
  plot.add_option("--width", page.width, "of the figure, as 3.33in (default), 7in or 85mm")
      ->type_name("LENGTH");
  plot.add_option("--size", page.size, "of the text (default: 8pt); none of it is below 7pt")
      ->type_name("LENGTH");
  plot.add_option("--font", page.font, "family (default: Liberation Sans); TeX uses the paper's")
      ->type_name("NAME");
  plot.add_option("--format", page.format, "some of pdf,svg,png,tex (default: pdf,png)")->type_name("LIST");
  plot.add_option("--title", page.title, "above the figure");
  plot.add_flag("--no-footer", page.no_footer, "leave out note and command; NAME.txt has them");
  plot.add_flag("--anonymous", page.anonymous, "name neither command nor machine, in no file");
  plot.add_flag("--force", arguments.force, "replace figures that are already there");
  plot.add_flag("--json", arguments.json, "print the paths for machines");
}

}  // namespace paceline
