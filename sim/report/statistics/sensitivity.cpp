#include "sim/report/statistics/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

using Labels = std::vector<std::string>;
using Group = std::vector<std::size_t>;  // combinations

Labels without(const Labels& labels, const std::vector<std::size_t>& columns) {
  Labels rest;
  for (std::size_t c = 0; c < labels.size(); ++c)
    if (std::ranges::count(columns, c) == 0) rest.push_back(labels[c]);
  return rest;
}

// Combinations that agree in all but some columns; groups and members in the order of the study.
std::vector<Group> groups_but(const ComparedTable& table, const std::vector<std::size_t>& columns) {
  std::map<Labels, std::size_t> number_of;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < table.labels.size(); ++i) {
    const auto [entry, is_new] = number_of.try_emplace(without(table.labels[i], columns), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(i);
  }
  return groups;
}

std::vector<double> log_times(const ComparedTable& table) {
  Seconds horizon;
  for (const ComparedRuns& runs : table.runs) horizon = std::max(horizon, longest(runs.runs));
  std::vector<double> logs;
  for (const ComparedRuns& runs : table.runs)
    logs.push_back(std::log(std::max(restricted_mean(runs, horizon).value(), 1e-12)));
  return logs;
}

double variance(const std::vector<double>& values, const Group& group) {
  double mean = 0.0;
  for (const std::size_t i : group) mean += values[i] / static_cast<double>(group.size());
  double squares = 0.0;
  for (const std::size_t i : group) squares += (values[i] - mean) * (values[i] - mean);
  return squares / static_cast<double>(group.size());
}

Sensitivity sensitivity_to(const ComparedTable& table, std::size_t column, const std::vector<double>& logs) {
  Sensitivity result{.column = table.columns[column], .alone = {}, .total_effect = {}};
  Group all;
  for (std::size_t i = 0; i < logs.size(); ++i) all.push_back(i);
  double within = 0.0;
  std::size_t members = 0;
  for (const Group& group : groups_but(table, {column})) {
    if (group.size() < 2) continue;
    within += variance(logs, group) * static_cast<double>(group.size());
    members += group.size();
    if (group.front() != 0) continue;
    const auto [low, high] = std::ranges::minmax_element(group, {}, [&](std::size_t i) { return logs[i]; });
    result.alone = std::exp(logs[*high] - logs[*low]);
  }
  const double total = variance(logs, all);
  constexpr double of_rounding = 1e-24;
  if (members > 0 && total >= of_rounding)
    result.total_effect = within / static_cast<double>(members) / total;
  return result;
}

Winner winner_of(const ComparedTable& table, const Group& competitors, std::size_t between,
                 std::size_t along) {
  std::vector<ComparedRuns> runs;
  for (const std::size_t i : competitors) runs.push_back(table.runs[i]);
  const std::vector<Ranked> ranked = rank(runs);
  const auto label_of = [&](const Ranked& one) { return table.labels[competitors[one.index]][between]; };
  Winner winner{.at = table.labels[competitors.front()][along],
                .winner = label_of(ranked[0]),
                .second = {},
                .over_second = {}};
  if (ranked.size() > 1) {
    winner.second = label_of(ranked[1]);
    winner.over_second = compare_pairs(runs[ranked[1].index], runs[ranked[0].index]);
  }
  return winner;
}

}  // namespace

std::vector<Sensitivity> sensitivities(const ComparedTable& table) {
  const std::vector<double> logs = log_times(table);
  std::vector<Sensitivity> all;
  for (std::size_t c = 0; c < table.columns.size(); ++c) all.push_back(sensitivity_to(table, c, logs));
  return all;
}

bool WinnerChange::changes() const {
  return std::ranges::any_of(winners,
                             [&](const Winner& winner) { return winner.winner != winners.front().winner; });
}

std::vector<WinnerChange> winners_along(const ComparedTable& table, const std::string& between) {
  const auto column = std::ranges::find(table.columns, between);
  check(column != table.columns.end(), "a column of the study");
  const auto competing = static_cast<std::size_t>(column - table.columns.begin());
  std::vector<WinnerChange> changes;
  for (std::size_t along = 0; along < table.columns.size(); ++along) {
    if (along == competing) continue;
    for (const Group& group : groups_but(table, {along, competing})) {
      WinnerChange change{.along = table.columns[along], .between = between, .fixed = {}, .winners = {}};
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        if (c != along && c != competing)
          change.fixed.push_back(fmt::format("{} {}", table.columns[c], table.labels[group.front()][c]));
      std::vector<std::string> places;
      for (const std::size_t i : group)
        if (std::ranges::count(places, table.labels[i][along]) == 0) places.push_back(table.labels[i][along]);
      for (const std::string& place : places) {
        Group competitors;
        for (const std::size_t i : group)
          if (table.labels[i][along] == place) competitors.push_back(i);
        change.winners.push_back(winner_of(table, competitors, competing, along));
      }
      if (change.winners.size() > 1) changes.push_back(std::move(change));
    }
  }
  return changes;
}

}  // namespace paceline
