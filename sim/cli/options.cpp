#include "sim/cli/options.hpp"

#include "sim/study/pool/process_pool.hpp"

namespace paceline {

void add_jobs(CLI::App& command, int& jobs) {
  jobs = default_jobs();
  add_number(command, "-j,--jobs", jobs, "processes at a time; never changes a result", 1, 4096);
}

void add_as_it_is(CLI::App& command, bool& as_it_is) {
  command.add_flag("--as-it-is", as_it_is,
                   "leave the machine as it is; otherwise its processors are kept from idling and the server "
                   "goes before workers, where the kernel permits that");
}

void add_path(CLI::App& command, const std::string& name, std::string& path, const std::string& help,
              const std::string& type) {
  CLI::Option* option = command.add_option(name, path, help)->type_name(type);
  if (!path.empty()) option->capture_default_str();
}

void add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
              const std::string& help, const std::string& type) {
  command.add_option(name, list, help)->type_name(type)->allow_extra_args(false);
}

void add_file_options(CLI::App& command, RunArguments& arguments, const std::string& file_help) {
  command.add_option("FILE", arguments.file, file_help)->required();
  add_list(command, "--set", arguments.overrides,
           "override a value, e.g. --set cluster.workers.2.speed=0.5 (repeatable; the value is YAML)",
           "KEY.PATH=VALUE");
  command.add_flag("--json", arguments.json, "print for machines");
}

void add_simulation_options(CLI::App& command, RunArguments& arguments, const std::string& output_help) {
  add_path(command, "-o,--output", arguments.output, output_help, "DIR");
  command.add_flag("--force", arguments.force, "replace results that are already there");
  add_jobs(command, arguments.jobs);
}

void add_uncertainty(CLI::App& command, RunArguments& arguments) {
  command.add_flag(
      "--profile-uncertainty", arguments.profile_uncertainty,
      "draw compute times from the profile's ensemble for each replication: its calibration error "
      "reaches the results");
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  add_simulation_options(command, arguments, "results folder (default: results/<name>)");
  command.add_flag("--iterations", arguments.iterations,
                   "also write iterations.csv: one row for each iteration");
  command.add_flag("--trace", arguments.trace,
                   "also write trace.json (opens in Perfetto) and activities.csv, of the first replication");
  add_uncertainty(command, arguments);
}

}  // namespace paceline
