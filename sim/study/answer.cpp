#include "sim/study/answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace paceline {
namespace {

// "reaches 70 %", "is done".
std::string goal_of(const ComparedRuns& runs) {
  return runs.target_accuracy ? fmt::format("reaches {:.4g} %", 100.0 * *runs.target_accuracy)
                              : std::string("is done");
}

// "8.56 h (median of 10 runs; one further run takes 8.29 h to 8.79 h with 90 % probability)"
std::string time_with_interval(const ComparedRuns& runs, const Seconds& time) {
  const ComparedVariant one = compare(std::vector<ComparedRuns>{runs}).front();
  const std::optional<Seconds> low = runs.target_accuracy ? one.summary.low : one.end_times.low;
  const std::optional<Seconds> high = runs.target_accuracy ? one.summary.high : one.end_times.high;
  std::string text = fmt::format("{} (median of {} runs", format_time(time), runs.runs.size());
  if (low && high)
    text += fmt::format("; one further run takes {} to {} with 90 % probability", format_time(*low),
                        format_time(*high));
  if (low && !high)
    text += fmt::format("; 5 % of further runs take less than {}, some never get there", format_time(*low));
  return text + ")";
}

// "0.98 (90 % interval 0.91 to >0.99)"
std::string probability_text(const Probability& p) {
  return fmt::format("{} (90 % interval {} to {})", inner_probability(p.value),
                     inner_probability(p.interval.low), inner_probability(p.interval.high));
}

std::string reach_text(const ComparedRuns& runs) {
  if (!runs.target_accuracy) return {};
  const TimeToAccuracy summary = compare(std::vector<ComparedRuns>{runs}).front().summary;
  return fmt::format(" It gets there with probability {}.", probability_text(summary.p_reach));
}

// How sure it is that the first is faster than the second.
std::string odds_text(const Findings& found, const Case& one) {
  const auto& runs = found.table.runs;
  const auto over = compare_pairs(runs[one.ranked[1].index], runs[one.ranked[0].index]);
  return over ? probability_text(over->p_faster) : "not known: they share no seeds";
}

// The answer for combinations that compete, with its probability.
std::string answer_in(const Findings& found, const Case& one) {
  const Ranked& best = one.ranked.front();
  const ComparedRuns& runs = found.table.runs[best.index];
  if (!best.time) return fmt::format("{}.", verdict(found, one));
  const std::string name = found.name_in_case(best.index);
  const std::string time = time_with_interval(runs, *best.time);
  if (one.ranked.size() == 1)
    return fmt::format("{} {} in {}.{}", name, goal_of(runs), time, reach_text(runs));
  const std::string second = found.name_in_case(one.ranked[1].index);
  if (winner_of(one))
    return fmt::format("{} {} soonest, in {}. That it is faster than the second, {}, has probability {}.{}",
                       name, goal_of(runs), time, second, odds_text(found, one), reach_text(runs));
  return fmt::format("{}. {} {} in {}; that it is faster than {} has probability {}.", verdict(found, one),
                     name, goal_of(runs), time, second, odds_text(found, one));
}

// One sentence over cases that do not have the same answer.
std::string answer_by_case(const Findings& found) {
  std::map<std::string, std::size_t> wins;
  std::size_t open = 0;
  for (const Case& one : found.cases) {
    if (const std::optional<std::size_t> winner = winner_of(one))
      ++wins[found.choice(*winner)];
    else
      ++open;
  }
  std::string text = fmt::format("It depends. Of {} cases", found.cases.size());
  for (const auto& [choice, count] : wins) text += fmt::format(" {} wins {},", choice, count);
  if (open > 0) text += fmt::format(" {} have no winner that these runs can tell,", open);
  text.back() = '.';
  return text;
}

std::string answer_everywhere(const Findings& found, const std::string& winner) {
  double least = 1.0;
  for (const Case& one : found.cases)
    if (one.ranked.size() > 1) {
      const auto& runs = found.table.runs;
      if (const auto over = compare_pairs(runs[one.ranked[1].index], runs[one.ranked[0].index]))
        least = std::min(least, over->p_faster.value);
    }
  return fmt::format(
      "The same everywhere: {} wins each of {} cases, with a probability of at least {} to be faster than "
      "the second.",
      winner, found.cases.size(), inner_probability(std::floor(100.0 * least) / 100.0));
}

}  // namespace

std::string answer_of(const Findings& found) {
  if (found.cases.size() == 1) return answer_in(found, found.cases.front());
  const std::optional<std::string> winner = winner_everywhere(found);
  return winner ? answer_everywhere(found, *winner) : answer_by_case(found);
}

std::vector<std::string> answers_by_case(const Findings& found) {
  std::vector<std::string> answers;
  for (const Case& one : found.cases) answers.push_back(fmt::format("{}: {}", one.at, answer_in(found, one)));
  return answers;
}

}  // namespace paceline
