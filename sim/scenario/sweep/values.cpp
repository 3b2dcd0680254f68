// What a study's values mean in one combination: `${AXIS}`, `repeat` and `lookup` (study_plan.hpp).
#include <charconv>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/scenario/sweep/study_parts.hpp"

namespace paceline {
namespace {

constexpr std::int64_t most_repetitions = 1 << 16;

// One `${NAME}` of a text, or nothing after the last.
struct Reference {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind the brace
  std::string name;
};

std::optional<Reference> next_reference(std::string_view text, std::size_t from) {
  const std::size_t begin = text.find("${", from);
  const std::size_t close = text.find('}', begin == text.npos ? text.size() : begin);
  if (close == text.npos) return std::nullopt;
  return Reference{begin, close + 1, std::string(text.substr(begin + 2, close - begin - 2))};
}

// `{repeat: …, of: …}` and `{lookup: …, in: …}`.
bool has_form(const YamlNode& node, std::string_view first, std::string_view second) {
  return node.kind == YamlNode::Kind::map && node.entries.size() == 2 && node.find(first) &&
         node.find(second);
}
bool is_repeat(const YamlNode& node) {
  return has_form(node, "repeat", "of");
}
bool is_lookup(const YamlNode& node) {
  return has_form(node, "lookup", "in");
}

class Expansion {
 public:
  Expansion(const AxisMeanings& meanings, Problems& problems) : meanings_(meanings), problems_(problems) {}

  [[nodiscard]] YamlNode node(const YamlNode& written) {
    if (written.kind == YamlNode::Kind::scalar) return scalar(written);
    if (is_lookup(written)) return lookup(written);
    YamlNode result = written;
    result.items.clear();
    if (is_repeat(written)) {
      result.kind = YamlNode::Kind::list;
      result.entries.clear();
      append_repeated(written, result.items);
      return result;
    }
    for (const YamlNode& item : written.items)
      if (is_repeat(item))
        append_repeated(item, result.items);
      else
        result.items.push_back(node(item));
    for (YamlEntry& entry : result.entries) entry.value = node(entry.value);
    return result;
  }

 private:
  const AxisMeaning* find(const std::string& name, const Spot& spot) {
    const auto found = meanings_.find(name);
    if (found != meanings_.end()) return &found->second;
    std::vector<std::string> known;
    for (const auto& entry : meanings_) known.push_back(entry.first);
    refuse_unknown_axis(name, known, spot, problems_);
    return nullptr;
  }

  // A text that is one reference and nothing else stands for the value itself, which may be a whole section.
  YamlNode scalar(const YamlNode& written) {
    std::optional<Reference> reference = next_reference(written.text, 0);
    if (!reference) return written;
    if (reference->begin == 0 && reference->end == written.text.size()) {
      const AxisMeaning* meaning = find(reference->name, written.spot);
      return meaning == nullptr ? written : *meaning->value;
    }
    YamlNode result = written;
    result.quoted = false;  // quotes are needed around `${…}` inside braces and say nothing about the value
    result.text.clear();
    std::size_t done = 0;
    for (; reference; reference = next_reference(written.text, done)) {
      result.text += written.text.substr(done, reference->begin - done);
      if (const AxisMeaning* meaning = find(reference->name, written.spot))
        result.text += meaning->value->kind == YamlNode::Kind::scalar ? meaning->value->text : meaning->label;
      done = reference->end;
    }
    result.text += written.text.substr(done);
    return result;
  }

  YamlNode lookup(const YamlNode& written) {
    const YamlNode& name = written.find("lookup")->value;
    const YamlNode& table = written.find("in")->value;
    const AxisMeaning* meaning = find(name.text, name.spot);
    if (meaning == nullptr) return written;
    if (const YamlEntry* entry = table.find(meaning->label)) return node(entry->value);
    problems_.error(table.spot, fmt::format("there is no value for `{}` {}", name.text, meaning->label),
                    fmt::format("add `{}: …`", meaning->label));
    return written;
  }

  void append_repeated(const YamlNode& written, std::vector<YamlNode>& items) {
    const YamlNode count = node(written.find("repeat")->value);
    const char* end = count.text.data() + count.text.size();
    std::int64_t times = 0;
    const auto [parsed_to, status] = std::from_chars(count.text.data(), end, times);
    if (status != std::errc{} || parsed_to != end || times < 1 || times > most_repetitions)
      return problems_.error(count.spot, fmt::format("`repeat` is `{}`", count.text),
                             fmt::format("a whole number from 1 to {} is needed", most_repetitions));
    items.insert(items.end(), static_cast<std::size_t>(times), node(written.find("of")->value));
  }

  const AxisMeanings& meanings_;
  Problems& problems_;
};

}  // namespace

Assignment in_combination(const Assignment& assignment, const AxisMeanings& meanings, Problems& problems) {
  return {assignment.path, assignment.spot, Expansion(meanings, problems).node(assignment.value)};
}

void collect_names(const YamlNode& value, std::set<std::string, std::less<>>& names) {
  for (auto reference = next_reference(value.text, 0); reference;
       reference = next_reference(value.text, reference->end))
    names.insert(reference->name);
  if (is_lookup(value)) names.insert(value.find("lookup")->value.text);
  for (const YamlNode& item : value.items) collect_names(item, names);
  for (const YamlEntry& entry : value.entries) collect_names(entry.value, names);
}

std::string hint_for(std::string_view name, const std::vector<std::string>& known,
                     std::string_view what_these_are) {
  const std::optional<std::string> likely = closest(name, known);
  return likely ? fmt::format("did you mean `{}`?", *likely)
                : fmt::format("{}: {}", what_these_are, fmt::join(known, ", "));
}

void refuse_unknown_axis(std::string_view name, const std::vector<std::string>& known, const Spot& spot,
                         Problems& problems) {
  problems.error(spot, fmt::format("nothing that is varied has the name `{}`", name),
                 hint_for(name, known, "varied here"));
}

}  // namespace paceline
