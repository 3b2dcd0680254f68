#include "calibrate/measure/core_states.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/logs/statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t fewest_processes = 2;  // below, a point has no interval
// The server's operations follow after all batches.
constexpr std::array between_round_trips{Operation::forward_backward, Operation::forward,
                                         Operation::optimizer_step, Operation::core_round_trip};

struct Point {
  std::int64_t batch = 1;
  int process = 0;
  double nearest_s = 0.0;  // of its round trips
  double farthest_s = 0.0;
  std::optional<double> step_s = std::nullopt;

  [[nodiscard]] bool moved() const { return farthest_s > same_state_factor * nearest_s; }
  [[nodiscard]] double log_round_trip() const { return 0.5 * std::log(nearest_s * farthest_s); }
};
using Points = std::vector<Point>;

std::map<int, Points> points_by_cores(const std::vector<Sample>& samples) {
  std::map<std::tuple<int, std::int64_t, int>, double> steps;  // by cores, batch and process
  for (const Sample& sample : samples)
    if (sample.operation == Operation::forward_backward)
      steps[{sample.cores, sample.batch, sample.process}] = mean_without_stalls(sample.seconds);
  std::map<int, Points> points;
  for (const Sample& sample : samples) {
    if (sample.operation != Operation::core_round_trip) continue;
    const auto [nearest, farthest] = std::ranges::minmax(sample.seconds);
    Point point{sample.batch, sample.process, nearest, farthest};
    if (const auto step = steps.find({sample.cores, sample.batch, sample.process}); step != steps.end())
      point.step_s = step->second;
    points[sample.cores].push_back(point);
  }
  return points;
}

// Nearest state first; points whose cores moved are in none.
std::vector<Points> states_of(Points points) {
  std::erase_if(points, [](const Point& point) { return point.moved(); });
  std::ranges::stable_sort(points, {}, &Point::log_round_trip);
  std::vector<Points> states;
  for (const Point& point : points) {
    const bool begins = states.empty() || point.log_round_trip() - states.back().back().log_round_trip() >
                                              std::log(same_state_factor);
    if (begins) states.emplace_back();
    states.back().push_back(point);
  }
  return states;
}

double round_trip_of(const Points& state) {
  double sum = 0.0;
  for (const Point& point : state) sum += point.log_round_trip();
  return std::exp(sum / static_cast<double>(state.size()));
}

// The largest state, or the one nearest to the round trip wanted; the end where there is none.
std::vector<Points>::const_iterator main_state(const std::vector<Points>& states,
                                               std::optional<double> wanted_s) {
  if (!wanted_s) return std::ranges::max_element(states, {}, &Points::size);
  const auto distance = [&](const Points& state) {
    return std::abs(std::log(round_trip_of(state) / *wanted_s));
  };
  const auto found = std::ranges::min_element(states, {}, distance);
  return found != states.end() && distance(*found) < std::log(same_state_factor) ? found : states.end();
}

std::map<std::int64_t, std::vector<double>> steps_by_batch(const Points& state) {
  std::map<std::int64_t, std::vector<double>> steps;
  for (const Point& point : state)
    if (point.step_s) steps[point.batch].push_back(*point.step_s);
  return steps;
}

std::optional<double> slowdown_of(const Points& state, const Points& main) {
  const auto of_main = steps_by_batch(main);
  std::vector<double> factors;
  for (const Point& point : state)
    if (const auto same_batch = of_main.find(point.batch); point.step_s && same_batch != of_main.end())
      factors.push_back(*point.step_s / median(same_batch->second));
  return factors.empty() ? std::nullopt : std::optional(median(factors));
}

std::vector<std::int64_t> seldom_seen(const Points& state, const Points& points) {
  std::set<std::int64_t> batches;
  for (const Point& point : points) batches.insert(point.batch);
  for (const auto& [batch, steps] : steps_by_batch(state))
    if (steps.size() >= fewest_processes) batches.erase(batch);
  return {batches.begin(), batches.end()};
}

using PointsAside = std::set<std::pair<std::int64_t, int>>;  // batch and process

// What is found of one core count; the points that are not of its main state are added to `aside`.
CoreStates divide(int cores, const Points& points, std::optional<double> wanted_s, PointsAside& aside) {
  CoreStates found{cores, {}};
  const std::vector<Points> states = states_of(points);
  const auto main = main_state(states, wanted_s);
  for (auto state = states.begin(); state != states.end(); ++state) {
    CoreState described{round_trip_of(*state), static_cast<int>(state->size())};
    if (state == main) {
      found.main = described;
      continue;
    }
    if (main != states.end()) described.slowdown = slowdown_of(*state, *main);
    found.others.push_back(described);
    for (const Point& point : *state) aside.insert({point.batch, point.process});
  }
  for (const Point& point : points) {
    if (!point.moved()) continue;
    aside.insert({point.batch, point.process});
    ++found.moved_points;
  }
  found.mixed_batches = seldom_seen(main == states.end() ? Points{} : *main, points);
  return found;
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
    PointsAside aside;
    found.push_back(divide(cores, points,
                           of_cores == wanted.end() ? std::nullopt : std::optional(of_cores->second), aside));
    for (Sample& sample : samples)
      if (sample.cores == cores && std::ranges::count(between_round_trips, sample.operation) != 0)
        sample.set_aside = aside.contains({sample.batch, sample.process}) &&
                           std::ranges::count(found.back().mixed_batches, sample.batch) == 0;
  }
  return found;
}

std::vector<Sample> counted(std::vector<Sample> samples) {
  std::erase_if(samples, [](const Sample& sample) { return sample.set_aside; });
  return samples;
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
    const std::string fits =
        of_cores.told_apart()
            ? "The fits describe the first of these alone"
            : fmt::format(
                  "The fits describe the first of these, but mix all at batch {}, where it was not "
                  "seen twice: give it more time with --budget",
                  fmt::join(of_cores.mixed_batches, ", "));
    warnings.push_back(fmt::format(
        "the {} cores moved nearer or apart while they were measured, as a host moves those of its guests. A "
        "cache line there and back took {}. {}",
        of_cores.cores, fmt::join(parts, "; "), fits));
  }
  return warnings;
}

}  // namespace paceline::calibrate
