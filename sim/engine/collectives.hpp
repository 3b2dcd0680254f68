// Collectives under way on a shared network: real messages, or the time that the same collective took before.
//
// A collective that has the network to itself is simulated once and remembered: with the same algorithm,
// members, size and link capacities it takes the same time and puts the same load on every link, so `finish`
// is simply scheduled. If all rounds of its schedule are alike and the first ended at one time for all
// members, the others take as long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/cluster/network_engine.hpp"
#include "sim/engine/collective.hpp"
#include "sim/engine/job_network.hpp"
#include "sim/engine/link_meter.hpp"

namespace paceline {

// A message of a collective: from and to are positions in the order of its members.
struct CollectiveMessage {
  std::uint64_t run = 0;
  CollectiveRun::Message message;
};

// What is to be done at a date: look at the first round of a run, or tell that a collective is over.
struct FirstRoundEnds {
  std::uint64_t run = 0;
};
using CollectiveCall = std::variant<FirstRoundEnds, Occurrence>;

// What carries them.
class CollectiveCarrier {
 public:
  CollectiveCarrier() = default;
  CollectiveCarrier(const CollectiveCarrier&) = delete;
  CollectiveCarrier& operator=(const CollectiveCarrier&) = delete;
  virtual ~CollectiveCarrier() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  // Calls `Collectives::arrived` when it has arrived.
  virtual void send(NodeId from, NodeId to, const CollectiveMessage& message) = 0;
  // Calls `Collectives::called` at that date, after everything that arrives then.
  virtual void call_at(Seconds date, const CollectiveCall& call) = 0;
  virtual void happened(Occurrence occurrence) = 0;
  // Messages, of collectives or not.
  [[nodiscard]] virtual std::size_t messages_under_way() const = 0;
  [[nodiscard]] virtual std::vector<LinkTotals> message_totals() const = 0;
};

class Collectives {
 public:
  // Keeps references to both.
  Collectives(JobNetwork& network, CollectiveCarrier& carrier, Shortcuts shortcuts)
      : network_(network),
        carrier_(carrier),
        remembers_(shortcuts == Shortcuts::on && !network.has_bursts()),
        forgotten_(2 * network.network().edges.size()) {}

  void start(Transport algorithm, std::span<const WorkerId> members, Bytes size, Seconds undisturbed_until,
             Occurrence finish) {
    something_else_happens();
    const Seconds begin = now();
    // Messages of before that are still under way would change its time: then it is not the one remembered.
    const bool is_alone = remembers_ && carrier_.messages_under_way() == 0 && runs_.empty();
    Key key{algorithm, {members.begin(), members.end()}, size};
    const auto known = known_.find(key);
    if (is_alone && known != known_.end() && begin + known->second.duration <= undisturbed_until) {
      known->second.times += known->second.parts;
      alone_ = Alone{std::nullopt, undisturbed_until, std::move(key), begin, {}};
      return carrier_.call_at(begin + known->second.duration, finish);
    }
    const CollectiveSchedule schedule(algorithm, members.size(), size);
    const std::vector<NodeId>& order = network_.order(algorithm, members);
    const RunId id = next_run_++;
    const auto start_message = [this, &order, id](const CollectiveRun::Message& message) {
      carrier_.send(order[message.from], order[message.to], {id, message});
    };
    if (is_alone && known == known_.end())
      alone_ = Alone{id, undisturbed_until, std::move(key), begin, carrier_.message_totals()};
    UnderWay& started =
        runs_.emplace(id, UnderWay{CollectiveRun(schedule, start_message), finish}).first->second;
    started.run.begin();
    if (!alone_ || !schedule.repeats_one_round() || undisturbed_until <= begin) return;
    started.looks_at_first_round = true;
    started.run.hold();
  }
  void arrived(const CollectiveMessage& message) {
    const RunId id = message.run;
    const auto found = runs_.find(id);
    if (found == runs_.end()) return;  // called off
    UnderWay& under_way = found->second;
    if (std::exchange(under_way.looks_at_first_round, false)) carrier_.call_at(now(), FirstRoundEnds{id});
    if (!under_way.run.arrived(message.message.from, message.message.to)) return;
    if (alone_ && alone_->run == id) {
      remember(1.0);
      alone_.reset();
    }
    carrier_.happened(under_way.finish);
    runs_.erase(found);
  }
  void called(const CollectiveCall& call) {
    if (const auto* first_round = std::get_if<FirstRoundEnds>(&call))
      return end_of_first_round(first_round->run);
    alone_.reset();
    carrier_.happened(std::get<Occurrence>(call));
  }
  // As of a timeline. Of one whose time was taken from before nothing is left to call off: it ends now.
  [[nodiscard]] bool call_off(const BucketSummed& sum) {
    alone_.reset();
    return std::erase_if(runs_, [&](const auto& one) { return is_of(sum, one.second.finish); }) > 0;
  }
  // A message or a change of bandwidth: a collective under way does not have the network to itself any more.
  // A defect if its time was taken from before.
  void something_else_happens() {
    if (!alone_) return;
    check(alone_->run.has_value(), "the network is used during a collective that was to be undisturbed");
    alone_.reset();
  }
  // Capacities change: what was remembered holds no more.
  void forget() {
    forgotten_ = link_totals();
    known_.clear();
  }
  // The load of what was not simulated message by message, by direction.
  [[nodiscard]] std::vector<LinkTotals> link_totals() const {
    std::vector<LinkTotals> all = forgotten_;
    for (const auto& [key, known] : known_)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += known.times * known.use[i];
    return all;
  }

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
    std::vector<LinkTotals> use;  // what its simulated part added to each direction
    double parts = 1.0;           // as long as that, and with as much load, in one such collective
    double times = 0.0;           // that such a part was not simulated
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

  void end_of_first_round(RunId id) {
    const auto found = runs_.find(id);
    if (found == runs_.end()) return;  // called off
    UnderWay& under_way = found->second;
    if (!alone_ || alone_->run != id || !under_way.run.all_finished_first_round())
      return under_way.run.release();
    const auto rounds = static_cast<double>(under_way.run.schedule().rounds());
    const Seconds end = alone_->begin + rounds * (now() - alone_->begin);
    if (end > alone_->undisturbed_until) return under_way.run.release();
    remember(rounds);
    alone_->run.reset();
    carrier_.call_at(end, under_way.finish);
    runs_.erase(found);
  }
  // So many times what was simulated since the collective began.
  void remember(double parts) {
    std::vector<LinkTotals> use = carrier_.message_totals();
    for (std::size_t i = 0; i < use.size(); ++i) use[i] = use[i] - alone_->totals_before[i];
    const Seconds duration = parts * (now() - alone_->begin);
    // Of the parts one was simulated, and so counts already.
    known_.emplace(alone_->key, Known{duration, std::move(use), parts, parts - 1.0});
  }
  [[nodiscard]] Seconds now() const { return carrier_.now(); }

  JobNetwork& network_;
  CollectiveCarrier& carrier_;
  bool remembers_;
  std::map<Key, Known> known_;
  std::vector<LinkTotals> forgotten_;  // load of what is no longer known
  std::map<RunId, UnderWay> runs_;
  RunId next_run_ = 0;
  std::optional<Alone> alone_;
};

}  // namespace paceline
