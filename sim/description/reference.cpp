#include <fmt/format.h>

#include "sim/description/outputs.hpp"
#include "sim/description/reading.hpp"

namespace paceline {
namespace {

// The keys of one section, and the sections below it.
class ReferenceWriter final : public Visitor {
 public:
  explicit ReferenceWriter(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] std::string text() const {
    return fmt::format("| key | value | default | meaning |\n|---|---|---|---|\n{}\n{}", rows_, below_);
  }

 private:
  static std::string in_a_cell(std::string_view text) {
    std::string cell;
    for (const char c : text) cell += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    return cell;
  }

  static std::string value_of(const Field& field) {
    if (std::holds_alternative<SectionField*>(field)) return "section, see below";
    const auto* list = std::get_if<ListField*>(&field);
    if (list == nullptr) return expectation_of(field);
    std::string item;
    (*list)->with_new_item([&](const Field& one) {
      item = std::holds_alternative<SectionField*>(one) ? "section, see below" : expectation_of(one);
    });
    return fmt::format("a list; each {}: {}", (*list)->noun, item);
  }

  static std::string default_of(const Key& key) {
    switch (key.absence) {
      case Key::Absence::not_allowed:
        return "**required**";
      case Key::Absence::nothing:
        return std::string(key.when_absent);
      case Key::Absence::same_as:
        return fmt::format("same as `{}`", key.when_absent);
      case Key::Absence::initial_value:
        break;
    }
    if (const auto* scalar = std::get_if<ScalarField*>(&key.field))
      return fmt::format("`{}`", (*scalar)->kind().print((*scalar)->value()));
    return std::holds_alternative<ListField*>(key.field) ? "an empty list" : "the defaults below";
  }

  void visit(const Key& key) override {
    std::string meaning(key.meaning);
    if (key.condition != nullptr) meaning += fmt::format("; only for `{}`", key.condition->text());
    rows_ += fmt::format("| `{}` | {} | {} | {} |\n", key.name, in_a_cell(value_of(key.field)),
                         in_a_cell(default_of(key)), in_a_cell(meaning));
    const std::string path = join_path(path_, key.name);
    if (const auto* section = std::get_if<SectionField*>(&key.field)) add_below(path, key.meaning, **section);
    if (const auto* list = std::get_if<ListField*>(&key.field))
      (*list)->with_new_item([&](const Field& item) {
        if (const auto* section = std::get_if<SectionField*>(&item))
          add_below(path + "[]", key.meaning, **section);
      });
  }

  void add_below(const std::string& path, std::string_view meaning, const SectionField& section) {
    ReferenceWriter writer(path);
    section.describe_new_to(writer);
    below_ += fmt::format("## `{}`\n\n{}\n\n{}", path, meaning, writer.text());
  }

  std::string path_;
  std::string rows_;
  std::string below_;
};

}  // namespace

std::string markdown_reference(const SectionField& document, const ReferenceTexts& texts) {
  ReferenceWriter writer("");
  document.describe_new_to(writer);
  std::string text =
      fmt::format("# {}\n\n<!-- Written by `{}`: change the program, not this file. -->\n\n{}\n\n",
                  texts.title, texts.command, texts.introduction);
  text += fmt::format("```yaml\n{}```\n\n## The file\n\n{}", texts.example, writer.text());
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace paceline
