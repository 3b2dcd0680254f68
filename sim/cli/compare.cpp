// compare: what the runs of a study say about its combinations.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/compare_parts.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/sensitivity.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

StudySoFar read_study(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / store_file, ignored))
    throw UserError(fmt::format("{} holds no {}", folder.string(), store_file),
                    "name the folder of a study; parts are put together by `paceline study merge`");
  RunStore store(folder / store_file, StoreAccess::read);
  StudySoFar so_far;
  const std::optional<PlannedStudy> study = store.plan();
  if (!study) throw UserError(fmt::format("{} holds no study", folder.string()), "");
  so_far.study = *study;
  so_far.counts = store.counts();
  so_far.table.columns = study->columns;
  so_far.table.runs = compared_runs(*study, store, &so_far.point_of);
  for (const std::size_t point : so_far.point_of) so_far.table.labels.push_back(study->points[point].labels);
  if (so_far.table.runs.empty())
    throw UserError(fmt::format("no run of {} is done", folder.string()),
                    fmt::format("run it: {}", study->command));
  return so_far;
}

std::string time_or_never(const std::optional<Seconds>& time) {
  return time ? format_time(*time) : std::string("never");
}

std::string probability_text(const PairedComparison& paired) {
  return fmt::format("{} [{}, {}]", inner_probability(paired.p_faster),
                     inner_probability(paired.p_faster_interval.low),
                     inner_probability(paired.p_faster_interval.high));
}

std::string correlation_text(const PairedComparison& paired) {
  return paired.correlation ? fmt::format("{:.2f}", *paired.correlation) : "-";
}

std::string cut_note(std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("… {} more; --lines shows them\n", all - shown) : "";
}

AssumedLearners assumed_learners(const StudySoFar& so_far) {
  AssumedLearners assumed;
  for (const ComparedRuns& runs : so_far.table.runs) assumed.count(runs.has_assumed_learner);
  return assumed;
}

std::string ranking_text(const StudySoFar& so_far, const std::vector<Ranked>& ranked, std::size_t lines) {
  const AssumedLearners assumed = assumed_learners(so_far);
  TextRows rows{
      {"ranking", "rank", "time", "final accuracy", "runs", "P(faster than leader) [90 %]", "Pareto"}};
  for (const Ranked& one : ranked) {
    if (rows.size() > lines) break;
    const ComparedRuns& runs = so_far.table.runs[one.index];
    rows.push_back(
        {assumed.marked(runs.name, runs.has_assumed_learner),
         fmt::format("{}{}", one.rank, one.is_tied ? "=" : ""), time_or_never(one.time),
         one.accuracy ? fmt::format("{:.4f}", *one.accuracy) : "-", fmt::format("{}", runs.runs.size()),
         one.against_leader ? probability_text(*one.against_leader) : "-", one.is_on_front ? "*" : ""});
  }
  const std::size_t shown = rows.size() - 1;
  return text_table(std::move(rows)) + cut_note(shown, ranked.size()) +
         "Medians over the seeds. `=`: these runs do not tell it apart from the leader of its rank (90 % "
         "interval of\n"
         "P(faster) holds 0.5). `*`: no other is both faster and as accurate.\n" +
         assumed.note();
}

std::string paired_text(const StudySoFar& so_far, const std::vector<Ranked>& ranked, std::size_t reference,
                        std::size_t lines) {
  const AssumedLearners assumed = assumed_learners(so_far);
  const auto name_of = [&](const ComparedRuns& runs) {
    return assumed.marked(runs.name, runs.has_assumed_learner);
  };
  const ComparedRuns& first = so_far.table.runs[reference];
  TextRows rows{{fmt::format("against {}", name_of(first)), "difference [90 %]", "speed-up [90 %]",
                 "P(faster) [90 %]", "pairs", "correlation"}};
  for (const Ranked& one : ranked) {
    if (one.index == reference || rows.size() > lines) continue;
    const ComparedRuns& other = so_far.table.runs[one.index];
    const std::optional<PairedComparison> paired = compare_pairs(first, other);
    if (!paired) {
      rows.push_back({name_of(other), "-", "-", "-", "0", "-"});
      continue;
    }
    const auto& difference = paired->difference;
    const auto& speedup = paired->speedup_interval;
    rows.push_back({name_of(other),
                    difference ? fmt::format("{:+.4g} s [{:+.4g}, {:+.4g}]", difference->mean_s,
                                             difference->interval_s.low, difference->interval_s.high)
                               : "-",
                    speedup ? fmt::format("[{:.3f}, {:.3f}]", speedup->low, speedup->high) : "-",
                    probability_text(*paired), fmt::format("{}", paired->pairs), correlation_text(*paired)});
  }
  if (rows.size() == 1) return {};
  const std::size_t shown = rows.size() - 1;
  return fmt::format(
      "\n{}{}{}", text_table(std::move(rows)), cut_note(shown, ranked.size() - 1),
      "Runs paired by seed; differences and speed-ups only where every run of both reached the target.\n");
}

std::string sensitivity_text(const std::vector<Sensitivity>& all) {
  TextRows rows{{"sensitivity of the time", "alone, slowest/fastest", "total effect"}};
  for (const Sensitivity& one : all)
    rows.push_back({one.column, one.one_at_a_time ? fmt::format("{:.3g}x", *one.one_at_a_time) : "-",
                    one.total_effect ? fmt::format("{:.2f}", *one.total_effect) : "-"});
  return fmt::format(
      "\n{}{}", text_table(std::move(rows)),
      "Alone: as the first combination, but for this. Total effect: share of the variance of ln(time) "
      "left when all\n"
      "else is known.\n");
}

std::string winner_text(const Winner& winner) {
  if (!winner.over_second) return winner.label;
  const Interval& p = winner.over_second->p_faster_interval;
  const bool is_tie = p.low <= 0.5 && 0.5 <= p.high;
  return fmt::format("{}{} (P {})", winner.label, is_tie ? fmt::format(" = {}", *winner.second) : "",
                     probability_text(*winner.over_second));
}

std::string winners_text(const std::vector<WinnerChange>& all, std::size_t lines) {
  std::string text;
  std::size_t shown = 0;
  std::size_t changing = 0;
  for (const WinnerChange& change : all) {
    if (!change.changes()) continue;
    ++changing;
    if (shown >= lines) continue;
    ++shown;
    text += fmt::format("  along {}{}{}:\n", change.along, change.fixed.empty() ? "" : ", at ",
                        printable(fmt::format("{}", fmt::join(change.fixed, ", "))));
    const Winner* before = nullptr;
    for (const Winner& winner : change.winners) {
      if (before == nullptr || before->label != winner.label)
        text +=
            printable(fmt::format("    from {} {} on: {}", change.along, winner.at, winner_text(winner))) +
            "\n";
      before = &winner;
    }
  }
  if (all.empty()) return {};
  const std::string head = fmt::format("\nwho wins between the labels of `{}`: ", all.front().between);
  if (changing == 0) return head + fmt::format("the same everywhere along every other column\n");
  return head + fmt::format("it changes in {} of {} comparisons\n", changing, all.size()) + text +
         cut_note(shown, changing);
}

// Policies that were only ever run at one and the same rate: whoever wins may owe it to the rate.
std::vector<std::string> warnings_of(const StudySoFar& so_far) {
  std::map<std::string, std::set<std::pair<double, double>>> tried;
  for (const std::size_t p : so_far.point_of) {
    const PlannedPoint& point = so_far.study.points[p];
    if (point.learns) tried[point.policy].insert({point.learning_rate, point.momentum});
  }
  std::map<std::pair<double, double>, std::vector<std::string>> untuned;
  for (const auto& [policy, rates] : tried)
    if (rates.size() == 1) untuned[*rates.begin()].push_back(policy);
  std::vector<std::string> warnings;
  for (const auto& [rate, policies] : untuned)
    if (policies.size() > 1)
      warnings.push_back(fmt::format(
          "{} were run at one learning rate ({:g}) and momentum ({:g}) only, tuned for none of them here: a "
          "winner at one rate is confounded with the rate; vary job.optimizer.learning_rate as well",
          fmt::join(policies, "; "), rate.first, rate.second));
  std::set<std::pair<bool, double>> targets;
  for (const std::size_t p : so_far.point_of) {
    const std::optional<double>& target = so_far.study.points[p].target_accuracy;
    targets.insert({target.has_value(), target.value_or(0.0)});
  }
  if (targets.size() > 1)
    warnings.emplace_back(
        "combinations have different targets: their times are of different things, and ranks, front and "
        "sensitivity "
        "compare them all the same");
  return warnings;
}

std::size_t reference_of(const StudySoFar& so_far, const std::vector<Ranked>& ranked,
                         const std::string& name) {
  if (name.empty()) return ranked.front().index;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < so_far.table.runs.size(); ++i) {
    if (so_far.table.runs[i].name == name) return i;
    names.push_back(so_far.table.runs[i].name);
  }
  const std::optional<std::string> likely = closest(name, names);
  throw UserError(
      fmt::format("no combination has the name `{}`", name),
      likely ? fmt::format("did you mean `{}`?", *likely) : "paceline study FILE --list names them");
}

}  // namespace

int compare_command(const CompareArguments& arguments) {
  const StudySoFar so_far = read_study(arguments.folder);
  const std::vector<Ranked> ranked = rank(so_far.table.runs);
  const std::size_t reference = reference_of(so_far, ranked, arguments.against);
  const std::vector<Sensitivity> effects = sensitivities(so_far.table);
  const std::vector<WinnerChange> winners = winners_along(so_far.table, so_far.table.columns.front());
  const std::vector<std::string> warnings = warnings_of(so_far);
  const auto lines = static_cast<std::size_t>(arguments.lines);
  if (arguments.json) {
    fmt::print("{}", comparison_json(so_far, {ranked, reference, effects, winners, warnings}));
  } else {
    if (!so_far.study.question.empty()) fmt::print("{}\n\n", printable(so_far.study.question));
    fmt::print("{}{}{}{}", ranking_text(so_far, ranked, lines), paired_text(so_far, ranked, reference, lines),
               sensitivity_text(effects), winners_text(winners, lines));
  }
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (so_far.counts.done < so_far.counts.planned)
    fmt::print(stderr, "warning: {} of {} runs are not done\n", so_far.counts.planned - so_far.counts.done,
               so_far.counts.planned);
  return exit_done;
}

}  // namespace paceline
