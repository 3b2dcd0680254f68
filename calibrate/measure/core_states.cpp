#include "calibrate/measure/core_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t fewest_processes = 2;  // below, a point has no interval

struct Point {
  std::int64_t batch = 1;
  int process = 0;
  double nearest_s = 0.0;  // of its round trips
  double farthest_s = 0.0;
  std::optional<double> step_s = std::nullopt;

  [[nodiscard]] bool moved() const { return farthest_s > same_state_factor * nearest_s; }
  [[nodiscard]] double log_round_trip() const { return 0.5 * std::log(nearest_s * farthest_s); }
};

using PointsOfState = std::vector<Point>;

std::map<int, std::vector<Point>> points_by_cores(const std::vector<Sample>& samples) {
  std::map<std::pair<int, std::int64_t>, std::map<int, double>> steps;  // by cores and batch, then by process
  for (const Sample& sample : samples)
    if (sample.operation == Operation::forward_backward)
      steps[{sample.cores, sample.batch}][sample.process] = mean_without_stalls(sample.seconds);
  std::map<int, std::vector<Point>> points;
  for (const Sample& sample : samples) {
    if (sample.operation != Operation::core_round_trip) continue;
    const auto [nearest, farthest] = std::ranges::minmax(sample.seconds);
    Point point{sample.batch, sample.process, nearest, farthest};
    const auto& of_batch = steps[{sample.cores, sample.batch}];
    if (const auto step = of_batch.find(sample.process); step != of_batch.end()) point.step_s = step->second;
    points[sample.cores].push_back(point);
  }
  return points;
}

// Nearest state first; points whose cores moved are in none.
std::vector<PointsOfState> states_of(std::vector<Point> points) {
  std::erase_if(points, [](const Point& point) { return point.moved(); });
  std::ranges::stable_sort(points, {}, &Point::log_round_trip);
  std::vector<PointsOfState> states;
  for (const Point& point : points) {
    const bool begins = states.empty() || point.log_round_trip() - states.back().back().log_round_trip() >
                                              std::log(same_state_factor);
    if (begins) states.emplace_back();
    states.back().push_back(point);
  }
  return states;
}

double round_trip_of(const PointsOfState& state) {
  double sum = 0.0;
  for (const Point& point : state) sum += point.log_round_trip();
  return std::exp(sum / static_cast<double>(state.size()));
}

std::optional<std::size_t> largest(const std::vector<PointsOfState>& states) {
  if (states.empty()) return std::nullopt;
  return std::ranges::max_element(states, {}, &PointsOfState::size) - states.begin();
}

// Nothing when no state has this round trip.
std::optional<std::size_t> nearest(const std::vector<PointsOfState>& states, double round_trip_s) {
  const auto distance = [&](const PointsOfState& state) {
    return std::abs(std::log(round_trip_of(state) / round_trip_s));
  };
  const auto found = std::ranges::min_element(states, {}, distance);
  if (found == states.end() || distance(*found) >= std::log(same_state_factor)) return std::nullopt;
  return found - states.begin();
}

std::map<std::int64_t, std::vector<double>> steps_by_batch(const PointsOfState& state) {
  std::map<std::int64_t, std::vector<double>> steps;
  for (const Point& point : state)
    if (point.step_s) steps[point.batch].push_back(*point.step_s);
  return steps;
}

std::optional<double> slowdown_of(const PointsOfState& state, const PointsOfState& main) {
  const auto of_main = steps_by_batch(main);
  std::vector<double> factors;
  for (const Point& point : state)
    if (const auto same_batch = of_main.find(point.batch); point.step_s && same_batch != of_main.end())
      factors.push_back(*point.step_s / median(same_batch->second));
  if (factors.empty()) return std::nullopt;
  return median(factors);
}

std::vector<std::int64_t> seldom_seen(const PointsOfState& state, const std::vector<Point>& points) {
  std::set<std::int64_t> batches;
  for (const Point& point : points) batches.insert(point.batch);
  const auto seen = steps_by_batch(state);
  std::erase_if(batches, [&](std::int64_t batch) {
    const auto found = seen.find(batch);
    return found != seen.end() && found->second.size() >= fewest_processes;
  });
  return {batches.begin(), batches.end()};
}

// What is found of one core count, and the (batch, process) pairs that are not of its main state.
struct Division {
  CoreStates states;
  std::set<std::pair<std::int64_t, int>> of_others;
};

// The server's operations follow after all batches.
bool is_between_round_trips(Operation operation) {
  switch (operation) {
    case Operation::forward_backward:
    case Operation::forward:
    case Operation::optimizer_step:
    case Operation::core_round_trip:
      return true;
    default:
      return false;
  }
}

Division divide(int cores, const std::vector<Point>& points, std::optional<double> wanted) {
  Division division{{cores, {}}, {}};
  const std::vector<PointsOfState> states = states_of(points);
  CoreStates& found = division.states;
  found.moved_points =
      static_cast<int>(std::ranges::count_if(points, [](const Point& point) { return point.moved(); }));
  const std::optional<std::size_t> main = wanted ? nearest(states, *wanted) : largest(states);
  for (std::size_t i = 0; i < states.size(); ++i) {
    CoreState state{round_trip_of(states[i]), static_cast<int>(states[i].size())};
    if (i == main) {
      found.main = state;
      continue;
    }
    if (main) state.slowdown = slowdown_of(states[i], states[*main]);
    found.others.push_back(state);
    for (const Point& point : states[i]) division.of_others.insert({point.batch, point.process});
  }
  for (const Point& point : points)
    if (point.moved()) division.of_others.insert({point.batch, point.process});
  found.mixed_batches = seldom_seen(main ? states[*main] : PointsOfState{}, points);
  return division;
}

std::string fit_text(const CoreStates& states) {
  if (states.told_apart()) return "The fits describe the first of these alone";
  return fmt::format(
      "The fits describe the first of these, but mix all at batch {}, where it was not seen twice: give it "
      "more "
      "time with --budget",
      fmt::join(states.mixed_batches, ", "));
}

std::string state_text(const CoreState& state) {
  std::string text = fmt::format("{:.0f} ns at {} points", 1e9 * state.round_trip_s, state.points);
  if (state.slowdown) text += fmt::format(", where steps took {:.2g} times as long", *state.slowdown);
  return text;
}

}  // namespace

std::vector<CoreStates> set_states_apart(std::vector<Sample>& samples, const std::map<int, double>& wanted) {
  for (Sample& sample : samples) sample.set_aside = false;
  std::vector<CoreStates> found;
  for (const auto& [cores, points] : points_by_cores(samples)) {
    const auto of_cores = wanted.find(cores);
    const Division division =
        divide(cores, points, of_cores == wanted.end() ? std::nullopt : std::optional(of_cores->second));
    found.push_back(division.states);
    for (Sample& sample : samples)
      if (sample.cores == cores && is_between_round_trips(sample.operation))
        sample.set_aside = division.of_others.contains({sample.batch, sample.process}) &&
                           !std::ranges::count(division.states.mixed_batches, sample.batch);
  }
  return found;
}

std::vector<Sample> counted(const std::vector<Sample>& samples) {
  std::vector<Sample> kept;
  for (const Sample& sample : samples)
    if (!sample.set_aside) kept.push_back(sample);
  return kept;
}

std::vector<std::string> warnings_about(const std::vector<CoreStates>& states) {
  std::vector<std::string> warnings;
  for (const CoreStates& of_cores : states) {
    if (of_cores.others.empty() && of_cores.moved_points == 0) continue;
    std::vector<std::string> parts;
    if (of_cores.main.points > 0) parts.push_back(state_text(of_cores.main));
    for (const CoreState& other : of_cores.others) parts.push_back(state_text(other));
    if (of_cores.moved_points > 0)
      parts.push_back(fmt::format("a change at {} points", of_cores.moved_points));
    warnings.push_back(fmt::format(
        "the {} cores moved nearer or apart while they were measured, as a host moves those of its guests. A "
        "cache line there and back took {}. {}",
        of_cores.cores, fmt::join(parts, "; "), fit_text(of_cores)));
  }
  return warnings;
}

}  // namespace paceline::calibrate
