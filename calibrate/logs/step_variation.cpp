#include "calibrate/logs/step_variation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr double longest_share = 0.25;    // of a series, that a spell may last
constexpr double length_ratio = 1.05;     // from one length tried to the next
constexpr double least_significance = 4;  // standard deviations

struct Deviation {
  double at_s = 0.0;
  double log_time = 0.0;  // beside the mean of its series
};
using Deviations = std::vector<Deviation>;

Deviations deviations_of(const std::vector<TimedStep>& series) {
  std::vector<double> seconds;
  for (const TimedStep& step : series) seconds.push_back(step.took_s);
  const double bound = stall_bound * median(std::move(seconds));
  Deviations deviations;
  double mean = 0.0;
  for (const TimedStep& step : series) {
    if (step.took_s > bound || step.took_s <= 0.0) continue;
    deviations.push_back({step.at_s, std::log(step.took_s)});
    mean += deviations.back().log_time;
  }
  mean /= static_cast<double>(deviations.size());
  for (Deviation& one : deviations) one.log_time -= mean;
  return deviations;
}

// Of pairs of steps by how far they are apart.
struct Pairs {
  double bin_s = 0.0;
  std::vector<double> products;
  std::vector<double> counts;

  Pairs(double bin, double longest)
      : bin_s(bin), products(static_cast<std::size_t>(longest / bin) + 1), counts(products.size()) {}

  void add(const Deviations& deviations) {
    for (std::size_t i = 0; i < deviations.size(); ++i)
      for (std::size_t j = i + 1; j < deviations.size(); ++j) {
        const auto bin = static_cast<std::size_t>((deviations[j].at_s - deviations[i].at_s) / bin_s);
        if (bin >= products.size()) break;
        products[bin] += deviations[i].log_time * deviations[j].log_time;
        counts[bin] += 1.0;
      }
  }
};

struct SpellFit {
  double length_s = 0.0;
  double variance = 0.0;
  double squares_explained = 0.0;
  double weight = 0.0;  // Σ (1 − τ/L)²
};

SpellFit fit_variance(const Pairs& pairs, double length_s) {
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t bin = 0; bin < pairs.products.size(); ++bin) {
    const double apart_s = (static_cast<double>(bin) + 0.5) * pairs.bin_s;
    const double share = std::max(0.0, 1.0 - apart_s / length_s);
    sum += share * pairs.products[bin];
    weight += share * share * pairs.counts[bin];
  }
  if (weight <= 0.0 || sum <= 0.0) return {length_s};
  return {length_s, sum / weight, sum * sum / weight, weight};
}

double coefficient_of(double variance_of_log) {
  return std::sqrt(std::expm1(std::max(0.0, variance_of_log)));
}

double log_variance(double coefficient) {
  return std::log1p(coefficient * coefficient);
}

double whole_log_variance(const StepVariation& variation) {
  return log_variance(variation.iteration_cv) + (variation.spells ? log_variance(variation.spells->cv) : 0.0);
}

}  // namespace

StepVariation step_variation(const std::vector<std::vector<TimedStep>>& series) {
  std::vector<Deviations> all;
  std::vector<double> cycles;
  std::vector<double> spans;
  for (const std::vector<TimedStep>& one : series) {
    if (one.size() < fewest_varied_steps) continue;
    all.push_back(deviations_of(one));
    spans.push_back(one.back().at_s - one.front().at_s);
    cycles.push_back(spans.back() / static_cast<double>(one.size() - 1));
  }
  if (all.empty()) return {};
  double variance = 0.0;
  double steps = 0.0;
  for (const Deviations& deviations : all)
    for (const Deviation& one : deviations) {
      variance += one.log_time * one.log_time;
      steps += 1.0;
    }
  variance /= steps;
  const double longest_s = longest_share * median(std::move(spans));
  Pairs pairs(median(std::move(cycles)), longest_s);
  for (const Deviations& deviations : all) pairs.add(deviations);
  SpellFit best;
  for (double length_s = 2.0 * pairs.bin_s; length_s < longest_s; length_s *= length_ratio)
    if (const SpellFit fit = fit_variance(pairs, length_s); fit.squares_explained > best.squares_explained)
      best = fit;
  if (best.variance * std::sqrt(best.weight) <= least_significance * variance)
    return {.iteration_cv = coefficient_of(variance)};
  return {.iteration_cv = coefficient_of(variance - best.variance),
          .spells = Spells{coefficient_of(best.variance), Seconds{best.length_s}}};
}

StepVariation less(StepVariation variation, const StepVariation& explained) {
  variation.iteration_cv =
      coefficient_of(log_variance(variation.iteration_cv) - whole_log_variance(explained));
  return variation;
}

StepVariation by_length(StepVariation of_longer, Seconds longer, const StepVariation& of_shorter,
                        Seconds shorter) {
  if (shorter >= longer) return of_longer;
  const double spells = whole_log_variance(of_longer) - log_variance(of_longer.iteration_cv);
  const double at_longer = log_variance(of_longer.iteration_cv);
  const double at_shorter = std::max(0.0, whole_log_variance(of_shorter) - spells);
  const auto square = [](Seconds time) { return time.value() * time.value(); };
  double fixed = std::max(0.0, at_shorter - at_longer) / (1.0 / square(shorter) - 1.0 / square(longer));
  if (fixed > at_longer * square(longer))
    fixed = 0.5 * (at_shorter * square(shorter) + at_longer * square(longer));
  of_longer.iteration_cv = coefficient_of(at_longer - fixed / square(longer));
  of_longer.iteration_fixed = Seconds{std::sqrt(fixed)};
  return of_longer;
}

double variance_of_mean(const std::optional<Spells>& spells, Seconds over) {
  if (!spells) return 0.0;
  const double variance = log_variance(spells->cv);
  const double ratio = spells->length / over;
  return variance * (ratio <= 1.0 ? ratio - ratio * ratio / 3.0 : 1.0 - 1.0 / (3.0 * ratio));
}

Residuals log_residuals(const std::vector<std::vector<double>>& rows) {
  if (rows.empty() || rows.front().empty()) return {};
  const std::size_t columns = rows.front().size();
  std::vector<double> of_row(rows.size());
  std::vector<double> of_column(columns);
  double mean = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = std::log(rows[r].at(c));
      of_row[r] += value / static_cast<double>(columns);
      of_column[c] += value / static_cast<double>(rows.size());
      mean += value / static_cast<double>(columns * rows.size());
    }
  Residuals residuals{.squares = 0.0, .freedom = (rows.size() - 1) * (columns - 1)};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const double residual = std::log(rows[r][c]) - of_row[r] - of_column[c] + mean;
      residuals.squares += residual * residual;
    }
  return residuals;
}

std::string scenario_words(const StepVariation& variation) {
  std::string words = fmt::format("iteration: {:.2g} %", 100.0 * variation.iteration_cv);
  if (variation.iteration_fixed > Seconds{})
    words += fmt::format(", iteration_fixed: {:.3g} us", 1e6 * variation.iteration_fixed.value());
  if (variation.spells)
    words += fmt::format(", spells: {{variation: {:.2g} %, length: {:.3g} ms}}", 100.0 * variation.spells->cv,
                         1e3 * variation.spells->length.value());
  return words;
}

}  // namespace paceline::calibrate
