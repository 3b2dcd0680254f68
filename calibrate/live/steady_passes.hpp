// Passes of a measurement that met the machine as it usually is; those that did not are taken again.
//
// Models:      cores that others on the host slow down, each by itself, for seconds or minutes: what several
//              processes take beside one says nothing where one core was slower during one of the two.
// Equation:    a look: what a step of the measured loop, or as much work with memory, takes on each core, one
//              core after the other; the median of a few. Of each core usual is the median of those looks
//              that are within a tenth of their lower quartile. Slowness of a pass: what a look just before
//              or after it took at most, of any core, over what is usual there. Up to 1.15 a pass is as
//              usual; passes are taken until as many as wanted are. Once twice as many have been taken, half
//              of those wanted are enough (at least three, or all where fewer are wanted); four times as many
//              are taken at most. Those as usual are kept; where they are fewer than three, the three least
//              slowed.
// Units:       seconds of wall-clock time.
// Assumptions: a quarter of the looks find a core as good as alone; what slows it lasts longer than a pass.
// Not modelled: a core that is slower throughout: that it differs from the others is said.
// Source:      docs/real-jobs.md.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/stepped_loop.hpp"
#include "sim/base/quantity.hpp"

namespace paceline::live {

// Median of those within a tenth of the lower quartile.
[[nodiscard]] Seconds usual_of(std::vector<double> looks_s);

using CoreLook = std::vector<Seconds>;  // of each core that may be used, eight at most

class CoreWatch {
 public:
  // By a loop of its own, from the same command; without a command by work with memory. Throws what
  // SteppedLoop throws.
  explicit CoreWatch(const std::vector<std::string>& loop);
  [[nodiscard]] CoreLook look();
  // Of the loop, before any look; absent: there is none.
  [[nodiscard]] std::optional<Seconds> usual_step() const { return usual_step_; }

 private:
  [[nodiscard]] Seconds timed();  // where this thread is

  std::optional<SteppedLoop> loop_;
  std::optional<Seconds> usual_step_;
  MemoryWork work_{};
  MemoryLoad load_;
};

class SteadyPasses {
 public:
  // Looks at once, and after each pass. Without a look every pass counts.
  SteadyPasses(std::size_t wanted, std::function<CoreLook()> look);

  [[nodiscard]] bool is_enough() const;
  [[nodiscard]] std::size_t taken() const { return looks_.size() - 1; }
  [[nodiscard]] std::size_t expected() const;  // as many as are taken in the end, by what is known so far
  void end_pass();

  // How much slower than usual a core was, of each pass taken.
  [[nodiscard]] std::vector<double> slowness() const;
  // Places, in order.
  [[nodiscard]] std::vector<std::size_t> kept() const;
  template <class Pass>
  [[nodiscard]] std::vector<Pass> kept_of(const std::vector<Pass>& passes) const {
    std::vector<Pass> left;
    for (const std::size_t place : kept()) left.push_back(passes.at(place));
    return left;
  }
  // Empty: all passes met the machine as usual, and its cores are alike.
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] std::vector<double> usual_s() const;  // of each core
  [[nodiscard]] std::size_t as_usual() const;
  [[nodiscard]] std::size_t enough() const;  // as usual, of as many as have been taken

  [[nodiscard]] CoreLook look() const { return look_ ? look_() : CoreLook{}; }

  std::size_t wanted_;
  std::function<CoreLook()> look_;
  std::vector<CoreLook> looks_;
};

}  // namespace paceline::live
