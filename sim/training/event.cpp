#include "sim/training/event.hpp"

#include "sim/training/action.hpp"

namespace paceline {
namespace {

struct Subject {
  std::uint64_t operator()(const IterationFinished& e) const { return e.worker.value; }
  std::uint64_t operator()(const GradientArrived& e) const { return e.worker.value; }
  std::uint64_t operator()(const ParametersArrived& e) const { return e.worker.value; }
  std::uint64_t operator()(const AllReduceFinished& e) const { return e.update.value; }
  std::uint64_t operator()(const StepFinished& e) const { return e.update.value; }
  std::uint64_t operator()(const PauseEnded&) const { return 0; }
  std::uint64_t operator()(const Evaluated& e) const { return e.updates; }
};

}  // namespace

std::pair<std::size_t, std::uint64_t> order_among_equals(const Event& event) {
  return {event.index(), std::visit(Subject{}, event)};
}

std::string to_string(EndReason reason) {
  switch (reason) {
    case EndReason::target_reached:
      return "target-reached";
    case EndReason::workload_done:
      return "workload-done";
    case EndReason::diverged:
      return "diverged";
  }
  return "unknown";
}

}  // namespace paceline
