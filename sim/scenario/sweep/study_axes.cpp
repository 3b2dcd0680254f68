#include "sim/scenario/sweep/study_axes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/number_text.hpp"
#include "sim/scenario/sweep/study_values.hpp"

namespace paceline {
namespace {

// Columns and words that the results have anyway.
constexpr std::array reserved_names = {"variant", "replication", "assumed_learner", "run",
                                       "point",   "name",        "status",          "message"};

class AxisReader {
 public:
  AxisReader(const AxisText& text, std::string path, const Reading& reading)
      : text_(text), path_(std::move(path)), reading_(reading) {}

  [[nodiscard]] Axis read() {
    axis_.spot = spot("");
    read_name();
    if (!text_.key.empty()) axis_.key = Assignment{text_.key, key_spot(), {}};
    const int sources = static_cast<int>(!text_.values.empty()) + static_cast<int>(text_.range.has_value()) +
                        static_cast<int>(!text_.cases.empty()) + static_cast<int>(!text_.zip.empty());
    if (sources != 1) {
      error(spot(""),
            sources == 0 ? "nothing says which values are tried" : "several keys say which values are tried",
            "give one of `values`, `range`, `cases` and `zip`");
      return axis_;
    }
    if ((!text_.cases.empty() || !text_.zip.empty()) && axis_.key)
      error(spot("key"),
            "`key` has no meaning beside `cases` and `zip`, which name their key paths themselves",
            "remove it, or give `values`");
    read_values();
    if (text_.range) read_range();
    for (const CaseText& one : text_.cases)
      add({one.label, scalar_at(spot(fmt::format("cases.{}.label", axis_.points.size())), one.label),
           one.set});
    if (!text_.zip.empty()) read_zip();
    check_labels();
    return axis_;
  }

 private:
  [[nodiscard]] Spot spot(const std::string& key) const { return reading_.spot(join_path(path_, key)); }
  [[nodiscard]] Spot key_spot() const { return spot("key"); }
  void error(const Spot& where, std::string message, std::string hint) const {
    reading_.problems().error(where, std::move(message), std::move(hint));
  }

  void add(AxisPoint point) { axis_.points.push_back(std::move(point)); }
  void add_value(std::string label, const YamlNode& value) {
    AxisPoint point{std::move(label), value, {}};
    if (axis_.key) point.set.push_back({axis_.key->path, axis_.key->spot, value});
    add(std::move(point));
  }

  void read_name() {
    axis_.name = text_.name;
    Spot where = spot("name");
    if (axis_.name.empty() && !text_.zip.empty()) axis_.name = last_word(text_.zip.front().path);
    if (axis_.name.empty() && !text_.key.empty()) axis_.name = last_word(text_.key);
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const bool is_word =
        !axis_.name.empty() && is_letter(axis_.name.front()) &&
        std::ranges::all_of(axis_.name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
    if (!is_word)
      error(where,
            axis_.name.empty() ? "what is varied here has no name"
                               : fmt::format("`{}` is not a name", axis_.name),
            "give it a `name`: a word of letters, digits and `_`");
    else if (std::ranges::count(reserved_names, axis_.name) > 0)
      error(where, fmt::format("the name `{}` has a meaning of its own in the results", axis_.name),
            "give it another `name`");
  }

  static std::string last_word(const std::string& path) {
    std::string word;
    for (std::size_t end = path.size(); end > 0;) {
      const std::size_t dot = path.rfind('.', end - 1);
      word = path.substr(dot == path.npos ? 0 : dot + 1, end - (dot == path.npos ? 0 : dot + 1));
      if (const std::size_t bracket = word.find('['); bracket != word.npos) word.resize(bracket);
      const bool is_index = word.find_first_not_of("0123456789") == word.npos;
      if (!is_index || dot == path.npos) break;
      end = dot;
    }
    return word;
  }

  void read_values() {
    for (const YamlNode& value : text_.values) {
      if (value.kind == YamlNode::Kind::scalar) {
        add_value(value.text, value);
        continue;
      }
      const YamlEntry* label = value.find("label");
      const YamlEntry* labelled = value.find("value");
      if (label == nullptr || labelled == nullptr || value.entries.size() != 2 ||
          label->value.kind != YamlNode::Kind::scalar) {
        error(value.spot, "a value that is a section, a list or nothing needs a label",
              "write {label: NAME, value: …}");
        return;
      }
      add_value(label->value.text, labelled->value);
    }
  }

  void read_range() {
    const RangeText& range = *text_.range;
    const auto from = split_number(range.from);
    const auto to = split_number(range.to);
    if (!from)
      return error(spot("range.from"), fmt::format("`{}` does not begin with a number", range.from), "");
    if (!to) return error(spot("range.to"), fmt::format("`{}` does not begin with a number", range.to), "");
    if (from->unit != to->unit)
      return error(spot("range.to"),
                   fmt::format("`{}` and `{}` are not written in the same unit", range.from, range.to),
                   "write both ends in one unit");
    if (from->number >= to->number)
      return error(spot("range.to"),
                   fmt::format("the range ends at `{}`, not after `{}`", range.to, range.from),
                   "write the smaller number first");
    axis_.range = AxisRange{from->number, to->number, from->unit, range.scale, range.whole};
    if (range.scale == RangeScale::log && from->number <= 0)
      return error(spot("range.from"), "a range with equal ratios begins above 0", "");
    if (range.points.has_value() == range.step.has_value())
      return error(spot("range"),
                   range.points ? "both `step` and `points` are given" : "`step` or `points` is missing",
                   "give one of them");
    if (range.step) {
      read_steps(*range.step);
    } else {
      read_divisions(*range.points);
    }
  }

  void add_number(double number) {
    const std::string text = axis_.range->text(number);
    add_value(text, scalar_at(spot("range"), text));
  }

  void read_steps(const std::string& text) {
    const auto step = split_number(text);
    const AxisRange& range = *axis_.range;
    if (range.scale == RangeScale::log)
      return error(spot("range.step"), "equal ratios have no step", "give `points`");
    if (!step || step->number <= 0 || step->unit != range.unit)
      return error(spot("range.step"), fmt::format("`{}` is not a step of this range", text),
                   fmt::format("a number above 0 in the same unit, such as `{}`",
                               range.text((range.to - range.from) / 10)));
    constexpr double rounding = 1e-9;
    const double steps = std::floor((range.to - range.from) / step->number + rounding);
    if (steps >= static_cast<double>(maximum_axis_points))
      return error(spot("range.step"), fmt::format("this makes {} values", steps + 1), "write a larger step");
    for (double i = 0; i <= steps; ++i) add_number(range.from + i * step->number);
  }

  void read_divisions(int points) {
    const AxisRange& range = *axis_.range;
    for (int i = 0; i < points; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(points - 1);
      add_number(range.scale == RangeScale::log ? range.from * std::pow(range.to / range.from, share)
                                                : range.from + share * (range.to - range.from));
    }
  }

  void read_zip() {
    const std::vector<YamlNode>& first = text_.zip.front().value.items;
    for (const Assignment& column : text_.zip) {
      if (column.value.kind != YamlNode::Kind::list || column.value.items.empty())
        return error(column.spot, fmt::format("`{}` needs a list of values", column.path), "");
      if (column.value.items.size() != first.size())
        return error(column.spot,
                     fmt::format("`{}` has {} values, `{}` has {}", column.path, column.value.items.size(),
                                 text_.zip.front().path, first.size()),
                     "what moves together has equally many values");
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i].kind != YamlNode::Kind::scalar)
        return error(first[i].spot, "the first key of a `zip` gives the labels: its values are single values",
                     "begin with another key, or write `cases`");
      AxisPoint point{first[i].text, first[i], {}};
      for (const Assignment& column : text_.zip)
        point.set.push_back({column.path, column.spot, column.value.items[i]});
      add(std::move(point));
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

  const AxisText& text_;
  std::string path_;
  const Reading& reading_;
  Axis axis_;
};

}  // namespace

std::string AxisRange::text(double number) const {
  // Twelve digits: 0.1 + 2 · 0.1 is to read 0.3.
  return fmt::format("{:.12g}{}", whole ? std::round(number) : number, unit);
}

AxisPoint Axis::at(double number) const {
  check(range.has_value(), "only a range has points between those listed");
  AxisPoint point{range->text(number), scalar_at(spot, range->text(number)), {}};
  if (key) point.set.push_back({key->path, key->spot, point.value});
  return point;
}

std::vector<Axis> axes_of(const StudyText& text, const Reading& reading) {
  std::vector<Axis> axes;
  std::set<std::string> names;
  for (std::size_t i = 0; i < text.vary.size(); ++i) {
    const std::string path = fmt::format("vary.{}", i);
    if (!reading.is_sound(path)) continue;
    axes.push_back(AxisReader(text.vary[i], path, reading).read());
    if (!names.insert(axes.back().name).second)
      reading.problems().error(reading.spot(path + ".name"),
                               fmt::format("the name `{}` is already used in `vary`", axes.back().name),
                               "give it another `name`");
  }
  return axes;
}

void check_axes_matter(const StudyText& text, const std::vector<Axis>& axes, const Reading& reading) {
  std::set<std::string, std::less<>> used;
  for (const VariantText& variant : text.variants)
    for (const Assignment& assignment : variant.set) collect_names(assignment, used);
  for (const Axis& axis : axes)
    for (const AxisPoint& point : axis.points)
      for (const Assignment& assignment : point.set) collect_names(assignment, used);
  for (const Assignment& assignment : text.set) collect_names(assignment, used);
  for (const Axis& axis : axes) {
    const bool sets =
        std::ranges::any_of(axis.points, [](const AxisPoint& point) { return !point.set.empty(); });
    if (sets || axis.points.empty() || used.contains(axis.name)) continue;
    reading.problems().error(
        axis.spot, fmt::format("`{}` changes nothing", axis.name),
        fmt::format("give it a `key`, or write `${{{}}}` in a value of `set`", axis.name));
  }
}

}  // namespace paceline
