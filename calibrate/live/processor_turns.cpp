#include "calibrate/live/processor_turns.hpp"

#include <thread>

#include <fmt/format.h>

#include "calibrate/live/scheduling.hpp"

namespace paceline::live {
namespace {

std::optional<Seconds> slice_of_usual_thread() {
  std::optional<Seconds> slice;
  std::jthread([&] { slice = scheduling().slice; }).join();
  return slice;
}

}  // namespace

std::optional<Turns> processor_turns() {
  const std::optional<Seconds> length = slice_of_usual_thread();
  if (!length) return std::nullopt;
  return Turns{*length, scheduling().nice == highest_usual_priority};
}

std::string scenario_words(const Turns& turns) {
  return fmt::format("turns: {{length: {:.3g} ms, servers_first: {}}}", 1e3 * turns.length.value(),
                     turns.servers_first);
}

}  // namespace paceline::live
