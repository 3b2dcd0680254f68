// Watches one run and keeps what its results need.
//
// Models:      counts and sums of the whole run, what each worker does (activity_tracker.hpp), phases,
//              servers' work; every iteration and every activity only when asked for.
// Units:       seconds since the start of the job, samples, updates.
// Assumptions: a phase ends when the switch to the next begins; without one, when the next begins.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "sim/engine/observer.hpp"
#include "sim/report/recording/activity_tracker.hpp"
#include "sim/report/recording/iteration_log.hpp"
#include "sim/report/recording/run_result.hpp"

namespace paceline {

// What grows with the length of a run, and so is kept only on request.
struct RecordingOptions {
  bool iterations = false;
  bool trace = false;
  bool self_profile = false;  // where the time of this program went; nothing that reaches a result file
};

class RunRecorder final : public RunObserver {
 public:
  explicit RunRecorder(Seed seed, RecordingOptions recording = {});

  void on_event(Seconds now, const Event& event) override;
  void on_action(Seconds now, const Action& action) override;
  void on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) override;
  void on_balance(Seconds now, BalanceCause cause, const Balance& balance) override;

  // When the last event happened.
  [[nodiscard]] Seconds last_time() const { return last_time_; }
  // What was recorded; `stalled_waiting` says who waited for what if the run stalled.
  [[nodiscard]] RunResult finish(Seconds end, const std::optional<std::string>& stalled_waiting);

 private:
  void record(Seconds, const StartIteration& action);
  void record(Seconds now, const AdoptBatches& action);
  void record(Seconds now, const Apply& action);
  void record(Seconds now, const Overwrite& action);
  // With their last shard.
  void record_applied(Seconds now, const std::vector<AppliedGradient>& gradients);
  void count_staleness(const AppliedGradient& gradient);
  void count_update();
  void record(Seconds now, const Evaluate& action);
  void record(Seconds now, const Evaluated& event);
  void record(Seconds now, const EnterPhase& action);
  void record(Seconds now, const Pause& action);
  void record(Seconds now, const Judge& action);
  void record(Seconds now, const Decide& action);
  void record(Seconds now, const Stop& action);
  void end_phase(Seconds now);
  void add_server_work(ServerId server, Seconds time);
  void finish_servers(Seconds end);
  void finish_trace(Seconds end);

  RecordingOptions recording_;
  RunResult result_;
  Seconds last_time_;
  ActivityTracker activities_;
  IterationLog iterations_;
  std::vector<decltype(RunResult::staleness)::iterator> latest_staleness_;  // by worker
  bool in_phase_ = false;
  double phase_staleness_sum_ = 0.0;
  double phase_gradients_ = 0.0;
  std::optional<Seconds> unanswered_since_;  // a change of conditions that no adjustment has followed yet
  // An evaluation is of the snapshot taken when it was asked for, whenever its result is known.
  std::map<std::uint64_t, CurvePoint> under_evaluation_;  // by updates
  // Work that servers have queued but not yet done; a job may end before it.
  std::deque<ServerSpan> queued_;
  // Of a trace: batch, and staleness once applied, by gradient.
  std::map<std::uint64_t, std::pair<std::int64_t, std::optional<std::uint64_t>>> gradients_;
  RunTrace trace_;
};

}  // namespace paceline
