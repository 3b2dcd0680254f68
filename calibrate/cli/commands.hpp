// What each form of `paceline calibrate` is asked, and does. Each returns the exit code; a user's mistake is
// thrown as UserError.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "calibrate/cli/link_arguments.hpp"
#include "calibrate/logs/correction.hpp"
#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_does_not_hold = 3;

// paceline calibrate NETWORK: what is absent is chosen
struct CalibrateArguments {
  std::string command;  // the command line, as a user would type it
  std::string network;
  std::optional<std::string> output;
  std::vector<std::int64_t> batches;
  std::vector<int> cores;
  std::optional<int> processes;
  std::optional<double> seconds_per_point;
  std::optional<double> budget_s;
  std::optional<double> memory_bytes;
  std::vector<std::int64_t> input_shape;
  std::int64_t classes = 0;
  std::optional<DataChoice> data;
  bool restart = false;
  bool quick = false;
  bool force = false;
  bool json = false;
};

struct ShowArguments {
  std::string profile;
  bool json = false;
};

struct CheckArguments {
  std::string profile;
  int processes = 3;
  double budget_s = 60.0;
  bool json = false;
};

struct NetworkArguments {
  std::string peer;  // HOST:PORT
  int listen = 0;
  bool loopback = false;
  std::int64_t largest = 16'777'216;
  int repetitions = 20;
  double rest_s = 20e-3;
  bool json = false;
};

struct ServerArguments {
  std::vector<std::int64_t> parameters;  // of a gradient; empty: the usual sizes
  std::vector<int> workers;              // numbers of several that compute at once, besides one alone
  std::string policy = "asp";            // of several
  std::optional<double> computing_s;     // of a worker, before each gradient
  std::vector<std::string> command;      // that computes instead, a step for each line of its input
  double serving_s = 0.0;                // of the server at least, for each gradient
  LinkArguments links;
  std::optional<int> passes;
  bool quick = false;
  bool json = false;
};

struct CollectiveArguments {
  std::vector<int> members = {2, 4};
  std::vector<std::int64_t> parameters;
  std::string with;                   // "gloo", "own"; empty: Gloo where it is built in
  std::optional<double> computing_s;  // of a member, before each all-reduce
  std::vector<std::string> command;   // that computes instead, a step for each line of its input
  std::optional<double> quota;        // cores, as by which the first one is stopped
  LinkArguments links;
  std::optional<int> passes;
  bool quick = false;
  bool json = false;
};

// paceline calibrate own: a log or a command
struct OwnArguments {
  std::string log;
  std::vector<std::string> command;
  std::string profile;
  std::string output;
  int cores = 1;
  int copies = 1;                 // of the command, at once
  std::optional<double> quota{};  // of cores, that the command is also run with
  bool rests = false;             // whether it is stopped now and then
  std::optional<int> passes;
  int warm_up = 10;
  CorrectBy by = CorrectBy::whatever_fits;
  bool processor_clock = false;
  bool without_optimizer_step = false;
  bool force = false;
  bool json = false;
};

struct FromLogArguments {
  std::string folder;
  std::vector<std::string> asp;
  std::vector<std::string> bsp;
  int workers = 0;
  std::string time_column = "wall_time_s";
  std::string step_column = "step";
  int predict_workers = 0;
  std::vector<std::string> against;
  std::vector<std::string> against_asp;
  std::optional<double> recorded_asp_step_s;
  std::string phases;
  double sleep_s = 0.0;
  bool json = false;
};

// paceline calibrate from-log --jobs
struct JobLogArguments {
  std::vector<std::string> jobs;
  std::string time_column = "time_s";
  std::string network;
  std::string gpu;
  std::string campaign;
  std::optional<double> pause_s;
  std::optional<double> pause_every;
  std::optional<double> service_s;
  int predict_workers = 0;
  std::string output;
  std::string scenario;
  int batch = 0;
  std::int64_t parameters = 0;
  bool force = false;
  bool json = false;
};

int run(const CalibrateArguments& arguments);
int run(const ShowArguments& arguments);
int run(const CheckArguments& arguments);
int run(const NetworkArguments& arguments);
int run(const ServerArguments& arguments);
int run(const CollectiveArguments& arguments);
int run(const OwnArguments& arguments);
int run(const FromLogArguments& arguments);
int run(const JobLogArguments& arguments);

using Arguments =
    std::variant<CalibrateArguments, ShowArguments, CheckArguments, NetworkArguments, ServerArguments,
                 CollectiveArguments, OwnArguments, FromLogArguments, JobLogArguments>;
// Nothing when help was asked for, and printed. Throws UserError.
[[nodiscard]] std::optional<Arguments> parse_command_line(std::vector<std::string> words);

// The measuring process, the only part of a calibration that computes with the network: iterations as a
// worker runs them, forward and backward, then the optimizer step. Writes one Sample a line. The parent has
// set the cores before this process started.
void run_measure_child(const MeasureRequest& request, std::ostream& out);

}  // namespace paceline::calibrate
