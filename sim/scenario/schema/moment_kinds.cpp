#include "sim/scenario/schema/moment_kinds.hpp"

#include <array>
#include <cmath>

namespace paceline {
namespace {

// The rules of each unit are those of the kind that has only this one; a text belongs to the kind whose unit it ends in.
bool ends_in(std::string_view text, const UnitTable& table) {
  const Parsed<NumberAndUnit> parsed = parse_with_unit(text, table);
  return std::holds_alternative<NumberAndUnit>(parsed);
}

template <class To, class From, class Make>
Parsed<To> mapped(Parsed<From> parsed, const Make& make) {
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
  return To{make(std::get<From>(parsed))};
}

// For the schema: only the units that are accepted.
constexpr std::array<Unit, 2> epoch_units{{{"epochs", 1, 1}, {"epoch", 1, 1, true}}};
constexpr UnitTable epoch_table{"a number of epochs", "5 epochs", epoch_units};
constexpr std::array<Unit, 4> length_units{
    {{"updates", 1, 1}, {"update", 1, 1, true}, {"epochs", 1, 1}, {"epoch", 1, 1, true}}};
constexpr UnitTable length_table{"a number of updates or epochs", "400 updates", length_units};

Json text_of(const UnitTable& table) {
  return {{"type", "string"}, {"pattern", quantity_pattern(table)}};
}

Measured<Seconds> some_time() {
  return duration(above(0));
}

Json any_of(std::initializer_list<Json> schemas) {
  return {{"anyOf", Json(schemas)}};
}

template <class Value>
Parsed<Value> not_this_unit(const Count& count, const std::string& expectation) {
  return Mistake{fmt::format("`{}` cannot be used here", HowMany{}.print(count)),
                 fmt::format("expected {}", expectation)};
}

}  // namespace

Parsed<Moment> When::parse(const Scalar& scalar) const {
  if (ends_in(scalar.text, duration_units()))
    return mapped<Moment>(duration(at_least(0)).parse(scalar), [](Seconds date) { return date; });
  if (ends_in(scalar.text, percent_units()))
    return mapped<Moment>(percent(between(0, 1)).parse(scalar),
                          [](double share) { return AtProgress{share}; });
  const Parsed<Count> count = HowMany{}.parse(scalar);
  if (std::holds_alternative<Mistake>(count))
    return Mistake{fmt::format("`{}` is no moment of a job", scalar.text),
                   fmt::format("expected {}", expectation())};
  if (std::get<Count>(count).unit != CountUnit::epochs)
    return not_this_unit<Moment>(std::get<Count>(count), expectation());
  return Moment{AtEpoch{std::get<Count>(count).value}};
}

std::string When::print(const Moment& value) const {
  struct Print {
    std::string operator()(Seconds date) const { return duration(at_least(0)).print(date); }
    std::string operator()(AtEpoch at) const { return fmt::format("{} epochs", at.epoch); }
    std::string operator()(AtProgress at) const { return percent(between(0, 1)).print(at.fraction); }
  };
  return std::visit(Print{}, value);
}

Json When::schema() const {
  return any_of({duration(at_least(0)).schema(), percent(between(0, 1)).schema(), text_of(epoch_table)});
}

std::string When::expectation() const {
  return "a time, an epoch or a progress, such as `100 s`, `5 epochs`, `30 %`";
}

Parsed<PhaseLength> Length::parse(const Scalar& scalar) const {
  if (ends_in(scalar.text, duration_units()))
    return mapped<PhaseLength>(some_time().parse(scalar), [](Seconds time) { return time; });
  if (scalar.text.ends_with('%'))
    return Mistake{fmt::format("`{}` is a share of the job", scalar.text), "write it as `share`"};
  const Parsed<Count> parsed = HowMany{}.parse(scalar);
  if (std::holds_alternative<Mistake>(parsed))
    return Mistake{fmt::format("`{}` is no length of a phase", scalar.text),
                   fmt::format("expected {}", expectation())};
  const Count& count = std::get<Count>(parsed);
  if (count.unit == CountUnit::samples) return not_this_unit<PhaseLength>(count, expectation());
  if (count.unit == CountUnit::epochs) return PhaseLength{EpochCount{count.value}};
  return PhaseLength{UpdateCount{static_cast<std::uint64_t>(count.value)}};
}

std::string Length::print(const PhaseLength& value) const {
  struct Print {
    std::string operator()(std::monostate) const {
      throw ProgrammingError("a length that is written has a unit");
    }
    std::string operator()(ShareOfJob length) const {
      return percent(above_up_to(0, 1)).print(length.fraction);
    }
    std::string operator()(UpdateCount length) const { return fmt::format("{} updates", length.updates); }
    std::string operator()(EpochCount length) const { return fmt::format("{} epochs", length.epochs); }
    std::string operator()(Seconds length) const { return some_time().print(length); }
  };
  return std::visit(Print{}, value);
}

Json Length::schema() const {
  return any_of({some_time().schema(), text_of(length_table)});
}

std::string Length::expectation() const {
  return "a number of updates or epochs, or a time, such as `400 updates`, `5 epochs`, `10 min`";
}

Parsed<Often> HowOften::parse(const Scalar& scalar) const {
  if (ends_in(scalar.text, duration_units()))
    return mapped<Often>(some_time().parse(scalar), [](Seconds time) { return time; });
  return mapped<Often>(HowMany{}.parse(scalar), [](const Count& count) { return count; });
}

std::string HowOften::print(const Often& value) const {
  struct Print {
    std::string operator()(Seconds time) const { return some_time().print(time); }
    std::string operator()(const Count& count) const { return HowMany{}.print(count); }
  };
  return std::visit(Print{}, value);
}

Json HowOften::schema() const {
  return any_of({some_time().schema(), HowMany{}.schema()});
}

std::string HowOften::expectation() const {
  return "a time or a number of samples, updates or epochs, such as `10 min`, `250 updates`";
}

}  // namespace paceline
