// Reads the command line and carries out the command it names; each is in a file of this folder.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/message_colour.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/usage_mistake.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/report/output/build_info.hpp"

namespace paceline {
namespace {

constexpr const char* description =
    "Predicts how long distributed training takes to reach an accuracy on an uneven cluster, and which way "
    "of\n"
    "synchronizing and batching gets there first.";

constexpr const char* examples = R"(Examples:
  paceline init                                            a first scenario, with comments
  paceline calibrate small-cnn -o profile.json             measure this machine
  paceline check scenario.yaml                             every value and where it comes from
  paceline run scenario.yaml --set batching.controller=dynamic
  paceline study scenarios/quickstart/study.yaml --set job.profile=profile.json -o results/mine
  paceline compare results/mine                            which is best, and how sure that is
  paceline plot results/mine -o figures
  paceline table results/mine --format latex
  paceline report results/mine -o mine.html

Exit codes: 0 done, 1 a simulation failed, 2 a mistake in the arguments or in a file, 3 an expectation of the
scenario (`expect`) did not hold.)";

int dispatch(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "calibrate") exec_calibrate(argv + 1);
  CLI::App app{description, "paceline"};
  app.footer(examples);
  const BuildInfo& build = build_info();
  app.set_version_flag("--version",
                       fmt::format("paceline {} (commit {})\nSimGrid {}\nLibTorch {}\n{}", build.version,
                                   build.commit, simgrid_version(), build.libtorch, build.compiler));
  app.require_subcommand(1);
  CommandAction action;
  for (const auto add : {add_run, add_live, add_study, add_compare, add_search, add_check, add_table,
                         add_plot, add_report, add_timing, add_fit, add_predict, add_validate, add_init,
                         add_list_command, add_schema, add_reference})
    add(app, action);
  add_calibrate(app);
  add_completion(app, action);
  add_help(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw usage_mistake(app, error);
    app.exit(error);  // help and version
    return exit_done;
  }
  return action();
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  // So that lines of both outputs, sent to one file, stand in the order in which they were written.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    paceline::catch_interrupts();
    const int status = paceline::dispatch(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "error: the output could not be written: {}\n", std::strerror(errno));
    return paceline::exit_simulation_failed;
  } catch (const paceline::Interrupted& interrupt) {
    fmt::print(stderr, "{}\n", interrupt.what());
    return paceline::exit_signal_base + interrupt.signal_number();
  } catch (const paceline::UserError& error) {
    paceline::print_messages(error.what());
    return paceline::exit_user_error;
  } catch (const std::bad_alloc&) {
    paceline::print_messages("error: not enough memory\n");
    return paceline::exit_simulation_failed;
  } catch (const std::exception& error) {
    paceline::print_messages(fmt::format("error: {}\n", error.what()));
    return paceline::exit_simulation_failed;
  }
}
