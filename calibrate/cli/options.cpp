#include "calibrate/cli/options.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "calibrate/cli/time_option.hpp"
#include "calibrate/measure/data_option.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* help_hint = "`paceline calibrate --help` lists the options";
const std::vector<std::int64_t> quick_batches = {8, 32, 128};
constexpr int default_processes = 3;  // the fewest that tell runs apart; more follow while there is time
constexpr int quick_processes = 3;
constexpr double default_budget_s = 300.0;
constexpr double default_seconds_per_point = 0.3;
constexpr double quick_seconds_per_point = 0.1;
constexpr int default_minimum_iterations = 10;
constexpr int quick_minimum_iterations = 5;
constexpr std::int64_t largest_batch = 1 << 20;

struct RawOptions {
  std::string network;
  std::optional<std::string> output;
  std::optional<std::string> batches;
  std::optional<std::string> cores;
  std::optional<int> processes;
  std::optional<double> seconds_per_point;
  std::optional<double> budget_s;
  std::optional<double> memory_bytes;
  std::optional<std::string> input;
  std::optional<std::int64_t> classes;
  std::optional<std::string> data;
  bool quick = false;
};

std::int64_t parse_positive(const std::string& text, const std::string& option) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > largest_batch)
    throw UserError(fmt::format("{}: `{}` is not a whole number from 1 to {}", option, text, largest_batch),
                    fmt::format("write a list such as {} 8,16,32", option));
  return value;
}

// "8,16,32" -> ascending numbers without repetitions.
std::vector<std::int64_t> parse_list(const std::string& text, const std::string& option) {
  std::vector<std::int64_t> values;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(parse_positive(text.substr(start, comma - start), option));
    start = comma + 1;
  }
  std::sort(values.begin(), values.end());
  if (std::adjacent_find(values.begin(), values.end()) != values.end())
    throw UserError(fmt::format("{}: a number appears twice in `{}`", option, text), help_hint);
  return values;
}

std::vector<int> core_counts(const std::optional<std::string>& text, const Machine& machine) {
  const int within_quota = cores_within_quota(machine);
  if (!text) return default_core_counts(std::min(machine.physical_cores, within_quota));
  std::vector<int> counts;
  for (const std::int64_t count : parse_list(*text, "--cores")) {
    if (count > machine.logical_cores)
      throw UserError(
          fmt::format("--cores: {} asked for, but this process may use {}", count, machine.logical_cores),
          "a core count can only be measured on a machine that has it");
    if (count > within_quota)
      throw UserError(
          fmt::format("--cores: {} asked for, but this process may use the time of {:g} cores only: "
                      "its pauses would be measured with the work",
                      count, machine.quota->cores),
          fmt::format("measure up to {}; a simulated worker has `quota` for the pauses", within_quota));
    counts.push_back(static_cast<int>(count));
  }
  return counts;
}

// "3,32,32": in the order of the dimensions.
std::vector<std::int64_t> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    shape.push_back(parse_positive(text.substr(start, comma - start), "--input"));
    start = comma + 1;
  }
  return shape;
}

void check_network(const MeasurementPlan& plan) {
  const kernels::NetworkChoice choice{plan.network, plan.input_shape, plan.classes};
  if (!choice.is_file() && (!plan.input_shape.empty() || plan.classes != 0))
    throw UserError("--input and --classes describe a TorchScript file; listed networks know theirs",
                    help_hint);
  static_cast<void>(kernels::network_facts(choice));
}

MeasurementPlan make_plan(const RawOptions& raw, const Machine& machine) {
  MeasurementPlan plan;
  plan.network = raw.network;
  if (raw.input) plan.input_shape = parse_shape(*raw.input);
  plan.classes = raw.classes.value_or(0);
  if (raw.data) plan.data = parse_data_option(*raw.data);
  check_network(plan);
  plan.cores = core_counts(raw.cores, machine);
  if (raw.batches)
    plan.batches = parse_list(*raw.batches, "--batches");
  else if (raw.quick)
    plan.batches = quick_batches;
  if ((raw.batches || raw.quick) && plan.batches.size() < 3)
    throw UserError("--batches: at least 3 are needed: two for a line, one left out to test it",
                    "for example --batches 8,32,128");
  plan.processes = raw.processes.value_or(raw.quick ? quick_processes : default_processes);
  plan.seconds_per_point =
      raw.seconds_per_point.value_or(raw.quick ? quick_seconds_per_point : default_seconds_per_point);
  plan.minimum_iterations = raw.quick ? quick_minimum_iterations : default_minimum_iterations;
  if (!raw.processes && !raw.quick) plan.budget_s = raw.budget_s.value_or(default_budget_s);
  return plan;
}

// "AMD EPYC 9554 64-Core" -> "amd-epyc-9554-64-core"
std::string as_file_name(const std::string& text) {
  std::string name;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 && byte < 128)
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

void check_output(const std::filesystem::path& output, bool force) {
  if (output.empty()) throw UserError("--output: the file's name is empty", help_hint);
  std::error_code status;
  if (std::filesystem::is_directory(output, status))
    throw UserError(fmt::format("cannot write {}: it is a folder", output.string()),
                    "name a file with --output");
  if (std::filesystem::exists(output, status) && !force)
    throw UserError(fmt::format("{} exists", output.string()),
                    "choose another file with --output, or replace it with --force");
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw UserError(
        fmt::format("cannot write {}: folder {}: {}", output.string(), folder.string(), std::strerror(errno)),
        "create the folder first, or choose another file with --output");
}

std::string footer() {
  std::string text = "Networks:\n";
  for (const kernels::NetworkSummary& network : kernels::list_networks())
    text += fmt::format("  {:<15} {}\n", network.name, network.description);
  return text +
         "\nExamples:\n"
         "  paceline calibrate small-cnn\n"
         "  paceline calibrate resnet20 --cores 1,2,4 --batches 16,32,64,128 -o resnet20.json\n"
         "  paceline calibrate mlp --quick --force -o mlp.json\n"
         "  paceline calibrate resnet50 --budget '10 min' --memory '8 GB'\n"
         "  paceline calibrate mine.pt --input 3,32,32 --classes 10\n"
         "\n"
         "Other commands: paceline calibrate show | check | noise | from-log | network, each with --help.\n"
         "An interrupted calibration goes on when the same command is given again.\n"
         "Run it on an otherwise idle machine of the kind to be simulated. A scenario names the file under\n"
         "job.profile. Exit codes: 0 done, 1 measuring failed, 2 wrong arguments, 3 a check did not hold.";
}

void declare(CLI::App& app, RawOptions& raw, Options& options) {
  app.add_option("NETWORK", raw.network,
                 "Network to measure (listed below), or a TorchScript file of your own (MODEL.pt)")
      ->required();
  app.add_option("-o,--output", raw.output, "Profile to write (default: NETWORK-CPU.json)")
      ->type_name("FILE");
  app.add_option("--batches", raw.batches, "Batch sizes, at least 3 (default: as many of 4,8,...,256 as fit)")
      ->type_name("LIST");
  app.add_option("--cores", raw.cores, "Core counts (default: 1,2,4,... up to the physical cores)")
      ->type_name("LIST");
  app.add_option("--processes", raw.processes,
                 "Measuring processes for each core count, exactly so many (default: 3, and more until every "
                 "interval is within 2 % or the budget is spent)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  add_time_option(
      app, "--time-per-point", raw.seconds_per_point,
      "Shortest measurement of each batch in each process, e.g. \"0.3 s\" (the default); at least "
      "10 iterations in any case");
  add_time_option(app, "--budget", raw.budget_s, "Time to measure in, e.g. \"5 min\" (the default)");
  const std::map<std::string, double> byte_units = {{"MB", 1e6}, {"GB", 1e9}};
  app.add_option("--memory", raw.memory_bytes,
                 "Memory to stay within, e.g. \"4 GB\" (default: 80 % of what is available)")
      ->transform(CLI::AsNumberWithUnit(byte_units, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->type_name("SIZE");
  app.add_option("--input", raw.input, "One sample's shape of a TorchScript file, e.g. 3,32,32, or 64 tokens")
      ->type_name("SHAPE");
  app.add_option("--classes", raw.classes, "Classes, or vocabulary, of a TorchScript file")
      ->check(CLI::Range(2, 10000000))
      ->type_name("N");
  app.add_option(
         "--data", raw.data,
         fmt::format("Also measure how long batches of this data set take to load: {}", data_kinds_text))
      ->type_name(data_option_type);
  app.add_flag("--restart", options.restart, "Forget what an interrupted calibration has measured");
  app.add_flag("--quick", raw.quick,
               "Rougher and faster: batches 8,32,128, 3 processes, 0.1 s, 5 iterations");
  app.add_flag("--force", options.force, "Replace an existing profile");
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.get_formatter()->column_width(32);
  app.footer(footer());
}

void check_time(const std::optional<double>& seconds, const char* option) {
  constexpr double longest_s = 86400.0;
  if (seconds && !(*seconds > 0.0 && *seconds <= longest_s))
    throw UserError(fmt::format("{}: must be above 0 s and at most 24 h", option), help_hint);
}

// Everything that decides what is measured: a calibration may go on only where all of it agrees.
std::string identity_of(const RawOptions& raw, const Machine& machine) {
  const kernels::KernelSoftware software = kernels::kernel_software();
  const auto text = [](const auto& option) { return option ? fmt::format("{}", *option) : std::string("-"); };
  return fmt::format(
      "{}; {}; LibTorch {}; {}; batches {}; cores {}; processes {}; time per point {}; budget {}; memory {}; "
      "input {}; classes {}; data {}; quick {}",
      raw.network, machine.cpu_model, software.libtorch, software.blas, text(raw.batches), text(raw.cores),
      text(raw.processes), text(raw.seconds_per_point), text(raw.budget_s), text(raw.memory_bytes),
      text(raw.input), text(raw.classes), text(raw.data), raw.quick);
}

std::string quoted(const std::string& argument) {
  const bool plain =
      !argument.empty() && argument.find_first_of(" \t\n'\"\\$`&|;<>()*?[]#~!{}") == std::string::npos;
  if (plain) return argument;
  std::string text = "'";
  for (const char letter : argument) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

}  // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments, const Machine& machine) {
  RawOptions raw;
  Options options;
  CLI::App app("Measures how fast this machine trains a network and writes a profile for simulations.",
               "paceline calibrate");
  declare(app, raw, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them reversed
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), help_hint);
  }
  check_time(raw.seconds_per_point, "--time-per-point");
  check_time(raw.budget_s, "--budget");
  if (raw.memory_bytes && !(*raw.memory_bytes > 0.0))
    throw UserError("--memory: must be above 0 MB", help_hint);
  if (raw.budget_s && (raw.processes || raw.quick))
    throw UserError("--budget chooses the number of processes, and so do --processes and --quick",
                    "give one of them");
  options.plan = make_plan(raw, machine);
  options.budget_s = raw.budget_s.value_or(default_budget_s);
  options.memory_bytes = raw.memory_bytes;
  options.identity = identity_of(raw, machine);
  const std::string network = std::filesystem::path(raw.network).stem().string();
  options.output = raw.output.value_or(fmt::format("{}-{}.json", network, as_file_name(machine.cpu_model)));
  check_output(options.output, options.force);
  options.command = "paceline calibrate";
  for (const std::string& argument : arguments) options.command += " " + quoted(argument);
  return options;
}

}  // namespace paceline::calibrate
