#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {
namespace {

struct ToAmount {
  Amount operator()(std::monostate) const { throw ProgrammingError("a length that is written has a unit"); }
  Amount operator()(Seconds time) const { return {Dimension::time, time.value()}; }
  Amount operator()(AtEpoch at) const { return {Dimension::epochs, at.epoch}; }
  Amount operator()(AtProgress at) const { return {Dimension::percent, at.fraction}; }
  Amount operator()(ShareOfJob length) const { return {Dimension::percent, length.fraction}; }
  Amount operator()(EpochCount length) const { return {Dimension::epochs, length.epochs}; }
  Amount operator()(UpdateCount length) const {
    return {Dimension::updates, static_cast<double>(length.updates)};
  }
  Amount operator()(const Count& count) const {
    const Dimension dimension = count.unit == CountUnit::updates   ? Dimension::updates
                                : count.unit == CountUnit::samples ? Dimension::samples
                                                                   : Dimension::epochs;
    return {dimension, count.value};
  }
};

}  // namespace

Measured when() {
  return Measured{
      {{Dimension::time, at_least(0)}, {Dimension::epochs, above(0)}, {Dimension::percent, between(0, 1)}}};
}
Measured length() {
  return Measured{
      {{Dimension::updates, above(0)}, {Dimension::epochs, above(0)}, {Dimension::time, above(0)}},
      "a part of the job: write it as `share`"};
}
Measured how_often() {
  return Measured{{{Dimension::time, above(0)},
                   {Dimension::samples, above(0)},
                   {Dimension::updates, above(0)},
                   {Dimension::epochs, above(0)}}};
}

Kind fraction(Range range) {
  const Number number{range};
  const Kind in_percent = percent(range);
  const auto expected = [number, in_percent] {
    return fmt::format("{}, or in percent, such as `88 %`", number.expectation());
  };
  Kind kind = number;
  kind.parse = [number, in_percent, range, expected](const Scalar& scalar) -> Parsed<Plain> {
    if (scalar.quoted || !scalar.text.ends_with('%')) {
      Parsed<Plain> parsed = number.parse(scalar);
      const std::optional<double> written = parse_number(scalar.text);
      if (auto* mistake = std::get_if<Mistake>(&parsed); mistake != nullptr && !scalar.quoted)
        mistake->hint = written && range.contains(*written / 100.0)
                            ? fmt::format("did you mean `{} %`?", scalar.text)
                            : fmt::format("expected {}", expected());
      return parsed;
    }
    const Parsed<Plain> parsed = in_percent.parse(scalar);
    if (std::holds_alternative<Mistake>(parsed))
      return Mistake{fmt::format("`{}` is out of range", scalar.text),
                     fmt::format("expected {}", expected())};
    // What 88.3 % says is 0.883, not the nearest double of a quotient.
    return Plain{*parse_number(fmt::format("{:.15g}", number_of(std::get<Plain>(parsed))))};
  };
  kind.schema = [number, in_percent] { return Json{{"anyOf", {number.schema(), in_percent.schema()}}}; };
  kind.expectation = expected;
  return kind;
}

Kind worker_number() {
  const Whole number{0};
  Kind kind = number;
  kind.schema = [number] {
    return Json{{"anyOf", {number.schema(), {{"type", "string"}, {"minLength", 1}}}}};
  };
  kind.expectation = [] { return "a worker's number, from 0, or its `name`"; };
  return kind;
}

Kind schedule_point(ScheduleBasis basis) {
  Kind kind = percent(above_up_to(0, 1));
  const Number epochs{above(0)};
  const auto schema = [epochs, progress = kind] {
    return Json{{"anyOf", {epochs.schema(), progress.schema()}}};
  };
  if (basis != ScheduleBasis::progress) {
    const Kind number = basis == ScheduleBasis::epoch ? Kind(epochs) : Kind(Whole{1});
    kind = number;
    kind.parse = [number](const Scalar& scalar) -> Parsed<Plain> {
      if (scalar.text.ends_with('%'))
        return Mistake{fmt::format("expected {}, found `{}`", number.expectation(), scalar.text),
                       "points in percent have `basis: progress`"};
      return number.parse(scalar);
    };
    kind.print = [](const Plain& value) { return fmt::format("{}", number_of(value)); };
  }
  kind.schema = schema;
  return kind;
}

Plain plain_of(const Count& value) {
  return ToAmount{}(value);
}
Plain plain_of(const Moment& value) {
  return std::visit(ToAmount{}, value);
}
Plain plain_of(const PhaseLength& value) {
  return std::visit(ToAmount{}, value);
}
Plain plain_of(const Often& value) {
  return std::visit(ToAmount{}, value);
}

void assign(Count& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  member.value = amount.value;
  member.unit = amount.dimension == Dimension::samples   ? CountUnit::samples
                : amount.dimension == Dimension::updates ? CountUnit::updates
                                                         : CountUnit::epochs;
}
void assign(Moment& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  if (amount.dimension == Dimension::time)
    member = Seconds{amount.value};
  else if (amount.dimension == Dimension::epochs)
    member = AtEpoch{amount.value};
  else
    member = AtProgress{amount.value};
}
void assign(PhaseLength& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  if (amount.dimension == Dimension::time)
    member = Seconds{amount.value};
  else if (amount.dimension == Dimension::epochs)
    member = EpochCount{amount.value};
  else
    member = UpdateCount{static_cast<std::uint64_t>(amount.value)};
}
void assign(Often& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  if (amount.dimension == Dimension::time)
    member = Seconds{amount.value};
  else
    assign(member.emplace<Count>(), value);
}

}  // namespace paceline
