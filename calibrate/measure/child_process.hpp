// A child process whose output lines are read while it runs.
//
// The child runs on the given cores from its first instruction on (libraries start threads while they load), gets
// no input, and is killed when the parent ends for whatever reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline::calibrate {

struct ChildCommand {
  std::string program;                   // a path
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value", added to the parent's or replacing it there
  std::vector<int> cores;                // system numbers of the logical cores it may use
};

class ChildProcess {
 public:
  explicit ChildProcess(const ChildCommand& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  // kills it if it still runs

  // The next line of its output; nothing once it has closed it. Throws Interrupted.
  [[nodiscard]] std::optional<std::string> read_line();
  // Waits for its end: nothing when it exited with 0, else what happened ("exited with code 3"). Call it after
  // read_line returned nothing.
  [[nodiscard]] std::optional<std::string> wait_for_failure();
  // What it wrote to its standard error so far.
  [[nodiscard]] const std::string& error_text() const { return error_text_; }

 private:
  void drain(int& descriptor, std::string& into);

  pid_t pid_ = 0;
  int output_ = 0;
  int errors_ = 0;
  std::string output_text_;
  std::string error_text_;
  bool waited_for_ = false;
};

}  // namespace paceline::calibrate
