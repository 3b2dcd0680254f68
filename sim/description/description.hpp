// How a struct says which keys of a file fill it: once, for everything that is done with the keys.
//
// A section is a struct T with `void describe(Visitor&, T&)`, which calls for each key
//   v.required(key, member, kind, meaning)
//   v.optional(key, member, kind, meaning)                 absent: the member keeps its initial value
//   v.optional(key, member, kind, meaning, Absent{"…"})    absent: an empty std::optional or text, "…" says
//                                                          what then happens
//   v.optional(key, member, kind, meaning, SameAs{…})      absent: the member takes another key's value
//   v.optional(key, member, kind, meaning, Expanded{})     worked off before reading; absent: the default
// and around keys that have a meaning only under another
//   v.only_if({"topology", {"tree"}, c.topology == Topology::tree}); … v.always();
// Keys are visited in order, so a condition may look at members that were described before it. One key may be
// described under several conditions that exclude each other.
//
// Kinds: those of kinds.hpp; `Section{}` for a struct or an optional one; `ListOf{kind, "item"}` for a
// std::vector; `AnyValue{}` and `KeyPathValues{}` for what is kept as written.
// Visitors: reading and listing (reading.hpp), JSON schema and reference (outputs.hpp). A describe function
// is compiled once, whatever visits it.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/description/kinds.hpp"

namespace paceline {

struct YamlNode;
class Visitor;

// What is used when a key is absent, in words.
struct Absent {
  std::string_view meaning;
};
// What is written once for several is worked off in the tree before it is read: nothing holds its value.
struct Expanded {};
template <class T>
struct SameAs {
  std::string_view key;  // described before this one
  const T& value;
};

// A key of the same section, described before, that has one of these values.
struct OnlyIf {
  std::string_view key;
  std::vector<std::string_view> values;  // as written
  bool holds = false;

  [[nodiscard]] std::string text() const;  // "topology: tree or star"
};

// Structures, as kinds.
struct Section {};
struct KeyPathValues {};  // a map from key paths to any value
struct AnyValue {};
template <class ItemKind>
struct ListOf {
  ItemKind kind;
  std::string_view noun;  // of one item: "worker"
  std::size_t minimum_items = 0;
  std::size_t maximum_items = std::numeric_limits<std::size_t>::max();
};
template <class ItemKind, class... Bounds>
ListOf(ItemKind, std::string_view, Bounds...) -> ListOf<ItemKind>;

// Between members and Plain. A type that is none of these has overloads of its own in this namespace.
template <class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
[[nodiscard]] Plain plain_of(T value) {
  if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) {
    return value;
  } else {
    return static_cast<std::int64_t>(value);
  }
}
template <class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void assign(T& member, const Plain& value) {
  if constexpr (std::is_same_v<T, bool>) {
    member = std::get<bool>(value);
  } else {
    member = static_cast<T>(number_of(value));
  }
}
template <int Time, int Data>
[[nodiscard]] Plain plain_of(Quantity<Time, Data> value) {
  return value.value();
}
template <int Time, int Data>
void assign(Quantity<Time, Data>& member, const Plain& value) {
  member = Quantity<Time, Data>{number_of(value)};
}
template <class T>
concept KeptAsPlain = std::same_as<T, std::string> || std::same_as<T, Threshold>;
template <KeptAsPlain T>
[[nodiscard]] Plain plain_of(const T& value) {
  return value;
}
template <KeptAsPlain T>
void assign(T& member, const Plain& value) {
  member = std::get<T>(value);
}
[[nodiscard]] inline Plain plain_of(const std::filesystem::path& value) {
  return value.string();
}
inline void assign(std::filesystem::path& member, const Plain& value) {
  member = std::get<std::string>(value);
}

// Members without their types: what a visitor sees, as long as its visit lasts.
struct Field;
struct ScalarField {
  const Kind& kind;
  std::function<std::optional<Plain>()> value;  // nothing: an empty std::optional or text
  std::function<void(const Plain&)> set;
};
struct SectionField {
  bool is_empty = false;                   // an optional one that is absent
  std::function<void(Visitor&)> describe;  // gives an empty one its initial values first
};
struct ListField {
  std::string_view noun;
  std::size_t minimum_items = 0;
  std::size_t maximum_items = 0;
  std::size_t size = 0;
  std::function<void(std::size_t)> resize;  // to so many new items
  std::function<Field(std::size_t)> item;
  std::function<void(const std::function<void(Field)>&)> with_new_item;
};
struct TreeField {
  bool is_map = false;
  std::function<void(const YamlNode&)> set;
};
struct Field : std::variant<ScalarField, SectionField, ListField, TreeField> {
  using variant::variant;
  template <class Shape>
  [[nodiscard]] const Shape* as() const {
    return std::get_if<Shape>(this);
  }
  template <class Shape>
  [[nodiscard]] const Shape& get() const {
    return std::get<Shape>(*this);
  }
};

// "a number from 0 to 1", "a section with keys of its own"
[[nodiscard]] std::string expectation_of(const Field& field);

template <class Member>
[[nodiscard]] bool lacks_value(const Member& member) {
  if constexpr (requires { member.has_value(); }) {
    return !member.has_value();
  } else if constexpr (requires { member.empty(); }) {
    return member.empty();
  } else {
    return false;
  }
}
template <class Member>
[[nodiscard]] auto& created(Member& member) {
  if constexpr (requires {
                  member.emplace();
                  member.has_value();
                }) {
    return member ? *member : member.emplace();
  } else {
    return member;
  }
}

template <class T>
struct IsList : std::false_type {};
template <class ItemKind>
struct IsList<ListOf<ItemKind>> : std::true_type {};

// Both must outlive the field.
template <class Member, class K>
[[nodiscard]] Field field_of(Member& member, const K& kind) {
  if constexpr (std::derived_from<K, Kind>) {
    const auto value = [&member]() -> std::optional<Plain> {
      return lacks_value(member) ? std::nullopt : std::optional(plain_of(created(member)));
    };
    return ScalarField{kind, value, [&member](const Plain& plain) { assign(created(member), plain); }};
  } else if constexpr (std::is_same_v<K, Section>) {
    return SectionField{lacks_value(member), [&member](Visitor& v) { describe(v, created(member)); }};
  } else if constexpr (IsList<K>::value) {
    using Item = typename Member::value_type;
    return ListField{kind.noun,
                     kind.minimum_items,
                     kind.maximum_items,
                     member.size(),
                     [&member](std::size_t items) { member.assign(items, Item{}); },
                     [&member, &kind](std::size_t index) { return field_of(member[index], kind.kind); },
                     [&kind](const std::function<void(Field)>& use) {
                       Item fresh{};
                       use(field_of(fresh, kind.kind));
                     }};
  } else {
    return TreeField{std::is_same_v<K, KeyPathValues>,
                     [&member](const YamlNode& value) { assign(member, value); }};
  }
}

struct Key {
  enum class Absence { not_allowed, initial_value, nothing, same_as, expanded };
  std::string_view name;
  Field field;
  std::string_view meaning;
  Absence absence = Absence::not_allowed;
  std::string_view when_absent = {};      // nothing: what then happens; same_as: the other key
  std::optional<Plain> other_value = {};  // same_as: that key's
  const OnlyIf* condition = nullptr;      // absent: it always has a meaning

  [[nodiscard]] bool has_meaning() const { return condition == nullptr || condition->holds; }
};

class Visitor {
 public:
  virtual ~Visitor() = default;

  template <class Member, class K>
  void required(std::string_view name, Member& member, const K& kind, std::string_view meaning) {
    pass({name, field_of(member, kind), meaning});
  }
  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning) {
    pass({name, field_of(member, kind), meaning, Key::Absence::initial_value});
  }
  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning,
                Absent absent) {
    pass({name, field_of(member, kind), meaning, Key::Absence::nothing, absent.meaning});
  }
  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning,
                const SameAs<Member>& same) {
    pass({name, field_of(member, kind), meaning, Key::Absence::same_as, same.key, plain_of(same.value)});
  }

  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning, Expanded) {
    pass({name, field_of(member, kind), meaning, Key::Absence::expanded});
  }

  void only_if(OnlyIf condition) { condition_ = std::move(condition); }
  void always() { condition_.reset(); }

 protected:
  virtual void visit(const Key& key) = 0;

 private:
  void pass(Key key);

  std::optional<OnlyIf> condition_;
};

}  // namespace paceline
