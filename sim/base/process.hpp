// Programs as child processes, started without a shell.
//
// A child gets no input but what is given here, inherits no open file but its outputs, is killed when this
// process ends for whatever reason, and runs on the given cores from its first instruction on (libraries
// start threads while they load).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline {

struct Command {
  std::vector<std::string> words;             // a path, or a name looked for on the PATH, and its arguments
  std::filesystem::path folder = ".";         // to run in
  std::vector<std::string> environment = {};  // "NAME=value", added to this process's or replacing it there
  bool inherits_environment = true;           // false: only the variables above
  std::string input = {};                     // a few lines that it can read; empty: nothing
  bool keeps_input_open = false;              // its input is what write_line says, instead
  std::vector<int> cores = {};                // system numbers of the logical cores it may use; empty: all
};

// What a process that trains on this many cores finds in its environment, as "NAME=value": so many threads,
// each bound to a core of its own, and memory that is kept. The same where iterations are timed and where
// jobs are carried out, or their times would differ.
[[nodiscard]] std::vector<std::string> compute_environment(int cores);

// The status is as shells report it: the exit code, or 128 and the number of the signal that ended it.
inline constexpr int status_not_started = 127;
inline constexpr int status_signal_base = 128;
// "exited with code 3", "was killed by signal 9 (Killed)"
[[nodiscard]] std::string describe_status(int status);

class Process {
 public:
  // Throws std::system_error when there can be no child; a program that cannot be started ends with
  // status_not_started.
  explicit Process(const Command& command);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // kills it if it still runs

  [[nodiscard]] pid_t id() const { return id_; }
  // To a child whose input is kept open. False where it has read nothing of it, or of earlier ones, for two
  // seconds; of one that has ended its outputs tell. Throws Interrupted.
  [[nodiscard]] bool write_line(const std::string& line);
  // The next line of its output; nothing once both outputs are closed. Throws Interrupted.
  [[nodiscard]] std::optional<std::string> read_line();
  // Ends its input, reads what is left of its outputs, waits for its end and returns its status. Throws
  // Interrupted.
  int wait();
  // What it wrote and read_line has not taken.
  [[nodiscard]] const std::string& output() const { return output_.text; }
  [[nodiscard]] const std::string& errors() const { return errors_.text; }

 private:
  struct Stream {
    int descriptor;
    std::string text;
    void read_some();  // closes the descriptor at the end
  };

  // Waits until there may be something to read; false once both outputs are closed.
  bool read_more();

  pid_t id_ = 0;
  int input_ = -1;  // our end of it, where it is kept open
  Stream output_;
  Stream errors_;
  bool has_ended_ = false;
};

struct ProcessResult {
  int status = 0;
  std::string output;
  std::string errors;
};
[[nodiscard]] ProcessResult run_process(const Command& command);

}  // namespace paceline
