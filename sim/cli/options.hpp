// How a command puts itself on the command line: its arguments, and options that several commands share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"

namespace paceline {

// A subcommand with arguments of its own, which live as long as it does.
template <class Arguments>
std::pair<CLI::App&, Arguments&> add_command(CLI::App& app, const std::string& name, const std::string& help,
                                             int (*carry_out)(const Arguments&), CommandAction& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command = *app.add_subcommand(name, help);
  command.callback([=, &action, &command] {
    if (!command.get_subcommands().empty()) return;  // one of them is carried out
    if constexpr (std::is_base_of_v<RunArguments, Arguments>)
      if (arguments->file.empty()) throw CLI::RequiredError("FILE");
    action = [=] { return carry_out(*arguments); };
  });
  return {command, *arguments};
}

template <class Number>
void add_number(CLI::App& command, const std::string& name, Number& number, const std::string& help,
                Number least, Number most) {
  command.add_option(name, number, help)->check(CLI::Range(least, most))->capture_default_str();
}

void add_jobs(CLI::App& command, int& jobs);
void add_as_it_is(CLI::App& command, bool& as_it_is);

// A folder or file; what stands there at first is its default.
void add_path(CLI::App& command, const std::string& name, std::string& path, const std::string& help,
              const std::string& type);

// May be given several times.
void add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
              const std::string& help, const std::string& type = "TEXT");

void add_file_options(CLI::App& command, RunArguments& arguments, const std::string& file_help);
void add_simulation_options(CLI::App& command, RunArguments& arguments, const std::string& output_help);
void add_uncertainty(CLI::App& command, RunArguments& arguments);
void add_run_options(CLI::App& command, RunArguments& arguments);

}  // namespace paceline
