// Watches one run and keeps what its results need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <variant>

#include "sim/engine/observer.hpp"
#include "sim/report/run_result.hpp"

namespace paceline {

class RunRecorder final : public RunObserver {
 public:
  explicit RunRecorder(Seed seed);

  void on_event(Seconds now, const Event& event) override;
  void on_action(Seconds now, const Action& action) override;
  void on_server_work(ServerId, Seconds, Seconds) override {}

  // When the last event happened.
  [[nodiscard]] Seconds last_time() const { return last_time_; }
  // What was recorded; `stalled_waiting` says who waited for what if the run stalled.
  [[nodiscard]] RunResult finish(Seconds end, const std::optional<std::string>& stalled_waiting);

 private:
  void record(Seconds now, const AdoptBatches& action);
  void record(Seconds now, const Apply& action);
  void record(Seconds now, const Evaluate& action);
  void record(const Evaluated& event);
  void record(Seconds now, const Stop& action);

  RunResult result_;
  Seconds last_time_;
  // An evaluation is of the snapshot taken when it was asked for, whenever its result is known.
  std::map<std::uint64_t, CurvePoint> under_evaluation_;  // by updates
};

}  // namespace paceline
