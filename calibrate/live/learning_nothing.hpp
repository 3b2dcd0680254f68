// Jobs for their messages alone: the protocol, the coordinator and the server of a live job, and workers that
// learn nothing. A gradient is of one sample, and evaluations are answered at once, for nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "calibrate/live/crew.hpp"
#include "sim/engine/observer.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline::live {

// Without an evaluator. None of its workers may be lost: next() throws what throw_if_lost throws.
class CrewLearningNothing : public Crew {
 public:
  CrewLearningNothing(Crew& crew, std::size_t workers) : crew_(crew), workers_(workers) {}

  std::optional<News> next(Seconds patience) override;
  void send(Member member, const Message& message) override;
  void dismiss(Member member, const std::string& reason) override { crew_.dismiss(member, reason); }
  void restart_workers() override { crew_.restart_workers(); }
  [[nodiscard]] std::size_t workers() const { return workers_; }

 private:
  Crew& crew_;
  std::size_t workers_;
  std::deque<News> answers_;
};

struct JobLearningNothing {
  PhaseConfig phase;
  std::size_t values = 1;  // of a gradient, float32
  std::int64_t gradients = 1;
  double momentum = 0.0;
};

// To its end. Throws std::runtime_error where it does not get on, and what the crew throws.
void carry_out(const JobLearningNothing& job, CrewLearningNothing& crew, RunObserver& observer);

}  // namespace paceline::live
