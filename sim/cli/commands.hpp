// What each subcommand does, apart from how it is spelled on the command line (main.cpp).
#pragma once

#include <string>
#include <vector>

#include "calibrate/asynchronous/predict_command.hpp"
#include "calibrate/learning/fit_command.hpp"
#include "calibrate/validation/validate_command.hpp"
#include "plots/page/page_words.hpp"

namespace paceline {

inline constexpr int exit_done = 0;
inline constexpr int exit_simulation_failed = 1;
inline constexpr int exit_user_error = 2;
inline constexpr int exit_expectation_failed = 3;
inline constexpr int exit_signal_base = 128;  // plus the signal that ended the program

struct RunArguments {
  std::string file;
  std::vector<std::string> overrides;  // "key.path=value"
  std::string output;                  // empty: results/<name>
  bool force = false;
  bool json = false;
  bool iterations = false;           // write iterations.csv
  bool trace = false;                // write trace.json and activities.csv
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

struct MergeArguments {
  std::string folder;
  std::vector<std::string> others;  // stores, or folders that hold some
};

struct CompareArguments {
  std::string folder;
  std::string against;  // the combination all others are compared with; empty: the best
  int lines = 20;       // of each table
  bool json = false;
};

struct TableArguments {
  std::string folder;
  std::string format;
};

struct PlotArguments {
  std::vector<std::string> folders;
  std::vector<std::string> only;
  plots::PageWords page;
  std::string recorded;  // CSV file; empty: none
  std::string output = "figures";
  bool force = false;
  bool json = false;
};

struct TimingArguments {
  RunArguments run;
  double target = 0.0;  // 0: what synchronous training alone reaches
  double tolerance = 0.01;
  bool one_sided = false;
  int replications = 5;
  int settings = 5;
  int fresh = 20;
  std::string recorded;  // CSV file; empty: none
  bool figures = true;
};

struct ListArguments {
  std::string what;
  std::string folder;  // of profiles or learners; empty: those shipped
};

struct InitArguments {
  std::string file;  // empty: scenario.yaml or study.yaml
  bool study = false;
  std::string network = "resnet32";
  std::string profile;  // empty: a shipped one of the network
  std::string workers = "2x2,2x1";
  std::string bandwidth = "10 Gbit/s";
  std::string policy = "bsp";
  std::string target = "88 %";
  double epochs = 60.0;
  bool force = false;
};

// Each returns the exit code; a user's mistake is thrown as UserError.
int run_command(const RunArguments& arguments);
int study_command(const StudyArguments& arguments);
int merge_command(const MergeArguments& arguments);
int compare_command(const CompareArguments& arguments);
int table_command(const TableArguments& arguments);
int search_command(const StudyArguments& arguments);
int check_command(const RunArguments& arguments);
int timing_command(const TimingArguments& arguments);
int list_command(const ListArguments& arguments);
int init_command(const InitArguments& arguments);
int plot_command(const PlotArguments& arguments);
int predict_command(const PredictArguments& arguments);
int fit_command(const FitArguments& arguments);
int validate_recorded_command(const ValidateArguments& arguments);
int validate_learner_command(const CompareLearnerArguments& arguments);

// What `paceline list` lists.
[[nodiscard]] std::vector<std::string> listed_things();

// What the result files hold, in Markdown.
[[nodiscard]] std::string results_reference();

// Replaces this process by paceline-calibrate with the arguments after `calibrate`.
[[noreturn]] void exec_calibrate(char** argv);
// The same with these arguments.
[[noreturn]] void exec_calibrate(std::vector<std::string> arguments);

// An argument as a shell would need it.
[[nodiscard]] std::string shell_quoted(const std::string& argument);

}  // namespace paceline
