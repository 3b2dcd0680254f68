// The commands, each of which puts itself on the command line and knows what it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace paceline {

inline constexpr int exit_done = 0;
inline constexpr int exit_simulation_failed = 1;
inline constexpr int exit_user_error = 2;
inline constexpr int exit_expectation_failed = 3;
inline constexpr int exit_signal_base = 128;  // plus the signal that ended the program

// What the command does, once the command line is read; returns the exit code. A mistake of the user is
// thrown as UserError.
using CommandAction = std::function<int()>;

// Of the commands that simulate.
struct RunArguments {
  std::string file;
  std::vector<std::string> overrides;  // "key.path=value"
  std::string output;                  // empty: results/<name>
  bool force = false;
  bool json = false;
  bool iterations = false;           // write iterations.csv
  bool trace = false;                // write trace.json and activities.csv
  bool self_profile = false;         // where the time of this program went, into run-info.json
  bool profile_uncertainty = false;  // draw the profile's parameters anew for each replication
  int jobs = 1;
};

struct StudyArguments : RunArguments {
  bool list = false;
  bool folders = false;  // a results folder for each combination
  std::string run;       // the id of the one run to carry out
  std::string shard;     // "2/8": this part of the runs
  std::string submit;    // the scheduler
  int tasks = 0;         // of the job array; 0: as many as processors here, at most one a run
  std::vector<std::string> submit_options;  // passed on to the scheduler
};

void add_run(CLI::App& app, CommandAction& action);
void add_live(CLI::App& app, CommandAction& action);
void add_study(CLI::App& app, CommandAction& action);
void add_merge(CLI::App& study, CommandAction& action);
void add_compare(CLI::App& app, CommandAction& action);
void add_search(CLI::App& app, CommandAction& action);
void add_check(CLI::App& app, CommandAction& action);
void add_table(CLI::App& app, CommandAction& action);
void add_plot(CLI::App& app, CommandAction& action);
void add_report(CLI::App& app, CommandAction& action);
void add_timing(CLI::App& app, CommandAction& action);
void add_fit(CLI::App& app, CommandAction& action);
void add_predict(CLI::App& app, CommandAction& action);
void add_validate(CLI::App& app, CommandAction& action);
void add_init(CLI::App& app, CommandAction& action);
void add_list_command(CLI::App& app, CommandAction& action);
void add_schema(CLI::App& app, CommandAction& action);
void add_reference(CLI::App& app, CommandAction& action);
void add_calibrate(CLI::App& app);
void add_completion(CLI::App& app, CommandAction& action);
void add_help(CLI::App& app, CommandAction& action);

// What `paceline list` lists.
[[nodiscard]] std::vector<std::string> listed_things();

// Replaces this process by paceline-calibrate with the arguments after `calibrate`.
[[noreturn]] void exec_calibrate(char** argv);
// The same with these arguments.
[[noreturn]] void exec_calibrate(std::vector<std::string> arguments);

// An argument as a shell would need it.
[[nodiscard]] std::string shell_quoted(const std::string& argument);

}  // namespace paceline
