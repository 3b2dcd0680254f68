// How a struct says which keys of a file fill it: once, for everything that is done with the keys.
//
// A section is a struct T with `void describe(Visitor&, T&)`, which calls for each key
//   v.required(key, member, kind, meaning)
//   v.optional(key, member, kind, meaning)                 absent: the member keeps its initial value
//   v.optional(key, member, kind, meaning, Absent{"…"})    absent: an empty std::optional or text, "…" says
//                                                          what then happens
//   v.optional(key, member, kind, meaning, SameAs{…})      absent: the member takes another key's value
// and around keys that have a meaning only under another
//   v.only_if({"topology", {"tree"}, c.topology == Topology::tree}); … v.always();
// Keys are visited in order, so a condition may look at members that were described before it. One key may be
// described under several conditions that exclude each other.
//
// Kinds: those of kinds.hpp; `Section{}` for a struct or an optional one; `ListOf{kind, "item"}` for a
// std::vector; `AnyValue{}` and `KeyPathValues{}` for what is kept as written.
// Visitors: reading (read_document), printing, JSON schema and reference (document.hpp). A describe function
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
template <class ItemKind>
ListOf(ItemKind, std::string_view) -> ListOf<ItemKind>;
template <class ItemKind>
ListOf(ItemKind, std::string_view, std::size_t) -> ListOf<ItemKind>;
template <class ItemKind>
ListOf(ItemKind, std::string_view, std::size_t, std::size_t) -> ListOf<ItemKind>;

// Between members and Plain. A type that is none of these has overloads of its own in this namespace.
[[nodiscard]] double number_of(const Plain& value);
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
[[nodiscard]] Plain plain_of(const std::string& value);
[[nodiscard]] Plain plain_of(const std::filesystem::path& value);
[[nodiscard]] Plain plain_of(const Threshold& value);
void assign(std::string& member, const Plain& value);
void assign(std::filesystem::path& member, const Plain& value);
void assign(Threshold& member, const Plain& value);

// Members without their types: what a visitor sees.
class ScalarField {
 public:
  virtual ~ScalarField() = default;
  [[nodiscard]] virtual const Kind& kind() const = 0;
  [[nodiscard]] virtual bool is_empty() const = 0;  // an empty std::optional or text
  [[nodiscard]] virtual Plain value() const = 0;
  virtual void set(const Plain& value) = 0;
};
class SectionField {
 public:
  virtual ~SectionField() = default;
  [[nodiscard]] virtual bool is_empty() const = 0;
  virtual void create() = 0;  // an optional one, with the initial values of its members
  virtual void describe_to(Visitor& visitor) = 0;
  virtual void describe_new_to(Visitor& visitor) const = 0;  // one with initial values
};
class TreeField {
 public:
  virtual ~TreeField() = default;
  [[nodiscard]] virtual bool is_map() const = 0;
  virtual void set(const YamlNode& value) = 0;
};
class ListField;
using Field = std::variant<ScalarField*, SectionField*, ListField*, TreeField*>;
class ListField {
 public:
  virtual ~ListField() = default;
  std::string_view noun;
  std::size_t minimum_items = 0;
  std::size_t maximum_items = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  virtual void resize(std::size_t items) = 0;  // to new items
  virtual void with_item(std::size_t index, const std::function<void(Field)>& use) = 0;
  virtual void with_new_item(const std::function<void(Field)>& use) const = 0;
};

// "a number from 0 to 1", "a section with keys of its own"
[[nodiscard]] std::string expectation_of(const Field& field);

struct Key {
  enum class Absence { not_allowed, initial_value, nothing, same_as };
  std::string_view name;
  Field field;
  std::string_view meaning;
  Absence absence = Absence::not_allowed;
  std::string_view when_absent = {};      // nothing: what then happens; same_as: the other key
  std::optional<Plain> other_value = {};  // same_as: that key's
  const OnlyIf* condition = nullptr;      // absent: it always has a meaning

  [[nodiscard]] bool has_meaning() const { return condition == nullptr || condition->holds; }
};

// The members of one struct, bound to their kinds.
template <class Member>
class BoundScalar final : public ScalarField {
 public:
  BoundScalar(Member& member, const Kind& kind) : member_(member), kind_(kind) {}
  [[nodiscard]] const Kind& kind() const override { return kind_; }
  [[nodiscard]] bool is_empty() const override {
    if constexpr (requires { member_.has_value(); }) {
      return !member_.has_value();
    } else if constexpr (requires { member_.empty(); }) {
      return member_.empty();
    } else {
      return false;
    }
  }
  [[nodiscard]] Plain value() const override {
    if constexpr (requires { member_.has_value(); }) {
      return plain_of(*member_);
    } else {
      return plain_of(member_);
    }
  }
  void set(const Plain& value) override {
    if constexpr (requires { member_.has_value(); }) {
      assign(member_.emplace(), value);
    } else {
      assign(member_, value);
    }
  }

 private:
  Member& member_;
  const Kind& kind_;
};

template <class Member>
class BoundSection final : public SectionField {
  static constexpr bool is_optional = requires(Member & m) { m.emplace(); };

 public:
  BoundSection(Member& member, const Section&) : member_(member) {}
  [[nodiscard]] bool is_empty() const override {
    if constexpr (is_optional) {
      return !member_.has_value();
    } else {
      return false;
    }
  }
  void create() override {
    if constexpr (is_optional) member_.emplace();
  }
  void describe_to(Visitor& visitor) override {
    if constexpr (is_optional) {
      describe(visitor, *member_);
    } else {
      describe(visitor, member_);
    }
  }
  void describe_new_to(Visitor& visitor) const override {
    Member fresh{};
    BoundSection section(fresh, Section{});
    section.create();
    section.describe_to(visitor);
  }

 private:
  Member& member_;
};

template <class Member>
class BoundTree final : public TreeField {
 public:
  BoundTree(Member& member, const AnyValue&) : member_(member), is_map_(false) {}
  BoundTree(Member& member, const KeyPathValues&) : member_(member), is_map_(true) {}
  [[nodiscard]] bool is_map() const override { return is_map_; }
  void set(const YamlNode& value) override { assign(member_, value); }

 private:
  Member& member_;
  bool is_map_;
};

template <class Member, class K>
auto bound(Member& member, const K& kind);

template <class Item, class ItemKind>
class BoundList final : public ListField {
 public:
  BoundList(std::vector<Item>& items, const ListOf<ItemKind>& list) : items_(items), kind_(list.kind) {
    noun = list.noun;
    minimum_items = list.minimum_items;
    maximum_items = list.maximum_items;
  }
  [[nodiscard]] std::size_t size() const override { return items_.size(); }
  void resize(std::size_t items) override { items_.assign(items, Item{}); }
  void with_item(std::size_t index, const std::function<void(Field)>& use) override {
    auto item = bound(items_[index], kind_);
    use(&item);
  }
  void with_new_item(const std::function<void(Field)>& use) const override {
    Item fresh{};
    auto item = bound(fresh, kind_);
    use(&item);
  }

 private:
  std::vector<Item>& items_;
  const ItemKind& kind_;
};

template <class T>
struct IsList : std::false_type {};
template <class ItemKind>
struct IsList<ListOf<ItemKind>> : std::true_type {};

template <class Member, class K>
auto bound(Member& member, const K& kind) {
  if constexpr (std::derived_from<K, Kind>) {
    return BoundScalar<Member>(member, kind);
  } else if constexpr (std::is_same_v<K, Section>) {
    return BoundSection<Member>(member, kind);
  } else if constexpr (IsList<K>::value) {
    return BoundList<typename Member::value_type, decltype(kind.kind)>(member, kind);
  } else {
    return BoundTree<Member>(member, kind);
  }
}

class Visitor {
 public:
  virtual ~Visitor() = default;

  template <class Member, class K>
  void required(std::string_view name, Member& member, const K& kind, std::string_view meaning) {
    auto field = bound(member, kind);
    pass({name, &field, meaning});
  }
  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning) {
    auto field = bound(member, kind);
    pass({name, &field, meaning, Key::Absence::initial_value});
  }
  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning,
                Absent absent) {
    auto field = bound(member, kind);
    pass({name, &field, meaning, Key::Absence::nothing, absent.meaning});
  }
  template <class Member, class K>
  void optional(std::string_view name, Member& member, const K& kind, std::string_view meaning,
                const SameAs<Member>& same) {
    auto field = bound(member, kind);
    pass({name, &field, meaning, Key::Absence::same_as, same.key, plain_of(same.value)});
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
