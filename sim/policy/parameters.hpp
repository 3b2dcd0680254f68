// What a rule lets a scenario set: a struct of its own, described as any other section of a file.
//
// A policy keeps its struct in its own file and describes it beside it:
//   struct SspParameters {
//     std::int64_t staleness = 0;
//   };
//   void describe(Visitor& v, SspParameters& p) {
//     v.required("staleness", p.staleness, Whole{0}, "iterations a worker may be ahead of the slowest");
//   }
// The keys a scenario accepts, their checks, the schema and the random jobs of the tests follow from that.
// Rules of one family may share a key.
#pragma once

#include <any>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/description/description.hpp"

namespace paceline {

// The struct of one rule, whatever its type.
class Parameters {
 public:
  Parameters() = default;  // of a rule that has none
  template <class Struct>
  [[nodiscard]] static Parameters of(Struct initial = {}) {
    Parameters parameters;
    parameters.values_ = std::move(initial);
    parameters.describe_ = [](Visitor& v, std::any& values) { describe(v, *std::any_cast<Struct>(&values)); };
    return parameters;
  }

  template <class Struct>
  [[nodiscard]] const Struct& as() const {
    const auto* values = std::any_cast<Struct>(&values_);
    if (values == nullptr) throw ProgrammingError("these are the parameters of another rule");
    return *values;
  }

  void describe_to(Visitor& v) {
    if (describe_ != nullptr) describe_(v, values_);
  }
  [[nodiscard]] std::optional<Plain> value(std::string_view key) const;
  // False if the rule has no such key.
  bool set(std::string_view key, const Plain& value);

 private:
  std::any values_;
  void (*describe_)(Visitor& v, std::any& values) = nullptr;
};

// What is wrong with the value of a key.
struct Complaint {
  std::string_view key;
  std::string message;
};

struct ParameterValue {
  std::string_view key;
  Plain value;
  template <class Value>
  ParameterValue(std::string_view k, const Value& v) : key(k), value(plain_of(v)) {}
};

// One rule of a family, chosen by its word, with values for its parameters. A family's rules have a `word`
// and `parameters`; `Rule::all()` lists them, the default first.
template <class Rule>
class Chosen {
 public:
  Chosen() : Chosen(Rule::all().front()) {}
  explicit Chosen(const Rule& rule) : rule_(&rule), parameters_(rule.parameters) {}
  explicit Chosen(std::string_view word) : Chosen(named(word)) {}
  // Implicit, as words stand in scenarios: {"k-sync", {{"gradients", 2}}}.
  Chosen(const char* word, std::initializer_list<ParameterValue> values = {}) : Chosen(named(word)) {
    for (const auto& [key, value] : values) check(parameters_.set(key, value), "a rule has no such key");
  }

  const Rule* operator->() const { return rule_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  friend bool operator==(const Chosen& chosen, std::string_view word) { return chosen->word == word; }

 private:
  static const Rule& named(std::string_view word) {
    for (const Rule& rule : Rule::all())
      if (rule.word == word || (!word.empty() && rule.synonym == word)) return rule;
    throw ProgrammingError("no rule has this word");
  }

  const Rule* rule_;
  Parameters parameters_;
};

// In files a choice is its word; reading one gives the parameters their initial values.
template <class Rule>
[[nodiscard]] Plain plain_of(const Chosen<Rule>& chosen) {
  return std::string(chosen->word);
}
template <class Rule>
void assign(Chosen<Rule>& chosen, const Plain& word) {
  chosen = Chosen<Rule>(std::string_view(std::get<std::string>(word)));
}

template <class Rule>
void describe_word(Visitor& v, std::string_view key, Chosen<Rule>& chosen) {
  std::vector<Choice::Word> words;
  std::string meanings;
  for (const Rule& rule : Rule::all()) {
    words.emplace_back(rule.word);
    meanings += (meanings.empty() ? "" : "; ") + std::string(rule.word);
    if (!rule.synonym.empty()) {
      words.emplace_back(rule.synonym);
      meanings += " or " + std::string(rule.synonym);
    }
    meanings += ": " + std::string(rule.description);
  }
  v.required(key, chosen, Choice(std::move(words)), meanings);
}

// The keys of all rules of the family, each with a meaning only where the word under `key` is its rule's.
template <class Rule>
void describe_parameters(Visitor& v, std::string_view key, Chosen<Rule>& chosen) {
  for (const Rule& rule : Rule::all()) {
    const bool is_chosen = chosen == rule.word;
    Parameters initial = rule.parameters;
    v.only_if({key, {rule.word}, is_chosen});
    (is_chosen ? chosen.parameters() : initial).describe_to(v);
  }
  v.always();
}

// The words of the rules that have a property: {"controller", words_with(&BatchControllerRule::adjusts), …}.
template <class Rule>
[[nodiscard]] std::vector<std::string_view> words_with(bool Rule::*property) {
  std::vector<std::string_view> words;
  for (const Rule& rule : Rule::all())
    if (rule.*property) words.push_back(rule.word);
  return words;
}

}  // namespace paceline
