// `paceline calibrate show PROFILE`: fits, errors, range.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/fit/report.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

int show_command(const std::vector<std::string>& arguments) {
  std::string path;
  bool json = false;
  CLI::App app("Prints what a profile holds: fits, their errors, the range they may be used in.",
               "paceline calibrate show");
  app.add_option("PROFILE", path, "A file written by `paceline calibrate`")->required();
  app.add_flag("--json", json, "Print for machines");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return exit_done;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "`paceline calibrate show --help`");
  }
  const MeasuredProfile measured = read_measured_profile(path);
  fmt::print("{}", json ? profile_report_json(measured) : profile_report(measured));
  return exit_done;
}

}  // namespace paceline::calibrate
