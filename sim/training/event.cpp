#include "sim/training/event.hpp"

namespace paceline {
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;

struct Subject {
  Key operator()(const WorkerLeft& e) const { return {e.worker.value, 0}; }
  Key operator()(const WorkerJoined& e) const { return {e.worker.value, 0}; }
  Key operator()(const IterationFinished& e) const { return {e.worker.value, 0}; }
  Key operator()(const GradientArrived& e) const { return {e.worker.value, e.server.value}; }
  Key operator()(const ParametersArrived& e) const { return {e.worker.value, e.server.value}; }
  Key operator()(const AllReduceFinished& e) const { return {e.update.value, 0}; }
  Key operator()(const StepFinished& e) const { return {e.update.value, e.server.value}; }
  Key operator()(const CoordinationFinished& e) const { return {e.update.value, 0}; }
  Key operator()(const PauseEnded& e) const { return {e.worker.value, 0}; }
  Key operator()(const TimerExpired& e) const { return {e.phase, 0}; }
  Key operator()(const Evaluated& e) const { return {e.updates, 0}; }
};

}  // namespace

std::tuple<std::size_t, std::uint64_t, std::uint64_t> order_among_equals(const Event& event) {
  const auto [subject, server] = std::visit(Subject{}, event);
  return {event.index(), subject, server};
}

}  // namespace paceline
