#include "sim/scenario/schema/read_visitor.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace paceline {
namespace {

std::string_view found_text(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "a single value";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a section with keys";
  }
  return "";
}

// " in `cluster.network`"; nothing for the whole file.
std::string in_section(const std::string& path) {
  return path.empty() ? "" : fmt::format(" in `{}`", path);
}

}  // namespace

bool expect_kind(const ReadPoint& point, YamlNode::Kind kind, const std::string& expectation,
                 Reading& reading) {
  if (point.node.kind == kind) return true;
  const bool whole_file = point.path.empty();
  const std::string what = whole_file ? "the file" : fmt::format("`{}`", point.path);
  const std::string message =
      point.node.kind == YamlNode::Kind::null
          ? fmt::format("{} is empty", what)
          : fmt::format("{} must be {}, found {}", what, expectation, found_text(point.node.kind));
  const std::string hint =
      point.node.kind == YamlNode::Kind::null ? fmt::format("expected {}", expectation) : "";
  reading.problems().error(point.node.spot, message, hint);
  reading.note_failure(point.path);
  return false;
}

void note_mistake(const ReadPoint& point, const Mistake& mistake, Reading& reading) {
  reading.problems().error(point.node.spot, fmt::format("`{}`: {}", point.path, mistake.message),
                           mistake.hint);
  reading.note_failure(point.path);
}

void note_missing(const Spot& section, const std::string& path, std::string_view description,
                  const std::string& expectation, Reading& reading) {
  const std::size_t dot = path.rfind('.');
  const std::string key = dot == path.npos ? path : path.substr(dot + 1);
  const std::string parent = dot == path.npos ? "" : path.substr(0, dot);
  reading.problems().error(section, fmt::format("missing key `{}`{}", key, in_section(parent)),
                           fmt::format("`{}`: {}; expected {}", key, description, expectation));
  reading.note_failure(path);
}

void note_unknown_keys(const YamlNode& map, const std::string& path, const std::vector<std::string>& known,
                       Reading& reading) {
  for (const YamlEntry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::optional<std::string> likely = closest(entry.key, known);
    reading.problems().error(entry.spot, fmt::format("unknown key `{}`{}", entry.key, in_section(path)),
                             likely ? fmt::format("did you mean `{}`?", *likely)
                                    : fmt::format("accepted here: {}", fmt::join(known, ", ")));
  }
}

void note_unused(const YamlEntry& entry, const std::string& section, const OnlyIf& condition,
                 Reading& reading) {
  const std::string deciding = join_path(section, condition.key);
  if (!reading.is_sound(deciding) || reading.spot(deciding).source != entry.spot.source) return;
  reading.problems().warning(entry.spot,
                             fmt::format("`{}` is only used with `{}`", entry.key, condition.text()));
}

bool expect_item_count(const ReadPoint& point, std::size_t minimum, std::size_t maximum,
                       std::string_view noun, Reading& reading) {
  const std::size_t count = point.node.items.size();
  if (count >= minimum && count <= maximum) return true;
  const bool few = count < minimum;
  reading.problems().error(point.node.spot,
                           fmt::format("`{}` has {} items, {} {} {}{}", point.path, count,
                                       few ? "at least" : "at most", few ? minimum : maximum, noun,
                                       (few ? minimum : maximum) == 1 ? " is needed" : "s are possible"),
                           "");
  reading.note_failure(point.path);
  return false;
}

}  // namespace paceline
