// Options of the commands that measure a profile, show it and check it.
#include <algorithm>
#include <filesystem>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "calibrate/cli/option_kinds.hpp"
#include "calibrate/cli/options.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* data_kinds =
    "built-in-images, built-in-text, cifar10:FOLDER, cifar100:FOLDER or mnist:FOLDER";

// "cifar10:/data/cifar" or "built-in-images"
DataChoice parse_data(const std::string& text) {
  const std::size_t colon = text.find(':');
  DataChoice data{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  if ((data.kind == "built-in-images" || data.kind == "built-in-text") && data.path.empty()) return data;
  const std::vector<std::string> in_folders = {"cifar10", "cifar100", "mnist"};
  if (std::ranges::find(in_folders, data.kind) == in_folders.end())
    throw UserError(fmt::format("--data: there is no data set `{}`", text),
                    fmt::format("write {}", data_kinds));
  std::error_code ignored;
  if (!std::filesystem::is_directory(data.path, ignored))
    throw UserError(fmt::format("--data: there is no folder `{}`", data.path),
                    fmt::format("write --data {}:FOLDER with the folder of its files", data.kind));
  return data;
}

std::string networks_and_examples() {
  return "Networks:\n" + networks("  ") +
         "\nExamples:\n"
         "  paceline calibrate small-cnn\n"
         "  paceline calibrate resnet20 --cores 1,2,4 --batches 16,32,64,128 -o resnet20.json\n"
         "  paceline calibrate mlp --quick --force -o mlp.json\n"
         "  paceline calibrate resnet50 --budget '10 min' --memory '8 GB'\n"
         "  paceline calibrate mine.pt --input 3,32,32 --classes 10\n"
         "\n"
         "Other commands: paceline calibrate show | check | from-log | network | server | collective | own, "
         "each with --help.\n"
         "An interrupted calibration goes on when the same command is given again.\n"
         "Run it on an otherwise idle machine of the kind to be simulated. A scenario names the file under\n"
         "job.profile. Exit codes: 0 done, 1 measuring failed, 2 wrong arguments, 3 a check did not hold.";
}

}  // namespace

std::string networks(std::string_view indent) {
  std::string text;
  for (const kernels::NetworkSummary& network : kernels::list_networks())
    text += fmt::format("{}{:<15} {}\n", indent, network.name, network.description);
  return text;
}

void declare(CLI::App& app, CalibrateArguments& arguments) {
  app.description("Measures how fast this machine trains a network and writes a profile for simulations.");
  app.add_option("NETWORK", arguments.network,
                 "Network to measure (listed below), or a TorchScript file of your own (MODEL.pt)")
      ->required();
  app.add_option("-o,--output", arguments.output, "Profile to write (default: NETWORK-CPU.json)")
      ->type_name("FILE");
  add_list(app, "--batches", arguments.batches,
           "Batch sizes, at least 3 (default: as many of 4,8,...,256 as fit)");
  add_list(app, "--cores", arguments.cores, "Core counts (default: 1,2,4,... up to the physical cores)");
  CLI::Option* const processes =
      add_count(app, "--processes", arguments.processes, 1, 1000,
                "Measuring processes for each core count, exactly so many (default: 3, and more until every "
                "interval is within 2 % or the budget is spent)");
  add_time(app, "--time-per-point", arguments.seconds_per_point,
           "Shortest measurement of each batch in each process, e.g. \"0.3 s\" (the default); at least "
           "10 iterations in any case");
  CLI::Option* const quick = app.add_flag(
      "--quick", arguments.quick, "Rougher and faster: batches 8,32,128, 3 processes, 0.1 s, 5 iterations");
  add_time(app, "--budget", arguments.budget_s, "Time to measure in, e.g. \"5 min\" (the default)")
      ->excludes(processes, quick);
  const std::map<std::string, double> byte_units = {{"MB", 1e6}, {"GB", 1e9}};
  app.add_option("--memory", arguments.memory_bytes,
                 "Memory to stay within, e.g. \"4 GB\" (default: 80 % of what is available)")
      ->transform(CLI::AsNumberWithUnit(byte_units, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(above_zero)
      ->type_name("SIZE");
  add_list(app, "--input", arguments.input_shape,
           "One sample's shape of a TorchScript file, e.g. 3,32,32, or 64 tokens")
      ->type_name("SHAPE");
  add_count(app, "--classes", arguments.classes, 2, 10000000,
            "Classes, or vocabulary (default: a listed network's own)");
  app.add_option_function<std::string>(
         "--data", [&](const std::string& text) { arguments.data = parse_data(text); },
         std::string("Also measure how long batches of this data set take to load: ") + data_kinds)
      ->type_name("KIND:FOLDER");
  app.add_flag("--restart", arguments.restart, "Forget what an interrupted calibration has measured");
  app.add_flag("--force", arguments.force, "Replace an existing profile");
  add_json(app, arguments.json);
  app.get_formatter()->column_width(32);
  app.footer(networks_and_examples());
}

void declare(CLI::App& app, ShowArguments& arguments) {
  app.description("Prints what a profile holds: fits, their errors, the range they may be used in.");
  add_profile(app, arguments.profile);
  add_json(app, arguments.json);
}

void declare(CLI::App& app, CheckArguments& arguments) {
  app.description(
      "Measures batches that a profile's fits have never seen, and says whether the profile holds here: mean "
      "error at most 5 %, 95 % of the errors at most 10 %. Exit code 3 where it does not.");
  add_profile(app, arguments.profile);
  add_count(app, "--processes", arguments.processes, 1, 1000,
            "Fewest measuring processes for each core count")
      ->capture_default_str();
  add_time(app, "--budget", arguments.budget_s,
           "More processes are measured until every mean is known to ± 2 %, or for so long (default: 1 min)");
  add_json(app, arguments.json);
}

}  // namespace paceline::calibrate
