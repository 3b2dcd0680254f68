#include "calibrate/logs/own_steps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/number_text.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* line_hint =
    "a line is `step <n> <wall_s> <cpu_s> <samples>`, e.g. step 12 0.0314 0.0298 32";
constexpr std::size_t own_fields = 5;
constexpr double longest_step_s = 86400.0;

struct Word {
  std::string text;
  int column = 1;
};

std::vector<Word> words_of(const std::string& line) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t first = line.find_first_not_of(" \t\r", i);
    if (first == std::string::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", first), line.size());
    words.push_back({line.substr(first, end - first), static_cast<int>(first) + 1});
    i = end;
  }
  return words;
}

MeasuredMean mean_of(const std::vector<double>& values, double variance_by_spells) {
  const double bound = stall_bound * median(values);
  std::vector<double> steady;
  std::ranges::copy_if(values, std::back_inserter(steady), [&](double value) { return value <= bound; });
  const Spread spread = spread_of(steady);
  if (spread.mean == 0.0) return {};
  constexpr double normal_quantile = 1.96;  // 0.975
  const double relative = spread.deviation / spread.mean;
  const double variance = relative * relative / static_cast<double>(steady.size()) + variance_by_spells;
  return {spread.mean, normal_quantile * spread.mean * std::sqrt(variance)};
}

// Every step's time above the one before: no loop slows down like that.
bool grows_throughout(const std::vector<OwnStep>& steps) {
  return steps.size() >= fewest_own_steps &&
         std::ranges::is_sorted(steps, std::ranges::less_equal(), &OwnStep::wall_s) &&
         steps.back().wall_s > 2.0 * steps.front().wall_s;
}

}  // namespace

std::optional<OwnStep> parse_own_step(const std::string& line, const std::string& source, int line_number) {
  const std::vector<Word> words = words_of(line);
  if (words.empty() || words.front().text != "step") return std::nullopt;
  const auto fail = [&](int column, const std::string& what) {
    throw UserError(render({Severity::error, {source, line_number, column}, what, line_hint}, line));
  };
  if (words.size() != own_fields)
    fail(words.back().column, fmt::format("{} words after `step`, 4 are needed", words.size() - 1));
  const auto number = [&](std::size_t i, const char* name, double lowest, double highest, bool is_whole) {
    const std::optional<double> value = to_number(words[i].text);
    if (!value || !(*value >= lowest && *value <= highest) || (is_whole && *value != std::floor(*value)))
      fail(words[i].column,
           fmt::format("{} must be a {} from {:g} to {:g}, is `{}`", name,
                       is_whole ? "whole number" : "number", lowest, highest, words[i].text));
    return *value;
  };
  constexpr double largest_count = 1e15;
  OwnStep step;
  step.step = static_cast<std::int64_t>(number(1, "the step", 0.0, largest_count, true));
  step.wall_s = number(2, "its wall-clock time", 1e-9, longest_step_s, false);
  step.processor_s = number(3, "its processor time", 0.0, 1e3 * longest_step_s, false);
  step.samples = static_cast<std::int64_t>(number(4, "its samples", 1.0, largest_count, true));
  return step;
}

OwnTimes own_times(const std::vector<OwnStep>& steps, std::size_t warm_up, const std::string& source) {
  if (steps.size() < warm_up + fewest_own_steps)
    throw UserError(fmt::format("{}: {} steps, of which {} warm up: at least {} more are needed", source,
                                steps.size(), std::min(warm_up, steps.size()), fewest_own_steps),
                    steps.empty() ? line_hint : "let it train longer, or lower --warm-up");
  if (grows_throughout(steps))
    throw UserError(fmt::format("{}: every step takes longer than the one before, from {:g} s to {:g} s",
                                source, steps.front().wall_s, steps.back().wall_s),
                    "each line says the time of its own step, not the time since the start");
  std::map<std::int64_t, std::vector<const OwnStep*>> by_batch;
  for (std::size_t i = warm_up; i < steps.size(); ++i) by_batch[steps[i].samples].push_back(&steps[i]);
  const std::optional<StepVariation> variation = variation_of(steps, warm_up);
  OwnTimes times;
  for (const auto& [batch, of_batch] : by_batch) {
    if (of_batch.size() < fewest_own_steps) {
      times.left_out.push_back(fmt::format("batch {}: {} steps", batch, of_batch.size()));
      continue;
    }
    std::vector<double> wall;
    std::vector<double> processor;
    for (const OwnStep* step : of_batch) {
      wall.push_back(step->wall_s);
      processor.push_back(step->processor_s);
    }
    const Seconds over{std::accumulate(wall.begin(), wall.end(), 0.0)};
    const double by_spells = variation ? variance_of_mean(variation->spells, over) : 0.0;
    times.batches.push_back(
        {batch, of_batch.size(), mean_of(wall, by_spells), mean_of(processor, by_spells)});
  }
  if (times.batches.empty())
    throw UserError(fmt::format("{}: no batch size has {} steps after warm-up", source, fewest_own_steps),
                    "let it train longer");
  return times;
}

std::optional<StepVariation> variation_of(const std::vector<OwnStep>& steps, std::size_t warm_up) {
  std::map<std::int64_t, std::vector<TimedStep>> by_batch;
  double now_s = 0.0;
  for (std::size_t i = warm_up; i < steps.size(); ++i) {
    now_s += steps[i].wall_s;
    by_batch[steps[i].samples].push_back({now_s, steps[i].wall_s});
  }
  std::vector<std::vector<TimedStep>> series;
  for (auto& [batch, of_batch] : by_batch)
    if (of_batch.size() >= fewest_varied_steps) series.push_back(std::move(of_batch));
  return series.empty() ? std::nullopt : std::optional(step_variation(series));
}

namespace {

void check_count(std::size_t steps, std::size_t warm_up, const std::string& source) {
  if (steps < warm_up + fewest_own_steps)
    throw UserError(fmt::format("{}: {} steps are too few, with {} to warm up", source, steps, warm_up),
                    fmt::format("at least {}", fewest_own_steps + warm_up));
}

double processor_per_sample(double seconds, double samples, const std::string& source) {
  if (seconds <= 0.0) throw UserError(source + ": its steps say that they took no processor time", line_hint);
  return seconds / samples;
}

// By the clock of the lines.
std::vector<double> ends_of(const ReadSteps& copy) {
  std::vector<double> ends = copy.read_s;
  for (std::size_t i = ends.size() - 1; i-- > 0;)
    ends[i] = std::min(ends[i], ends[i + 1] - copy.steps[i + 1].wall_s);
  return ends;
}

}  // namespace

double mean_processor_at_once(const std::vector<ReadSteps>& copies, std::size_t warm_up,
                              const std::string& source) {
  double all_began = -std::numeric_limits<double>::infinity();
  double one_ended = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> ends;
  for (const ReadSteps& copy : copies) {
    check_count(copy.steps.size(), warm_up, source);
    ends.push_back(ends_of(copy));
    all_began = std::max(all_began, ends.back()[warm_up] - copy.steps[warm_up].wall_s);
    one_ended = std::min(one_ended, ends.back().back());
  }
  double seconds = 0.0;
  double samples = 0.0;
  for (std::size_t c = 0; c < copies.size(); ++c) {
    const std::vector<OwnStep>& steps = copies[c].steps;
    std::size_t at_once = 0;
    for (std::size_t i = warm_up; i < steps.size(); ++i) {
      if (ends[c][i] - steps[i].wall_s < all_began || ends[c][i] > one_ended) continue;
      ++at_once;
      seconds += steps[i].processor_s;
      samples += static_cast<double>(steps[i].samples);
    }
    if (2 * at_once < steps.size() - warm_up || at_once < fewest_own_steps)
      throw UserError(
          fmt::format("{}: of {} steps of one of {} copies {} were made while all copies computed", source,
                      steps.size() - warm_up, copies.size(), at_once),
          "copies do not begin at the same moment: let each make more steps, for ten seconds or longer");
  }
  return processor_per_sample(seconds, samples, source);
}

double mean_processor_per_sample(const std::vector<OwnStep>& steps, std::size_t warm_up,
                                 const std::string& source) {
  check_count(steps.size(), warm_up, source);
  double seconds = 0.0;
  double samples = 0.0;
  for (std::size_t i = warm_up; i < steps.size(); ++i) {
    seconds += steps[i].processor_s;
    samples += static_cast<double>(steps[i].samples);
  }
  return processor_per_sample(seconds, samples, source);
}

}  // namespace paceline::calibrate
