// How the machines of a job change while it runs: levels, traces, stragglers, members. Policies see only the
// effects.
//
// Models:      for each worker: speed and bandwidth relative to its own, cores instead of its own, latency
//              added to each of its iterations, presence.
// Equation:    speed = level · trace · Π 1 / slowdown of the stragglers active;   bandwidth = level · trace;
//              added latency = Σ added_latency · round_trips of the stragglers active; of one message: Σ
//              added_latency. A random straggler lasts one window: a worker with random stream r straggles in
//              window k = [k·L, (k+1)·L) with probability p, drawn from the stream (seed, straggler, r, k).
//              A spell lasts one window likewise, of a length of its own: in each one a worker's computing
//              has a factor on its speed, log-normal with mean 1 and coefficient of variation cv, from the
//              stream (seed, spell, r, k): what is computed over many spells takes as long as without them.
//              What recurs every E begins at t, t + E, t + 2 E, …, with t the time it first begins.
// Units:       seconds; factors relative to the worker as the scenario describes it; epochs and progress
//              count samples applied.
// Assumptions: changes by epoch or progress happen with the update that reaches them; by time, on the dot.
//              What is in flight follows from then on. A later level replaces an earlier one of the same
//              worker and kind; one that lasts for a while stands before all that have no end, and when it
//              ends, these hold again.
//              Spells of different workers are independent.
// Not modelled: correlated stragglers; gradual changes (write steps).
// Source:      spells: docs/validation.md. OmniLearn, ACSOS 2020 (levels); Sync-Switch, ICDCS 2021
//              (stragglers that add latency).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <variant>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"

namespace paceline {

struct AtEpoch {
  double epoch = 0.0;
};
struct AtProgress {
  double fraction = 0.0;
};
using Moment = std::variant<Seconds, AtEpoch, AtProgress>;

// One line of a schedule; each list has one entry for each of `workers`.
struct Level {
  Moment at;
  std::vector<std::uint64_t> workers{};  // empty: all
  std::vector<double> speeds{};
  std::vector<int> cores{};
  std::vector<double> bandwidths{};
  std::optional<Seconds> every{};     // it begins again so often; absent: once
  std::optional<Seconds> for_long{};  // it lasts so long each time; absent: without end
};
struct Straggler {
  std::uint64_t worker = 0;
  Moment from;
  std::optional<Seconds> duration{};  // of one that comes once
  double slowdown = 1.0;
  Seconds added_latency{};
  double round_trips = 1.0;
  std::optional<Seconds> every{};     // it comes again so often …
  std::optional<Seconds> for_long{};  // … and lasts so long each time

  [[nodiscard]] Seconds lasts() const { return duration ? *duration : for_long.value_or(Seconds{}); }
};
struct RandomStragglers {
  double probability = 0.0;
  Seconds window{1.0};
  double slowdown = 1.0;
  Seconds added_latency{};
  double round_trips = 1.0;
};
// A worker's core is now faster, now slower, because of others that nobody knows of.
struct Spells {
  double cv = 0.0;  // of the speed
  Seconds length{0.1};
  friend bool operator==(const Spells&, const Spells&) = default;
};
enum class MembershipEvent { leaves, joins };
struct MembershipChange {
  Moment at;
  std::uint64_t worker = 0;
  MembershipEvent event = MembershipEvent::leaves;
};
// One row of a recorded trace: what is absent stays as it was.
struct TraceRow {
  Seconds time;
  std::uint64_t worker = 0;
  std::optional<double> speed{};
  std::optional<double> bandwidth{};
};

struct Heterogeneity {
  std::vector<Level> schedule;
  std::vector<TraceRow> trace;  // by time
  std::vector<Straggler> stragglers;
  std::optional<RandomStragglers> random_stragglers;
  std::optional<Spells> spells;
  std::vector<MembershipChange> membership;
};

// Reads a trace: CSV with the header `time_s,worker,speed,bandwidth` (columns in any order; speed or
// bandwidth may be left out): factors relative to the worker as the scenario describes it, above 0; an
// empty cell changes nothing. Rows ascend in time; `worker` counts from 0; text after # is a comment. Throws
// UserError with file and line when the file is missing or a row makes no sense.
[[nodiscard]] std::vector<TraceRow> read_trace(const std::filesystem::path& path, std::size_t workers);

struct WorkerCondition {
  bool is_present = true;
  double speed = 1.0;
  double bandwidth = 1.0;
  double spell = 1.0;  // on its speed, besides
  std::optional<int> cores;
  Seconds added_latency;    // to each iteration
  Seconds message_latency;  // to each message
  friend bool operator==(const WorkerCondition&, const WorkerCondition&) = default;
};

// How far a job is, for what happens at an epoch or a progress.
struct JobPosition {
  Seconds now;
  double epoch = 0.0;
  double progress = 0.0;
};

// A worker whose first membership event is to join is absent at the start.
[[nodiscard]] std::vector<bool> present_at_start(const std::vector<MembershipChange>& membership,
                                                 std::size_t workers);

class Conditions {
 public:
  // `random_streams`: of each worker (cluster.hpp).
  Conditions(Heterogeneity heterogeneity, std::vector<std::uint32_t> random_streams, Seed seed);

  // Brings everything up to date; returns the workers whose condition changed, ascending.
  std::vector<WorkerId> advance(const JobPosition& position);
  // Whether something happens at this position, for quick looks between dates.
  [[nodiscard]] bool is_due(const JobPosition& position) const;
  // The next date after the last position at which something may change by time alone.
  [[nodiscard]] std::optional<Seconds> next_date() const;
  // Whether a worker may still join by time alone, so that a job without workers need not be over.
  [[nodiscard]] bool awaits_workers() const;
  [[nodiscard]] const WorkerCondition& of(WorkerId worker) const { return conditions_.at(worker.value); }

 private:
  template <class Item>
  struct Active {
    Item item;
    Seconds until;
  };
  // What levels say of one worker.
  struct Levels {
    double speed = 1.0;
    double bandwidth = 1.0;
    std::optional<int> cores{};

    void adopt(const Level& level, std::size_t worker);
  };
  struct Factors {
    Levels levels;  // those without end
    double trace_speed = 1.0;
    double trace_bandwidth = 1.0;
    bool straggles_in_window = false;
    double spell = 1.0;
  };

  void follow_trace(Seconds now);
  void enter_windows(Seconds now);
  void draw_window();
  void draw_spells();
  [[nodiscard]] WorkerCondition condition(std::size_t worker) const;

  Heterogeneity plan_;  // what has happened is removed, but for the trace
  std::vector<std::uint32_t> random_streams_;
  Seed seed_;
  std::size_t trace_rows_done_ = 0;
  std::uint64_t window_ = 0;
  std::uint64_t spell_ = 0;
  std::vector<Active<Level>> active_levels_;  // those that end, in the order they began
  std::vector<Active<Straggler>> active_;
  std::vector<Factors> factors_;
  std::vector<WorkerCondition> conditions_;
};

}  // namespace paceline
