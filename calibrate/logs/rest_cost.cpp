#include "calibrate/logs/rest_cost.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr double shortest_stop_s = 5e-4;

// What each step waited beyond what it usually does.
std::vector<double> waits_of(const std::vector<OwnStep>& steps) {
  std::vector<double> waits_s;
  for (const OwnStep& step : steps) waits_s.push_back(step.wall_s - step.processor_s);
  if (steps.empty()) return waits_s;
  const double usual_s = median(waits_s);
  for (double& wait_s : waits_s) wait_s -= usual_s;
  return waits_s;
}

// The place of the rest meant.
std::optional<std::size_t> rest_of(double wait_s, const std::vector<Seconds>& rests) {
  for (std::size_t r = 0; r < rests.size(); ++r)
    if (std::abs(wait_s / rests[r].value() - 1.0) < 1.0 / 3.0) return r;
  return std::nullopt;
}

double trimmed_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const auto left_out = static_cast<std::ptrdiff_t>(values.size() / 10);
  return spread_of({values.begin() + left_out, values.end() - left_out}).mean;
}

// Steps around the place that no stop has touched.
std::vector<double> undisturbed_around(const std::vector<OwnStep>& steps, const std::vector<double>& waits_s,
                                       std::size_t place, std::size_t first) {
  constexpr std::size_t before = 3;
  constexpr std::size_t after = 4;
  std::vector<double> processor_s;
  for (std::size_t i = std::max(first + 1, place - std::min(place, before));
       i < std::min(steps.size(), place + after + 1); ++i)
    if (waits_s[i] < shortest_stop_s && waits_s[i - 1] < shortest_stop_s)
      processor_s.push_back(steps[i].processor_s);
  return processor_s;
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
                                          const std::vector<Seconds>& rests, const std::string& source) {
  const std::vector<double> waits_s = waits_of(steps);
  std::vector<std::vector<double>> rested_s(rests.size());
  std::vector<std::vector<double>> longer_s(rests.size());
  std::vector<double> undisturbed_s;
  for (std::size_t i = warm_up; i + 1 < steps.size(); ++i) {
    const std::optional<std::size_t> rest = rest_of(waits_s[i], rests);
    const std::vector<double> around = undisturbed_around(steps, waits_s, i, warm_up);
    if (!rest || around.empty() || waits_s[i + 1] >= shortest_stop_s) continue;
    const double usual_s = spread_of(around).mean;
    undisturbed_s.push_back(usual_s);
    rested_s[*rest].push_back(waits_s[i]);
    longer_s[*rest].push_back(steps[i].processor_s + steps[i + 1].processor_s - 2.0 * usual_s);
  }
  for (std::size_t r = 0; r < rests.size(); ++r)
    if (rested_s[r].size() < fewest_stops)
      throw UserError(
          fmt::format("{}: {} stops of {:g} ms, and {} are needed", source, rested_s[r].size(),
                      1e3 * rests[r].value(), fewest_stops),
          "more steps of a few milliseconds each, on a machine that does nothing else; the program "
          "itself, and no shell that starts it");
  const double usual_s = median(std::move(undisturbed_s));
  std::vector<RestedIteration> iterations = {{Seconds{}, Seconds{usual_s}, 0}};
  for (std::size_t r = 0; r < rests.size(); ++r) {
    const std::size_t count = rested_s[r].size();
    iterations.push_back({Seconds{median(std::move(rested_s[r]))},
                          Seconds{usual_s + trimmed_mean(std::move(longer_s[r]))}, count});
  }
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
