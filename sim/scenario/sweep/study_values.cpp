#include "sim/scenario/sweep/study_values.hpp"

#include <charconv>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  if (begin == text.npos) return std::nullopt;
  const std::size_t close = text.find('}', begin);
  if (close == text.npos) return std::nullopt;
  return Reference{begin, close + 1, std::string(text.substr(begin + 2, close - begin - 2))};
}

bool is_repeat(const YamlNode& node) {
  return node.kind == YamlNode::Kind::map && node.entries.size() == 2 && node.find("repeat") &&
         node.find("of");
}
bool is_lookup(const YamlNode& node) {
  return node.kind == YamlNode::Kind::map && node.entries.size() == 2 && node.find("lookup") &&
         node.find("in");
}

class Expansion {
 public:
  Expansion(const AxisMeanings& meanings, Problems& problems) : meanings_(meanings), problems_(problems) {}

  [[nodiscard]] std::string text(const std::string& text, const Spot& spot) {
    std::string result;
    std::size_t done = 0;
    while (const auto reference = next_reference(text, done)) {
      result += text.substr(done, reference->begin - done);
      if (const AxisMeaning* meaning = find(reference->name, spot))
        result += meaning->value->kind == YamlNode::Kind::scalar ? meaning->value->text : meaning->label;
      done = reference->end;
    }
    return result + text.substr(done);
  }

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
    for (const YamlNode& item : written.items) {
      if (is_repeat(item)) {
        append_repeated(item, result.items);
      } else {
        result.items.push_back(node(item));
      }
    }
    for (YamlEntry& entry : result.entries) entry.value = node(entry.value);
    return result;
  }

 private:
  const AxisMeaning* find(const std::string& name, const Spot& spot) {
    const auto found = meanings_.find(name);
    if (found != meanings_.end()) return &found->second;
    std::vector<std::string> known;
    for (const auto& entry : meanings_) known.push_back(entry.first);
    const std::optional<std::string> likely = closest(name, known);
    problems_.error(spot, fmt::format("nothing that is varied has the name `{}`", name),
                    likely ? fmt::format("did you mean `{}`?", *likely)
                           : fmt::format("varied here: {}", fmt::join(known, ", ")));
    return nullptr;
  }

  YamlNode scalar(const YamlNode& written) {
    const auto first = next_reference(written.text, 0);
    if (!first) return written;
    const bool is_whole = first->begin == 0 && first->end == written.text.size();
    if (is_whole) {
      const AxisMeaning* meaning = find(first->name, written.spot);
      return meaning == nullptr ? written : *meaning->value;
    }
    YamlNode result = written;
    result.text = text(written.text, written.spot);
    result.quoted = false;  // quotes are needed around `${…}` inside braces and say nothing about the value
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
    std::int64_t times = 0;
    const auto [end, status] =
        std::from_chars(count.text.data(), count.text.data() + count.text.size(), times);
    if (count.kind != YamlNode::Kind::scalar || status != std::errc{} ||
        end != count.text.data() + count.text.size() || times < 1 || times > most_repetitions) {
      problems_.error(count.spot, fmt::format("`repeat` is `{}`", count.text),
                      fmt::format("a whole number from 1 to {} is needed", most_repetitions));
      return;
    }
    const YamlNode item = node(written.find("of")->value);
    for (std::int64_t i = 0; i < times; ++i) items.push_back(item);
  }

  const AxisMeanings& meanings_;
  Problems& problems_;
};

void collect_from_text(const std::string& text, std::set<std::string, std::less<>>& names) {
  std::size_t done = 0;
  while (const auto reference = next_reference(text, done)) {
    names.insert(reference->name);
    done = reference->end;
  }
}

void collect_from_node(const YamlNode& node, std::set<std::string, std::less<>>& names) {
  collect_from_text(node.text, names);
  if (is_lookup(node)) names.insert(node.find("lookup")->value.text);
  for (const YamlNode& item : node.items) collect_from_node(item, names);
  for (const YamlEntry& entry : node.entries) collect_from_node(entry.value, names);
}

}  // namespace

Assignment in_combination(const Assignment& assignment, const AxisMeanings& meanings, Problems& problems) {
  Expansion expansion(meanings, problems);
  return {expansion.text(assignment.path, assignment.spot), assignment.spot,
          expansion.node(assignment.value)};
}

void collect_names(const Assignment& assignment, std::set<std::string, std::less<>>& names) {
  collect_from_text(assignment.path, names);
  collect_from_node(assignment.value, names);
}

}  // namespace paceline
