// The keys of a study file.
#include "sim/scenario/sections/sections.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {

constexpr std::int64_t maximum_axis_points = 100'000;

void describe(Visitor& v, StudyVariantSet& c) {
  v.required("name", c.name, Text{}, "appears in tables and figures, and names the results folder");
  v.optional("set", c.set, KeyPathValues{}, "what differs from the base", Absent{"nothing"});
}

void describe(Visitor& v, AxisRange& c) {
  v.required("from", c.first, Text{}, "the first number, with its unit");
  v.required("to", c.last, Text{}, "the last number, in the same unit");
  v.required("points", c.points, Whole{2, maximum_axis_points}, "how many numbers, both ends included");
  v.optional("scale", c.scale, Choice{{"linear", RangeScale::linear}, {"log", RangeScale::log}},
             "linear: equal differences; log: equal ratios");
  v.optional("whole", c.whole, Boolean{}, "round to whole numbers, as workers and samples need it");
}

void describe(Visitor& v, AxisPoint& c) {
  v.required("label", c.label, Text{}, "appears in tables and figures");
  v.optional("set", c.set, KeyPathValues{}, "the key paths that move together", Absent{"nothing"});
}

void describe(Visitor& v, Axis& c) {
  v.optional("name", c.name, Text{}, "a word: column of the results, and `${name}` in values",
             Absent{"the last word of the key path"});
  v.optional("key", c.key, Text{}, "the key path that is varied",
             Absent{"the values are used through `${name}`, `cases` or `zip` alone"});
  v.optional("values", c.values, ListOf{AnyValue{}, "value", 1, maximum_axis_points},
             "one after the other; sections and lists are written as `cases`", Absent{"none"});
  v.optional("range", c.range, Section{}, "numbers at equal distances", Absent{"none"});
  v.optional("cases", c.cases, ListOf{Section{}, "case", 1, maximum_axis_points},
             "several key paths that move together, each case with a label", Absent{"none"});
  v.optional("zip", c.zip, KeyPathValues{},
             "key paths, each with a list of values of the same length, that move together; the first gives "
             "the labels",
             Absent{"none"});
}

void describe(Visitor& v, StudyFigure& c) {
  v.required("name", c.name, Text{}, "of its files: letters, digits and hyphens");
  v.required("metric", c.metric, Text{},
             "a column of runs.csv, such as time_to_accuracy_s or final_accuracy");
  v.required("against", c.against, Text{}, "the name of what is varied along the horizontal axis");
  v.optional("series", c.series, Text{}, "the name of what gives one line each", Absent{"one line"});
  v.optional("where", c.where, KeyPathValues{},
             "names of what is varied, each with the label or labels that are shown", Absent{"everything"});
  v.optional(
      "recorded", c.recorded, Path{},
      "CSV file with the columns series, x, y (as in runs.csv): recorded values, drawn as hollow markers",
      Absent{"none"});
  v.optional(
      "difference_from", c.difference_from, Text{},
      "a label of `series`: what is drawn is how much the metric differs from that series' run of the same "
      "replication, the mean with its 95 % interval",
      Absent{"the metric itself"});
}

void describe(Visitor& v, SearchConfig& c) {
  v.optional(
      "method", c.method,
      Choice{{"exhaustive", SearchMethod::exhaustive},
             {"golden-section", SearchMethod::golden_section},
             {"successive-halving", SearchMethod::successive_halving}},
      "exhaustive: every combination; golden-section: along one range, for one valley; successive-halving: "
      "few replications of all, more of the best");
  v.optional(
      "minimize", c.minimize,
      Choice{{"time-to-accuracy", SearchObjective::time_to_accuracy},
             {"core-hours", SearchObjective::core_hours},
             {"money", SearchObjective::money}},
      "what is to be small; core-hours and money are those of the whole job; money: by the workers' `price`");
  v.only_if({"method", {"golden-section"}, c.method == SearchMethod::golden_section});
  v.required("over", c.over, Text{}, "the name of what is varied over a `range`");
  v.optional("tolerance", c.tolerance, Number{above(0)}, "of the best value found, in the unit of the range",
             Absent{"a hundredth of the range"});
  v.only_if({"method", {"successive-halving"}, c.method == SearchMethod::successive_halving});
  v.optional("first_replications", c.first_replications, Whole{1, 1'000'000}, "of every combination");
  v.optional("keep_one_of", c.keep_one_of, Whole{2, 1000},
             "so many combinations go on from round to round, with so many times the replications");
  v.only_if({"minimize", {"money"}, c.minimize == SearchObjective::money});
  v.optional("price_per_core_hour", c.price_per_core_hour, Number{at_least(0)},
             "in any currency, of workers without a `price` of their own",
             Absent{"every worker has a `price`"});
  v.always();
  v.optional("accuracy", c.accuracy, fraction(above_up_to(0, 1)),
             "mean final accuracy that a setting must have to count", Absent{"any"});
  v.optional("replications", c.replications, Whole{1, 1'000'000}, "of a setting, at most");
}

void describe(Visitor& v, StudyPlan& c) {
  v.required("study", c.name, Text{}, "the name of the study");
  v.optional("question", c.question, Text{}, "what the study is to answer", Absent{"none"});
  v.required("base", c.base_file, Path{}, "a scenario file, relative to this file");
  v.optional("replications", c.replications, Whole{1, 1'000'000}, "of every combination",
             Absent{"the base says; 100 where it does not and the learner is statistical or assumed"});
  v.optional("variants", c.variants, ListOf{Section{}, "variant", 1, 1000}, "what is compared",
             Absent{"the base alone"});
  v.optional("vary", c.axes, ListOf{Section{}, "entry", 1, 100},
             "what is varied; every combination with every variant is run", Absent{"nothing"});
  v.optional("set", c.set, KeyPathValues{}, "for every combination; values may depend on what is varied",
             Absent{"nothing"});
  v.optional(
      "exclude", c.exclude, ListOf{KeyPathValues{}, "combination", 1, 10000},
      "combinations left out: names of what is varied (or `variant`), each with a label or a list of labels",
      Absent{"none"});
  v.optional("figures", c.figures, ListOf{Section{}, "figure", 1, 100}, "drawn by `paceline plot`",
             Absent{"none"});
  v.optional("search", c.search, Section{}, "what `paceline search` looks for", Absent{"no search"});
}

}  // namespace paceline
