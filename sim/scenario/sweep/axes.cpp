// From what a study says it varies to axes of labelled points.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/number_text.hpp"
#include "sim/description/units.hpp"
#include "sim/scenario/sweep/study_parts.hpp"

namespace paceline {
namespace {

// Columns and words that the results have anyway.
constexpr std::array reserved_names = {"variant", "replication", "assumed_learner", "run",
                                       "point",   "name",        "status",          "message"};

bool is_word(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// "speed" of "cluster.workers[2].speed": the last word of a key path that is no index.
std::string last_word(std::string_view path) {
  while (!path.empty()) {
    const std::size_t dot = path.rfind('.');
    std::string_view word = path.substr(dot == path.npos ? 0 : dot + 1);
    word = word.substr(0, word.find('['));
    if (dot == path.npos || word.find_first_not_of("0123456789") != word.npos) return std::string(word);
    path = path.substr(0, dot);
  }
  return {};
}

AxisPoint point_of(const Axis& axis, const YamlNode& value) {
  AxisPoint point{value.text, value, {}};
  if (!axis.key.empty()) point.set.push_back({axis.key, axis.key_spot, value});
  return point;
}

class AxisReader {
 public:
  AxisReader(Axis& axis, const std::string& path, const Reading& reading)
      : axis_(axis), path_(path), reading_(reading) {}

  void read() {
    axis_.spot = spot("");
    axis_.key_spot = spot("key");
    read_name();
    const bool sources[] = {!axis_.values.empty(), axis_.range.has_value(), !axis_.cases.empty(),
                            !axis_.zip.empty()};
    if (const auto count = std::ranges::count(sources, true); count != 1)
      return error(
          axis_.spot,
          count == 0 ? "nothing says which values are tried" : "several keys say which values are tried",
          "give one of `values`, `range`, `cases` and `zip`");
    if ((!axis_.cases.empty() || !axis_.zip.empty()) && !axis_.key.empty())
      error(axis_.key_spot,
            "`key` has no meaning beside `cases` and `zip`, which name their key paths themselves",
            "remove it, or give `values`");
    read_values();
    if (axis_.range) read_range(*axis_.range);
    for (AxisPoint& one : axis_.cases) {
      const std::string label_path = fmt::format("cases.{}.label", axis_.points.size());
      axis_.points.push_back({one.label, scalar_at(spot(label_path), one.label), one.set});
    }
    if (!axis_.zip.empty()) read_zip();
    check_labels();
  }

 private:
  [[nodiscard]] Spot spot(const std::string& key) const { return reading_.spot(join_path(path_, key)); }
  void error(const Spot& where, std::string message, std::string hint) const {
    reading_.problems().error(where, std::move(message), std::move(hint));
  }

  void read_name() {
    if (axis_.name.empty()) axis_.name = last_word(axis_.zip.empty() ? axis_.key : axis_.zip.front().path);
    if (!is_word(axis_.name))
      error(spot("name"),
            axis_.name.empty() ? "what is varied here has no name"
                               : fmt::format("`{}` is not a name", axis_.name),
            "give it a `name`: a word of letters, digits and `_`");
    else if (std::ranges::count(reserved_names, axis_.name) > 0)
      error(spot("name"), fmt::format("the name `{}` has a meaning of its own in the results", axis_.name),
            "give it another `name`");
  }

  void read_values() {
    for (const YamlNode& value : axis_.values)
      if (value.kind == YamlNode::Kind::scalar)
        axis_.points.push_back(point_of(axis_, value));
      else
        return error(value.spot, "a section, a list or nothing cannot be one of `values`",
                     "write `cases`, each with a label and what it sets");
  }

  void read_range(AxisRange& range) {
    const auto from = split_number(range.first);
    const auto to = split_number(range.last);
    for (const auto& [key, text, number] : {std::tuple{"from", range.first, from}, {"to", range.last, to}})
      if (!number)
        return error(spot(fmt::format("range.{}", key)),
                     fmt::format("`{}` does not begin with a number", text), "");
    if (from->unit != to->unit)
      return error(spot("range.to"),
                   fmt::format("`{}` and `{}` are not written in the same unit", range.first, range.last),
                   "write both ends in one unit");
    if (from->number >= to->number)
      return error(spot("range.to"),
                   fmt::format("the range ends at `{}`, not after `{}`", range.last, range.first),
                   "write the smaller number first");
    if (range.scale == RangeScale::log && from->number <= 0)
      return error(spot("range.from"), "a range with equal ratios begins above 0", "");
    range.from = from->number;
    range.to = to->number;
    range.unit = from->unit;
    for (int i = 0; i < range.points; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(range.points - 1);
      axis_.points.push_back(point_of(axis_, scalar_at(spot("range"), range.text(range.at(share)))));
    }
  }

  void read_zip() {
    const Assignment& first = axis_.zip.front();
    for (const Assignment& column : axis_.zip) {
      if (column.value.kind != YamlNode::Kind::list || column.value.items.empty())
        return error(column.spot, fmt::format("`{}` needs a list of values", column.path), "");
      if (column.value.items.size() != first.value.items.size())
        return error(column.spot,
                     fmt::format("`{}` has {} values, `{}` has {}", column.path, column.value.items.size(),
                                 first.path, first.value.items.size()),
                     "what moves together has equally many values");
    }
    for (std::size_t i = 0; i < first.value.items.size(); ++i) {
      const YamlNode& label = first.value.items[i];
      if (label.kind != YamlNode::Kind::scalar)
        return error(label.spot, "the first key of a `zip` gives the labels: its values are single values",
                     "begin with another key, or write `cases`");
      AxisPoint point{label.text, label, {}};
      for (const Assignment& column : axis_.zip)
        point.set.push_back({column.path, column.spot, column.value.items[i]});
      axis_.points.push_back(std::move(point));
    }
  }

  void check_labels() const {
    std::set<std::string> seen;
    for (const AxisPoint& point : axis_.points)
      if (!seen.insert(point.label).second)
        error(point.value.spot,
              fmt::format("the label `{}` is already used in `{}`", point.label, axis_.name),
              "give each value a label of its own");
  }

  Axis& axis_;
  const std::string& path_;
  const Reading& reading_;
};

}  // namespace

double AxisRange::at(double share) const {
  return scale == RangeScale::log ? from * std::pow(to / from, share) : from + share * (to - from);
}

std::string AxisRange::text(double number) const {
  // Twelve digits: 0.1 + 2 · 0.1 is to read 0.3.
  const double shown = whole ? std::round(number) : number;
  return fmt::format("{:.12g}{}", shown, shown == 1.0 ? singular(unit) : unit);
}

AxisPoint Axis::at(double number) const {
  check(range.has_value(), "only a range has points between those listed");
  return point_of(*this, scalar_at(spot, range->text(number)));
}

void complete_axis(Axis& axis, const std::string& path, const Reading& reading) {
  AxisReader(axis, path, reading).read();
}

void check_axes_matter(const StudyPlan& plan, const Reading& reading) {
  std::set<std::string, std::less<>> used;
  const auto collect = [&](const std::vector<Assignment>& assignments) {
    for (const Assignment& assignment : assignments) collect_names(assignment.value, used);
  };
  collect(plan.set);
  for (const StudyVariantSet& variant : plan.variants) collect(variant.set);
  for (const Axis& axis : plan.axes)
    for (const AxisPoint& point : axis.points) collect(point.set);
  for (const Axis& axis : plan.axes) {
    const bool sets =
        std::ranges::any_of(axis.points, [](const AxisPoint& point) { return !point.set.empty(); });
    if (!sets && !axis.points.empty() && !used.contains(axis.name))
      reading.problems().error(
          axis.spot, fmt::format("`{}` changes nothing", axis.name),
          fmt::format("give it a `key`, or write `${{{}}}` in a value of `set`", axis.name));
  }
}

}  // namespace paceline
