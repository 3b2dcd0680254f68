// The visitor that lists every value of a struct with the place it came from.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/description.hpp"
#include "sim/scenario/schema/reading.hpp"

namespace paceline {

struct ResolvedValue {
  std::string key;     // "cluster.workers.2.speed"
  std::string value;   // as it could be written in a file; if absent, what happens instead, in words
  std::string origin;  // "file:line:column", "--set key=value", "default"
  bool is_absent = false;
};

// Whether a member holds nothing, and the value in the type its kind prints.
template <class T>
bool is_empty(const std::optional<T>& member) {
  return !member.has_value();
}
inline bool is_empty(const std::string& member) {
  return member.empty();
}
template <class T>
const T& held(const T& member) {
  return member;
}
template <class T>
const T& held(const std::optional<T>& member) {
  return *member;
}
template <class T>
T& held(T& member) {
  return member;
}
template <class T>
T& held(std::optional<T>& member) {
  return *member;
}

class PrintVisitor {
 public:
  PrintVisitor(std::string path, const Reading& reading, std::vector<ResolvedValue>& values)
      : path_(std::move(path)), reading_(reading), values_(values) {}

  template <class Member, class Kind>
  void required(std::string_view key, Member& member, const Kind& kind, std::string_view) {
    if (has_meaning_) print(join_path(path_, key), member, kind);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view) {
    if (has_meaning_) print(join_path(path_, key), member, kind);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view,
                const SameAs<Member>&) {
    if (has_meaning_) print(join_path(path_, key), member, kind);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view, Absent absent) {
    if (!has_meaning_) return;
    const std::string path = join_path(path_, key);
    if (is_empty(member)) {
      values_.push_back({path, std::string(absent.meaning), reading_.origin(path), true});
    } else {
      print(path, held(member), kind);
    }
  }

  void only_if(const OnlyIf& condition) { has_meaning_ = condition.holds; }
  void always() { has_meaning_ = true; }

 private:
  template <class Member, class Kind>
  void print(const std::string& path, const Member& member, const Kind& kind) {
    values_.push_back({path, kind.print(member), reading_.origin(path), false});
  }
  template <class Struct>
  void print(const std::string& path, Struct& section, const Section&) {
    PrintVisitor inner(path, reading_, values_);
    describe(inner, section);
  }
  template <class Struct>
  void print(const std::string& path, std::vector<Struct>& items, const ListOf<Section>& list) {
    for (std::size_t i = 0; i < items.size(); ++i)
      print(join_path(path, std::to_string(i)), items[i], list.kind);
  }
  template <class Item, class Kind>
  void print(const std::string& path, std::vector<Item>& items, const ListOf<Kind>& list) {
    std::string text;
    for (const Item& item : items) text += (text.empty() ? "" : ", ") + list.kind.print(item);
    values_.push_back({path, fmt::format("[{}]", text), reading_.origin(path), false});
  }

  std::string path_;
  const Reading& reading_;
  std::vector<ResolvedValue>& values_;
  bool has_meaning_ = true;
};

}  // namespace paceline
