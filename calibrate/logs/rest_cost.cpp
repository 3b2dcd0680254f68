#include "calibrate/logs/rest_cost.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

// What each step waited beyond what it usually does.
std::vector<double> waits_of(const std::vector<OwnStep>& steps) {
  std::vector<double> waits_s;
  for (const OwnStep& step : steps) waits_s.push_back(step.wall_s - step.processor_s);
  if (steps.empty()) return waits_s;
  const double usual_s = median(waits_s);
  for (double& wait_s : waits_s) wait_s -= usual_s;
  return waits_s;
}

double trimmed_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const auto left_out = static_cast<std::ptrdiff_t>(values.size() / 10);
  return spread_of({values.begin() + left_out, values.end() - left_out}).mean;
}

bool is_rest(double wait_s, Seconds rest) {
  return std::abs(wait_s / rest.value() - 1.0) < 1.0 / 3.0;
}

struct Stop {
  double rest_s;
  double usual_s;   // of a step after it, later
  double longer_s;  // that the first steps take together
};

// For one of these rests, with steps enough until the next one.
std::vector<Stop> stops_of(const std::vector<OwnStep>& steps, std::size_t warm_up,
                           const std::vector<Seconds>& rests) {
  constexpr std::size_t longer = 6;
  const std::vector<double> waits_s = waits_of(steps);
  std::vector<std::size_t> places;
  for (std::size_t i = warm_up; i < steps.size(); ++i)
    if (std::ranges::any_of(rests, [&](Seconds rest) { return is_rest(waits_s[i], rest); }))
      places.push_back(i);
  const auto processor_s = [&](std::size_t from, std::size_t to) {
    return std::transform_reduce(steps.begin() + static_cast<std::ptrdiff_t>(from),
                                 steps.begin() + static_cast<std::ptrdiff_t>(to), 0.0, std::plus<>{},
                                 [](const OwnStep& step) { return step.processor_s; });
  };
  std::vector<Stop> stops;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const std::size_t count = places[i + 1] - places[i];
    if (count < fewest_steps_after_stop) continue;
    const std::size_t usual = places[i] + longer;
    const double usual_s = processor_s(usual, places[i + 1]) / static_cast<double>(count - longer);
    stops.push_back(
        {waits_s[places[i]], usual_s, processor_s(places[i], usual) - static_cast<double>(longer) * usual_s});
  }
  return stops;
}

// What a step takes longer; `usual_s` without.
RestedIteration rested_step(const std::vector<Stop>& stops, Seconds rest, double usual_s) {
  std::vector<double> rests_s;
  std::vector<double> longer_s;
  for (const Stop& stop : stops) {
    if (!is_rest(stop.rest_s, rest)) continue;
    rests_s.push_back(stop.rest_s);
    longer_s.push_back(stop.longer_s);
  }
  const std::size_t count = rests_s.size();
  if (count < fewest_stops) return {rest, Seconds{usual_s}, count};
  return {Seconds{median(std::move(rests_s))}, Seconds{usual_s + trimmed_mean(std::move(longer_s))}, count};
}

double usual_step_s(const std::vector<Stop>& stops) {
  std::vector<double> usual_s;
  for (const Stop& stop : stops) usual_s.push_back(stop.usual_s);
  return usual_s.empty() ? 0.0 : median(std::move(usual_s));
}

}  // namespace

std::vector<RestCost> resume_costs(const std::vector<RestedIteration>& iterations) {
  check(!iterations.empty(), "rests cost more than the first one");
  const RestedIteration& least = iterations.front();
  std::vector<RestCost> costs;
  if (least.rest > Seconds{}) costs.push_back({least.rest, Seconds{}});
  for (std::size_t i = 1; i < iterations.size(); ++i)
    costs.push_back(
        {iterations[i].rest, std::max(Seconds{}, iterations[i].processor_time - least.processor_time)});
  return costs;
}

std::vector<RestedIteration> rested_steps(const std::vector<OwnStep>& steps, std::size_t warm_up,
                                          const std::vector<Seconds>& rests, int cores,
                                          const std::string& source) {
  const std::vector<Stop> stops = stops_of(steps, warm_up, rests);
  std::vector<RestedIteration> iterations = {{Seconds{}, Seconds{usual_step_s(stops)}, 0}};
  for (const Seconds rest : rests) {
    iterations.push_back(rested_step(stops, rest, iterations.front().processor_time.value()));
    if (iterations.back().count < fewest_stops)
      throw UserError(
          fmt::format("{}: {} stops of {:g} ms with {} steps after them, and {} are needed", source,
                      iterations.back().count, 1e3 * rest.value(), fewest_steps_after_stop, fewest_stops),
          "more steps of a few milliseconds each, on a machine that does nothing else; the program "
          "itself, and no shell that starts it");
  }
  for (RestedIteration& one : iterations) one.processor_time = one.processor_time / cores;
  return iterations;
}

std::string scenario_words(const std::vector<RestCost>& costs) {
  std::vector<std::string> words;
  for (const RestCost& cost : costs)
    words.push_back(fmt::format("{{rest: {:.3g} ms, time: {:.3g} ms}}", 1e3 * cost.rest.value(),
                                1e3 * cost.time.value()));
  return fmt::format("resume: [{}]", fmt::join(words, ", "));
}

}  // namespace paceline::calibrate
