#include "sim/engine/simgrid/simgrid_collectives.hpp"

#include <utility>

#include <simgrid/kernel/Timer.hpp>

#include "sim/base/check.hpp"

namespace paceline {

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

SimGridCollectives::SimGridCollectives(JobNetwork& network, SimGridMessages& messages, Happened happened)
    : network_(network),
      messages_(messages),
      happened_(std::move(happened)),
      forgotten_(2 * network.network().edges.size()) {}

void SimGridCollectives::start(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                               Seconds undisturbed_until, Occurrence finish) {
  something_else_happens();
  const Seconds now{sg::Engine::get_clock()};
  // Messages of before that are still under way would change its time: then it is not the one remembered.
  const bool is_alone = messages_.under_way() == 0 && runs_.empty();
  Key key{algorithm, {members.begin(), members.end()}, size};
  const auto known = known_.find(key);
  if (is_alone && known != known_.end() && now + known->second.duration <= undisturbed_until) {
    known->second.times += 1.0;
    alone_ = Alone{std::nullopt, undisturbed_until, std::move(key), now, {}};
    return finish_at(now + known->second.duration, std::move(finish));
  }
  const CollectiveSchedule schedule(algorithm, members.size(), size);
  const std::vector<NodeId>& order = network_.order(algorithm, members);
  const RunId id = next_run_++;
  const auto start_message = [this, &order, id](const CollectiveRun::Message& message) {
    messages_.send(order[message.from], order[message.to], message.size,
                   [this, id, message] { arrived(id, message); });
  };
  if (is_alone && known == known_.end())
    alone_ = Alone{id, undisturbed_until, std::move(key), now, messages_.link_totals()};
  UnderWay& started =
      runs_.emplace(id, UnderWay{CollectiveRun(schedule, start_message), std::move(finish)}).first->second;
  started.run.begin();
  if (!alone_ || !schedule.repeats_one_round() || undisturbed_until <= now) return;
  started.looks_at_first_round = true;
  started.run.hold();
}

void SimGridCollectives::something_else_happens() {
  if (!alone_) return;
  check(alone_->run.has_value(), "the network is used during a collective that was to be undisturbed");
  alone_.reset();
}

void SimGridCollectives::arrived(RunId id, const CollectiveRun::Message& message) {
  const auto found = runs_.find(id);
  UnderWay& under_way = found->second;
  // A timer of this date fires after everything that completes at this date.
  if (std::exchange(under_way.looks_at_first_round, false))
    Timer::set(sg::Engine::get_clock(), [this, id] { end_of_first_round(id); });
  if (!under_way.run.arrived(message.from, message.to)) return;
  if (alone_ && alone_->run == id) {
    remember(1.0);
    alone_.reset();
  }
  happened_(std::move(under_way.finish));
  runs_.erase(found);
}

void SimGridCollectives::end_of_first_round(RunId id) {
  const auto found = runs_.find(id);
  UnderWay& under_way = found->second;
  if (!alone_ || alone_->run != id || !under_way.run.all_finished_first_round())
    return under_way.run.release();
  const auto rounds = static_cast<double>(under_way.run.schedule().rounds());
  const Seconds end = alone_->begin + rounds * (Seconds{sg::Engine::get_clock()} - alone_->begin);
  if (end > alone_->undisturbed_until) return under_way.run.release();
  remember(rounds);
  alone_->run.reset();
  finish_at(end, std::move(under_way.finish));
  runs_.erase(found);
}

// What was simulated since the collective began, so many times.
void SimGridCollectives::remember(double times) {
  std::vector<LinkTotals> use = messages_.link_totals();
  for (std::size_t i = 0; i < use.size(); ++i) use[i] = times * (use[i] - alone_->totals_before[i]);
  const Seconds duration = times * (Seconds{sg::Engine::get_clock()} - alone_->begin);
  // One part in `times` was simulated, and so counts already.
  known_.emplace(alone_->key, Known{duration, std::move(use), (times - 1.0) / times});
}

void SimGridCollectives::forget() {
  forgotten_ = link_totals();
  known_.clear();
}

std::vector<LinkTotals> SimGridCollectives::link_totals() const {
  std::vector<LinkTotals> all = forgotten_;
  for (const auto& [key, known] : known_)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += known.times * known.use[i];
  return all;
}

void SimGridCollectives::finish_at(Seconds date, Occurrence finish) {
  Timer::set(date.value(), [this, finish = std::move(finish)] {
    alone_.reset();
    happened_(finish);
  });
}

}  // namespace paceline
