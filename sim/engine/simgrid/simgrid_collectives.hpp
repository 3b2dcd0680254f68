// Collectives under SimGrid: real messages, or the time that the same collective took before. Private to
// sim/engine.
//
// A collective that has the network to itself is simulated once and remembered: with the same algorithm,
// members, size and link capacities it takes the same time and puts the same load on every link, so `finish`
// is simply scheduled. If all rounds of its schedule are alike and the first ended at one time for all
// members, the others take as long.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "sim/engine/collective.hpp"
#include "sim/engine/simgrid/simgrid_messages.hpp"

namespace paceline {

class SimGridCollectives {
 public:
  using Happened = std::function<void(Occurrence)>;
  SimGridCollectives(JobNetwork& network, SimGridMessages& messages, Happened happened);
  SimGridCollectives(const SimGridCollectives&) = delete;
  SimGridCollectives& operator=(const SimGridCollectives&) = delete;

  void start(Transport algorithm, std::span<const WorkerId> members, Bytes size, Seconds undisturbed_until,
             Occurrence finish);
  // A message or a change of bandwidth: a collective under way does not have the network to itself any more.
  // A defect if its time was taken from before.
  void something_else_happens();
  // Capacities change: what was remembered holds no more.
  void forget();
  // The load of what was not simulated message by message, by direction.
  [[nodiscard]] std::vector<LinkTotals> link_totals() const;

 private:
  using RunId = std::uint64_t;
  struct Key {
    Transport algorithm = Transport::ring;
    std::vector<WorkerId> members;
    Bytes size;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Known {
    Seconds duration;
    std::vector<LinkTotals> use;  // what one such collective adds to each direction
    double times = 0.0;           // that its load was not simulated
  };
  struct UnderWay {
    CollectiveRun run;
    Occurrence finish;
    bool looks_at_first_round = false;
  };
  // The collective that has the network to itself.
  struct Alone {
    std::optional<RunId> run;  // none: its end is scheduled
    Seconds undisturbed_until;
    Key key;
    Seconds begin;
    std::vector<LinkTotals> totals_before;
  };

  void arrived(RunId id, const CollectiveRun::Message& message);
  void end_of_first_round(RunId id);
  void remember(double times);
  void finish_at(Seconds date, Occurrence finish);

  JobNetwork& network_;
  SimGridMessages& messages_;
  Happened happened_;
  std::map<Key, Known> known_;
  std::vector<LinkTotals> forgotten_;  // load of what is no longer known
  std::map<RunId, UnderWay> runs_;
  RunId next_run_ = 0;
  std::optional<Alone> alone_;
};

}  // namespace paceline
