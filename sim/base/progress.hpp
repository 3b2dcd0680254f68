// Progress of long work on stderr, with an estimate of the time left: on a terminal one line that is
// rewritten in place, elsewhere (a file, a job's log) a line now and then.
//
// Elsewhere, work shorter than 5 s says nothing; then a line comes whenever a tenth of it is done or 30 s
// have passed, and one at its end. PACELINE_PROGRESS=1 begins with the first update, PACELINE_PROGRESS=0
// says nothing anywhere.
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
  enum class Style { none, rewritten, lines };
  [[nodiscard]] bool is_due(double fraction_done, std::chrono::steady_clock::time_point now) const;

  Style style_ = Style::none;
  std::chrono::seconds silence_;  // at the beginning
  double tenths_shown_ = -1.0;
  bool shown_ = false;
};

}  // namespace paceline
