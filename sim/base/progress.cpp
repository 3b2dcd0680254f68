#include "sim/base/progress.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace paceline {
namespace {

constexpr auto refresh_interval = std::chrono::milliseconds(100);
constexpr auto line_interval = std::chrono::seconds(30);

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)), start_(std::chrono::steady_clock::now()), silence_(5) {
  const char* variable = std::getenv("PACELINE_PROGRESS");
  const std::string_view wanted = variable == nullptr ? "" : variable;
  style_ = wanted == "0" ? Style::none : isatty(2) == 1 ? Style::rewritten : Style::lines;
  if (wanted == "1") silence_ = std::chrono::seconds(0);
}

Progress::~Progress() {
  if (shown_ && style_ == Style::rewritten) std::fputs("\n", stderr);
}

bool Progress::is_due(double fraction_done, std::chrono::steady_clock::time_point now) const {
  switch (style_) {
    case Style::none:
      return false;
    case Style::rewritten:
      return !shown_ || fraction_done >= 1.0 || now - last_shown_ >= refresh_interval;
    case Style::lines:
      break;
  }
  if (!shown_) return now - start_ >= silence_;
  return std::floor(fraction_done * 10.0) > tenths_shown_ || now - last_shown_ >= line_interval;
}

void Progress::update(double fraction_done, const std::string& detail) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_due(fraction_done, now)) return;
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      fraction_done > 0.0 && fraction_done < 1.0
          ? ", " + clock_text(elapsed_s * (1.0 - fraction_done) / fraction_done) + " left"
          : "";
  const std::string line = fmt::format("{} {:3.0f} % ({}), {} elapsed{}", title_, 100.0 * fraction_done,
                                       detail, clock_text(elapsed_s), left);
  if (style_ == Style::rewritten)
    fmt::print(stderr, "\r\033[K{}", line);
  else
    fmt::print(stderr, "{}\n", line);
  shown_ = true;
  last_shown_ = now;
  tenths_shown_ = std::floor(fraction_done * 10.0);
  std::fflush(stderr);
}

}  // namespace paceline
