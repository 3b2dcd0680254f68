// Progress of long work: one line on stderr, rewritten in place, with an estimate of the time left.
//
// Shown only on a terminal, or everywhere when PACELINE_PROGRESS=1 (then one line per tenth of the work).
// The estimate is elapsed · (1 - done) / done. Wall-clock time is used here and nowhere near a result.
#pragma once

#include <chrono>
#include <string>

namespace paceline {

class Progress {
 public:
  explicit Progress(std::string title);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Leaves the last state on its line and ends the line.
  ~Progress();

  // `fraction_done` in 0-1; `detail` is appended, e.g. "12 of 20 runs".
  void update(double fraction_done, const std::string& detail);

 private:
  std::string title_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_shown_;
  bool on_terminal_ = false;
  bool as_lines_ = false;
  int tenths_shown_ = -1;
  bool shown_ = false;
};

}  // namespace paceline
