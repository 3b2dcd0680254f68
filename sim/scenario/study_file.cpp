#include "sim/scenario/study_file.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/scenario/overrides.hpp"
#include "sim/scenario/read_visitor.hpp"
#include "sim/scenario/schema_visitor.hpp"

namespace paceline {
namespace {

constexpr std::size_t maximum_folder_length = 100;

struct VariantText {
  std::string name;
  std::vector<Assignment> set;
};

struct StudyText {
  std::string study;
  std::string question;
  std::filesystem::path base;
  std::vector<VariantText> variants;
};

template <class Visitor>
void describe(Visitor& v, VariantText& c) {
  v.required("name", c.name, Text{}, "appears in tables and figures, and names the results folder");
  v.optional("set", c.set, KeyPathValues{}, "what differs from the base", Absent{"nothing"});
}

template <class Visitor>
void describe(Visitor& v, StudyText& c) {
  v.required("study", c.study, Text{}, "the name of the study");
  v.optional("question", c.question, Text{}, "what the study is to answer", Absent{"none"});
  v.required("base", c.base, Path{}, "a scenario file, relative to this file");
  v.required("variants", c.variants, ListOf<Section>{{}, "variant", 1, 1000}, "what is compared");
}

void check_names(const StudyText& text, const Reading& reading) {
  std::map<std::string, std::string> name_of_folder;
  for (std::size_t i = 0; i < text.variants.size(); ++i) {
    const std::string path = fmt::format("variants.{}.name", i);
    if (!reading.is_sound(path)) continue;
    const std::string& name = text.variants[i].name;
    const auto [first, is_new] = name_of_folder.emplace(folder_name(name), name);
    if (is_new) continue;
    reading.problems().error(reading.spot(path),
                             first->second == name
                                 ? fmt::format("the variant name `{}` is already used", name)
                                 : fmt::format("`{}` and `{}` would share the results folder `{}`",
                                               first->second, name, first->first),
                             "give each variant a name of its own");
  }
}

// A problem seen by some variants. One that all see is a problem of the base.
class SharedProblems {
 public:
  void add(const std::string& variant, const Problems& problems) {
    for (const Problem& problem : problems.sorted()) {
      // A problem of one place and message is the same problem, whichever variant meets it.
      auto& [kept, seen_by] = by_text_[problem.render()];
      kept = problem;
      seen_by.push_back(variant);
    }
  }

  void move_to(Problems& problems, std::size_t variant_count) {
    for (auto& [text, shared] : by_text_) {
      auto& [problem, seen_by] = shared;
      if (seen_by.size() < variant_count)
        problem.message += fmt::format(" (in `{}`)", fmt::join(seen_by, "`, `"));
      problems.add(std::move(problem));
    }
  }

 private:
  std::map<std::string, std::pair<Problem, std::vector<std::string>>> by_text_;
};

// Refuses assignments to the key that the study itself sets.
void check_names_are_free(std::span<const Assignment> assignments, Problems& problems) {
  for (const Assignment& assignment : assignments)
    if (assignment.path == "name")
      problems.error(assignment.spot, "`name` cannot be set in a study",
                     "a scenario takes its variant's name");
}

LoadedScenario load_variant(const VariantText& variant, const Spot& name_spot, const YamlNode& base,
                            const std::filesystem::path& base_file, std::span<const Assignment> overrides,
                            Problems& problems) {
  YamlNode tree = base;
  for (const Assignment& assignment : variant.set) apply(assignment, tree, problems);
  for (const Assignment& assignment : overrides) apply(assignment, tree, problems);
  apply({"name", name_spot, {YamlNode::Kind::scalar, name_spot, variant.name, true, {}, {}}}, tree, problems);
  return read_scenario(tree, base_file, problems);
}

std::optional<YamlNode> parse_base(const StudyText& text, const Reading& reading) {
  if (!reading.is_sound("base")) return std::nullopt;
  if (!std::filesystem::is_regular_file(text.base)) {
    reading.problems().error(reading.spot("base"), fmt::format("there is no file {}", text.base.string()),
                             "the path is relative to the study file");
    return std::nullopt;
  }
  Problems in_base;
  std::optional<YamlNode> base = parse_yaml_file(text.base, in_base);
  for (Problem& problem : in_base.sorted()) reading.problems().add(std::move(problem));
  return base;
}

bool names_the_same(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (b.size() == a.size() || b[a.size()] == '.' || b[a.size()] == '[');
}

// A variant is named after what it sets: an override of the same key would make its name untrue.
void check_variants_keep_their_keys(const VariantText& variant, std::span<const Assignment> overrides,
                                    Problems& problems) {
  for (const Assignment& own : variant.set)
    for (const Assignment& assignment : overrides)
      if (names_the_same(own.path, assignment.path))
        problems.error(assignment.spot,
                       fmt::format("`{}` is what the variant `{}` sets", own.path, variant.name),
                       "change the study file, or run the base scenario with `paceline run`");
}

}  // namespace

Study load_study(const std::filesystem::path& file, std::span<const std::string> overrides) {
  Problems problems;
  const std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) problems.throw_if_errors(file.string());
  StudyText text;
  Reading reading(problems);
  read_document(*root, text, reading);
  check_names(text, reading);
  const std::optional<YamlNode> base = parse_base(text, reading);
  const std::vector<Assignment> assignments = parse_overrides(overrides, problems);
  check_names_are_free(assignments, problems);

  Study study{text.study, text.question, file, {}};
  SharedProblems shared;
  for (std::size_t i = 0; i < text.variants.size(); ++i) {
    const std::string path = fmt::format("variants.{}", i);
    const VariantText& variant = text.variants[i];
    check_names_are_free(variant.set, problems);
    check_variants_keep_their_keys(variant, assignments, problems);
    if (!base || !reading.is_sound(path)) continue;
    Problems in_variant;
    study.variants.push_back({variant.name, load_variant(variant, reading.spot(path + ".name"), *base,
                                                         text.base, assignments, in_variant)});
    shared.add(variant.name, in_variant);
  }
  shared.move_to(problems, study.variants.size());
  problems.throw_if_errors(file.string());
  return study;
}

std::string folder_name(std::string_view name) {
  std::string folder;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (kept)
      folder += lower;
    else if (!folder.empty() && folder.back() != '-')
      folder += '-';
  }
  folder.resize(std::min(folder.size(), maximum_folder_length));
  if (folder.ends_with('-')) folder.pop_back();
  return folder.empty() ? "unnamed" : folder;
}

std::string study_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "paceline study"},
              {"description", "one base scenario and the variants of it that are compared"}};
  schema.update(SchemaVisitor::of<StudyText>());
  return schema.dump(2) + "\n";
}

bool is_study_file(const std::filesystem::path& file) {
  Problems ignored;
  const std::optional<YamlNode> root = parse_yaml_file(file, ignored);
  return root && (root->find("study") != nullptr || root->find("variants") != nullptr);
}

}  // namespace paceline
