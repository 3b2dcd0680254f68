// Where the simulator's own time goes, for `run --self-profile`.
//
// Models:      wall-clock time in which the engine, the coordinator with its executor, the learner or the
//              recorder had control; time in a part that another one called does not count for the caller.
// Units:       seconds of this process, by part.
// Assumptions: one thread. Looking at the clock costs some 30 ns a call and counts for the parts looked at.
// Not modelled: what the operating system does meanwhile.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "sim/engine/observer.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/learning/learner.hpp"

namespace paceline {

class SelfProfile {
 public:
  using Clock = std::chrono::steady_clock;

  // What follows is `part`, until `leave`.
  class Inside {
   public:
    Inside(SelfProfile& profile, std::string_view part)
        : profile_(profile), before_(profile.change_to(part)) {}
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { static_cast<void>(profile_.change_to(before_)); }

   private:
    SelfProfile& profile_;
    std::string_view before_;
  };

  explicit SelfProfile(std::string_view part) : part_(part), since_(Clock::now()) {}

  // Seconds by part, up to now.
  [[nodiscard]] std::map<std::string, double> seconds();

 private:
  // Returns the part before; names are literals.
  std::string_view change_to(std::string_view part);

  std::string_view part_;
  Clock::time_point since_;
  std::map<std::string_view, double> seconds_;
};

// The same, looked at: they forward to what they are given, which outlives them.
[[nodiscard]] std::unique_ptr<Timeline> profiled(Timeline& timeline, SelfProfile& profile);
[[nodiscard]] std::unique_ptr<Learner> profiled(Learner& learner, SelfProfile& profile);
[[nodiscard]] std::unique_ptr<RunObserver> profiled(RunObserver& observer, SelfProfile& profile);

}  // namespace paceline
