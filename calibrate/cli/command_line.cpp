#include <algorithm>
#include <filesystem>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* data_kinds =
    "built-in-images, built-in-text, cifar10:FOLDER, cifar100:FOLDER or mnist:FOLDER";
constexpr double longest_s = 86400.0;

// CLI11's own check would name the largest double.
const CLI::Validator above_zero(
    [](const std::string& text) { return to_number(text).value_or(0.0) > 0.0 ? "" : "must be above 0"; }, "");

// A list of numbers in one word: 8,16,32.
template <class Numbers>
CLI::Option* add_list(CLI::App& app, const std::string& name, Numbers& numbers, const std::string& help) {
  constexpr int largest = 1 << 20;
  return app.add_option(name, numbers, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, largest))
      ->type_name("LIST");
}

// Ascending, each once.
void sort_numbers(const std::string& option, auto& numbers) {
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) != numbers.end())
    throw UserError(fmt::format("{}: a number appears twice", option), "name each once");
}

// A duration with its unit; `seconds` is a double or an optional one.
template <class Seconds>
CLI::Option* add_time(CLI::App& app, const std::string& name, Seconds& seconds, const std::string& help) {
  const std::map<std::string, double> units = {
      {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
  const auto in_range = [](const std::string& text) {
    const double value = to_number(text).value_or(0.0);
    return value > 0.0 && value <= longest_s ? "" : "must be above 0 s and at most 24 h";
  };
  return app.add_option(name, seconds, help)
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Validator(in_range, ""))
      ->type_name("TIME (ms, s, min, h)");
}

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

// A whole number; `number` is one or an optional one.
template <class Number>
CLI::Option* add_count(CLI::App& app, const std::string& name, Number& number, int lowest, int highest,
                       const std::string& help, const std::string& type = "N") {
  return app.add_option(name, number, help)->check(CLI::Range(lowest, highest))->type_name(type);
}

void add_profile(CLI::App& app, std::string& profile) {
  app.add_option("PROFILE", profile, "A file written by `paceline calibrate`")->required();
}

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "Print for machines");
}

std::string networks(std::string_view indent) {
  std::string text;
  for (const kernels::NetworkSummary& network : kernels::list_networks())
    text += fmt::format("{}{:<15} {}\n", indent, network.name, network.description);
  return text;
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
         "each with "
         "--help.\n"
         "An interrupted calibration goes on when the same command is given again.\n"
         "Run it on an otherwise idle machine of the kind to be simulated. A scenario names the file under\n"
         "job.profile. Exit codes: 0 done, 1 measuring failed, 2 wrong arguments, 3 a check did not hold.";
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

void declare(CLI::App& app, NetworkArguments& arguments) {
  app.description("Measures latency and bandwidth by message size between two ends.");
  CLI::App* const ends = app.add_option_group("The two ends", "One of these");
  ends->add_option("HOST:PORT", arguments.peer, "The other end, where this command listens");
  add_count(*ends, "--listen", arguments.listen, 1, 65535,
            "Be the other end: answer one measurement on this port", "PORT");
  ends->add_flag("--loopback", arguments.loopback, "Measure within this machine");
  ends->require_option(1);
  add_count(app, "--largest", arguments.largest, 64, 1 << 30, "Largest message in bytes")
      ->capture_default_str();
  add_count(app, "--repetitions", arguments.repetitions, 1, 100000, "Messages of each size")
      ->capture_default_str();
  add_time(app, "--rest", arguments.rest_s,
           "Before each message, e.g. \"20 ms\" (the default): a shaped link regains its burst meanwhile");
  add_json(app, arguments.json);
  app.footer(
      "Examples:\n  paceline calibrate network --loopback\n"
      "  paceline calibrate network --listen 7000          on one host, then on the other:\n"
      "  paceline calibrate network first-host:7000 --json > network.json");
}

void declare(CLI::App& app, ServerArguments& arguments) {
  app.description(
      "Measures what a request at a parameter server on this machine takes: with the server of `paceline "
      "live`, over loopback TCP, and workers that learn nothing, on the cores that the kernel gives them. "
      "Prints the lines for a scenario.");
  add_list(app, "--parameters", arguments.parameters,
           "Sizes of a gradient, at least 2 (default: 1000,10000,100000,1000000)");
  CLI::Option* const several =
      add_list(app, "--workers", arguments.workers,
               "Besides one worker alone so many at once, e.g. 2,4: how long their messages wait for a "
               "processor, and how much longer they compute")
          ->check(CLI::Range(2, 64).description(""));
  app.add_option("--policy", arguments.policy,
                 "Of several: asp (the default), or bsp, where all messages come at once and cost more")
      ->check(CLI::IsMember({"asp", "bsp"}))
      ->type_name("asp|bsp")
      ->needs(several);
  add_time(app, "--computing", arguments.computing_s,
           "How long a worker is busy before each gradient, e.g. \"5 ms\" (the default): processors that "
           "slept and caches that hold other things make messages slower");
  add_time(app, "--serving", arguments.serving_s,
           "Processor time that the server takes for each gradient, where it takes less: of a server of your "
           "own (`calibrate own`). One that does more waits longer for a processor, and so do its messages");
  declare(app, arguments.links);
  add_count(app, "--passes", arguments.passes, 2, 1000,
            "How often every size is measured, in new processes each time (default: 5); with --workers a "
            "restless machine needs more, 12 say");
  app.add_flag("--quick", arguments.quick,
               "Rougher and faster: 3 sizes, 3 passes, 0.1 s instead of 0.3 s each");
  add_json(app, arguments.json);
  app.footer(
      "Run it on an otherwise idle machine with two free cores.\n\n"
      "Examples:\n  paceline calibrate server\n"
      "  paceline calibrate server --parameters 5000,20000,80000      around the size of a network\n"
      "  paceline calibrate server --bandwidth '100 Mbit/s'\n"
      "  paceline calibrate server --workers 2,3 --computing '2 ms'    `jitter.message` of jobs like these\n"
      "  paceline calibrate server --workers 2,3 --computing '2 ms' --serving '0.6 ms'    of a server in "
      "Python\n"
      "  paceline calibrate server --quick --json > server.json");
}

void declare(CLI::App& app, CollectiveArguments& arguments) {
  app.description(
      "Measures an all-reduce around a ring of processes on this machine: wall-clock and processor time by "
      "size and members. Prints the lines for a scenario.");
  add_list(app, "--members", arguments.members, "Rings to measure (default: 2,4)");
  add_list(app, "--parameters", arguments.parameters,
           "Numbers of values to add up, at least 2 (default: 1000,10000,100000,1000000)");
  add_time(
      app, "--computing", arguments.computing_s,
      "How long a member is busy before each all-reduce, e.g. \"5 ms\" (the default): processors that slept "
      "and caches that hold other things make messages slower");
  declare(app, arguments.links);
  app.add_option(
         "--with", arguments.with,
         "Gloo, or a ring of paceline's own over TCP (default: Gloo where this program was built with it)")
      ->check(CLI::IsMember({"gloo", "own"}))
      ->type_name("gloo|own");
  add_count(app, "--passes", arguments.passes, 2, 1000,
            "How often everything is measured, in processes of its own each time (default: 5)");
  app.add_flag("--quick", arguments.quick,
               "Rougher and faster: 3 sizes, 3 passes, 0.1 s instead of 0.3 s each");
  add_json(app, arguments.json);
  app.footer(
      "Run it on an otherwise idle machine. Latency and bandwidth come from rings of no more members than "
      "there are cores.\n\n"
      "Examples:\n  paceline calibrate collective\n"
      "  paceline calibrate collective --members 2,3 --parameters 5000,20000,80000\n"
      "  paceline calibrate collective --bandwidth '200 Mbit/s' --burst '32 KiB'\n"
      "  paceline calibrate collective --with own --json > ring.json");
}

void declare(CLI::App& app, OwnArguments& arguments) {
  app.description(
      "Times a training loop of your own by the lines it prints, `step <n> <wall_s> <cpu_s> <samples>`, and "
      "corrects a profile by it. A step's times are its own, not those since the start; other lines are "
      "ignored. The command that trains comes last, after `--`.");
  app.add_option("--log", arguments.log, "A log with such lines, instead of a command")->type_name("FILE");
  CLI::Option* const profile = app.add_option("--profile", arguments.profile,
                                              "Profile of the same network on this machine, to correct")
                                   ->type_name("PROFILE");
  app.add_option("-o,--output", arguments.output, "Corrected profile to write")->type_name("FILE");
  add_count(app, "--cores", arguments.cores, 1, 1 << 20, "Cores the loop computes on")->capture_default_str();
  add_count(app, "--warm-up", arguments.warm_up, 0, 1 << 20, "Steps to leave out at the beginning")
      ->capture_default_str();
  CLI::Option* const copies = add_count(
      app, "--copies", arguments.copies, 2, 256,
      "Instead of a correction: how 2, 3, ... up to so many copies of the command slow each other down; let "
      "each train for ten seconds");
  add_count(app, "--passes", arguments.passes, 1, 1000,
            "With --copies or --quota: how often each is started (default: 3, or 9 under a quota)");
  copies->excludes("--log")->excludes(profile);
  app.add_option(
         "--quota", arguments.quota,
         "Instead of a correction: what the command takes longer after each time that a quota of so many "
         "cores in each 100 ms has held it up, by stopping it as long now and then; let it train for four "
         "seconds (where steps are longer than 8 ms, by runs with and without such a quota: as root)")
      ->check(CLI::Range(0.01, 1024.0))
      ->type_name("CORES")
      ->excludes("--log")
      ->excludes(profile)
      ->excludes(copies);
  app.add_flag(
         "--rests", arguments.rests,
         "Instead of a correction: what a step takes longer after the command has rested for 1 to 80 ms, "
         "by stopping it now and then (`resume`); let it train for fifteen seconds, and wait for nobody")
      ->excludes("--log")
      ->excludes(profile)
      ->excludes(copies)
      ->excludes("--quota");
  const std::map<std::string, CorrectBy> ways = {{"factor", CorrectBy::factor},
                                                 {"offset", CorrectBy::offset}};
  app.add_option("--by", arguments.by,
                 "Correct by a factor, or by a time added to every iteration (default: of one batch size the "
                 "latter where the loop is slower, of several both)")
      ->transform(CLI::CheckedTransformer(ways).description(""))
      ->type_name("factor|offset")
      ->needs(profile);
  app.add_flag("--processor-time", arguments.processor_clock,
               "Correct by processor instead of wall-clock time: for a loop on one core that waits");
  app.add_flag("--without-optimizer-step", arguments.without_optimizer_step,
               "A step of the loop ends before the optimizer's");
  app.add_flag("--force", arguments.force, "Replace an existing file");
  add_json(app, arguments.json);
  app.footer(
      "In Python, around the body of the loop, flushed or at the end:\n"
      "  w, c = time.perf_counter(), time.process_time()\n"
      "  ...\n"
      "  print('step', n, time.perf_counter() - w, time.process_time() - c, len(batch))\n\n"
      "Examples:\n  paceline calibrate own -- python3 train.py --epochs 1\n"
      "  paceline calibrate own --log train.log --profile resnet20.json -o mine.json\n"
      "  paceline calibrate own --copies 3 -- python3 train.py --steps 3000    for workers that share this "
      "machine\n"
      "  paceline calibrate own --quota 0.4 -- python3 train.py --steps 3000   for workers under a quota\n"
      "  paceline calibrate own --rests -- python3 train.py --steps 10000      for workers that wait for "
      "others");
}

void declare(CLI::App& app, FromLogArguments& arguments) {
  app.description("Fits the parallel and the serial part of a synchronous step from recorded step times.");
  app.add_option("FOLDER", arguments.folder, "Folder with asp/run*/loss.csv and bsp/run*/loss.csv");
  app.add_option("--asp", arguments.asp,
                 "Logs of asynchronous runs: one step is one mini-batch of one worker")
      ->type_name("CSV");
  app.add_option("--bsp", arguments.bsp,
                 "Logs of synchronous runs: one step is one mini-batch of every worker")
      ->type_name("CSV");
  add_count(app, "--workers", arguments.workers, 2, 100000, "Workers of these runs", "WORKERS")->required();
  app.add_option("--time-column", arguments.time_column, "Column of the time, in seconds")
      ->capture_default_str();
  app.add_option("--step-column", arguments.step_column, "Column of the step")->capture_default_str();
  add_count(app, "--predict", arguments.predict_workers, 2, 100000, "Predict the steps of this many workers",
            "WORKERS");
  app.add_option("--against", arguments.against, "Synchronous logs of that many workers, to compare with")
      ->type_name("CSV");
  app.add_option("--against-asp", arguments.against_asp, "Asynchronous logs of that many workers")
      ->type_name("CSV");
  app.add_option("--recorded-asp-step", arguments.recorded_asp_step_s,
                 "Seconds per mini-batch of that many asynchronous workers, where only the figure is known")
      ->check(above_zero)
      ->type_name("SECONDS");
  app.add_option("--phases", arguments.phases,
                 "Table of recorded phases, for the cost of a switch (default: phases.csv beside FOLDER)")
      ->type_name("CSV");
  app.add_option("--sleep", arguments.sleep_s, "Fixed sleep inside the recorded gap of a switch")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  add_json(app, arguments.json);
  app.footer(
      "Of asynchronous jobs alone, and what they cost a server: --jobs CSV ... (paceline calibrate from-log "
      "--jobs --help).\n\n"
      "Example:\n  paceline calibrate from-log recorded/resnet32-cifar10-8 --workers 8 --predict 16 \\\n"
      "      --against recorded/resnet32-cifar10-16/bsp/run*/loss.csv --sleep 90");
}

void declare(CLI::App& app, JobLogArguments& arguments) {
  app.description(
      "Tells from logs of asynchronous jobs what a worker takes for an iteration alone, what an update takes "
      "the server, and how sure that is; refuses a service time that jobs without a busy server do not tell. "
      "Writes a profile and a scenario.");
  app.add_option("--jobs", arguments.jobs, "Logs, each of one of the forms below")
      ->required()
      ->type_name("CSV");
  app.add_option("--time-column", arguments.time_column, "Column of the time, in seconds")
      ->capture_default_str();
  app.add_option("--network", arguments.network, "Only jobs of this network; logs that name none are of it");
  app.add_option("--gpu", arguments.gpu, "Kind of workers to predict and to write a profile of");
  app.add_option("--campaign", arguments.campaign,
                 "Campaign to predict and to write a profile of (default: another cluster)");
  app.add_option("--pause", arguments.pause_s,
                 "Pause of the chief in jobs logged by one row, to be taken off (checkpoints)")
      ->check(above_zero)
      ->type_name("SECONDS");
  app.add_option("--pause-every", arguments.pause_every, "Updates between two of them")
      ->check(above_zero)
      ->type_name("UPDATES");
  add_count(app, "--predict", arguments.predict_workers, 1, 1000, "Updates/s of this many workers",
            "WORKERS");
  app.add_option("-o,--output", arguments.output, "Profile to write")->type_name("PROFILE");
  app.add_option("--scenario", arguments.scenario,
                 "Scenario to write besides, of --predict workers (default: the most that are logged)")
      ->type_name("FILE");
  add_count(app, "--batch", arguments.batch, 1, 1 << 20, "Samples of a mini-batch, for the profile");
  app.add_option("--parameters", arguments.parameters, "Parameters of the network, for the profile")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_time(app, "--service-time", arguments.service_s,
           "Service time of an update for the profile, instead of what the logs tell");
  app.add_flag("--force", arguments.force, "Replace existing files");
  add_json(app, arguments.json);
  app.footer(
      "Forms of a log, told by its columns:\n"
      "  worker, time_s           every update, by whom and when: a file for each job\n"
      "  time_s, step             updates of the whole job by then (steps_per_s: its rate meanwhile)\n"
      "  duration_s, end_step     a row for each job; or step_s, its seconds per update\n"
      "Columns of the job, where it is not one worker: workers, gpu, network, campaign, servers, run,\n"
      "latency_ms, complete. With --iterations `paceline run` writes such a log: --time-column applied_s.\n\n"
      "Examples:\n"
      "  paceline calibrate from-log --jobs one.csv two.csv four.csv\n"
      "  paceline calibrate from-log --jobs speed.csv runs.csv --network resnet32 --gpu v100 --predict 4 \\\n"
      "      -o v100.json --scenario v100x4.yaml --batch 128 --parameters 1857722");
}

// As a shell would have it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]#~!{}") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

template <class OfCommand>
std::optional<Arguments> parse(const std::string& name, const std::vector<std::string>& words) {
  OfCommand arguments;
  CLI::App app("", name);
  declare(app, arguments);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them reversed
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), fmt::format("`{} --help` lists the options", name));
  }
  return arguments;
}

// Everything after `--` is the command.
std::optional<Arguments> parse_own(const std::string& name, const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  std::optional<Arguments> parsed = parse<OwnArguments>(name, {words.begin(), end});
  if (parsed && end != words.end()) std::get<OwnArguments>(*parsed).command.assign(end + 1, words.end());
  return parsed;
}

// Logs of asynchronous jobs have options of their own.
std::optional<Arguments> parse_from_log(const std::string& name, const std::vector<std::string>& words) {
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  if (!has("--jobs")) return parse<FromLogArguments>(name, words);
  // As the first word after --jobs it would be a file.
  return parse<JobLogArguments>(name, has("--help") ? std::vector<std::string>{"--help"} : words);
}

using Parser = std::optional<Arguments> (*)(const std::string& name, const std::vector<std::string>& words);

}  // namespace

std::optional<Arguments> parse_command_line(std::vector<std::string> words) {
  const std::map<std::string, Parser> commands = {{"show", parse<ShowArguments>},
                                                  {"check", parse<CheckArguments>},
                                                  {"network", parse<NetworkArguments>},
                                                  {"server", parse<ServerArguments>},
                                                  {"collective", parse<CollectiveArguments>},
                                                  {"own", parse_own},
                                                  {"from-log", parse_from_log}};
  const std::string program = "paceline calibrate";
  if (words == std::vector<std::string>{"networks"}) {  // for `paceline list networks`
    fmt::print("{}", networks(""));
    return std::nullopt;
  }
  if (!words.empty())
    if (const auto command = commands.find(words.front()); command != commands.end()) {
      words.erase(words.begin());
      return command->second(program + " " + command->first, words);
    }
  std::optional<Arguments> parsed = parse<CalibrateArguments>(program, words);
  if (!parsed) return parsed;
  auto& arguments = std::get<CalibrateArguments>(*parsed);
  sort_numbers("--batches", arguments.batches);
  sort_numbers("--cores", arguments.cores);
  arguments.command = program;
  for (const std::string& word : words) arguments.command += " " + quoted(word);
  return parsed;
}

}  // namespace paceline::calibrate
