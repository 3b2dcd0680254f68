#include "sim/base/progress.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace paceline {
namespace {

constexpr auto refresh_interval = std::chrono::milliseconds(100);

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)), start_(std::chrono::steady_clock::now()), on_terminal_(isatty(2) == 1) {
  const char* forced = std::getenv("PACELINE_PROGRESS");
  as_lines_ = !on_terminal_ && forced != nullptr && std::string_view(forced) == "1";
}

Progress::~Progress() {
  if (shown_ && on_terminal_) std::fputs("\n", stderr);
}

void Progress::update(double fraction_done, const std::string& detail) {
  const auto now = std::chrono::steady_clock::now();
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      fraction_done > 0.0 && fraction_done < 1.0
          ? ", " + clock_text(elapsed_s * (1.0 - fraction_done) / fraction_done) + " left"
          : "";
  const std::string line = fmt::format("{} {:3.0f} % ({}), {} elapsed{}", title_, 100.0 * fraction_done,
                                       detail, clock_text(elapsed_s), left);
  if (on_terminal_) {
    if (shown_ && fraction_done < 1.0 && now - last_shown_ < refresh_interval) return;
    fmt::print(stderr, "\r\033[K{}", line);
    shown_ = true;
    last_shown_ = now;
  } else if (as_lines_ && static_cast<int>(fraction_done * 10.0) > tenths_shown_) {
    tenths_shown_ = static_cast<int>(fraction_done * 10.0);
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace paceline
