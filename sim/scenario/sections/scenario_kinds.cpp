#include "sim/scenario/sections/scenario_kinds.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

Dimension dimension_of(CountUnit unit) {
  switch (unit) {
    case CountUnit::updates:
      return Dimension::updates;
    case CountUnit::samples:
      return Dimension::samples;
    case CountUnit::epochs:
      break;
  }
  return Dimension::epochs;
}

const Number schedule_epochs{above(0)};
const Whole schedule_steps{1};

Measured schedule_progress() {
  return percent(above_up_to(0, 1));
}

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
Parsed<Plain> SchedulePoint::parse(const Scalar& scalar) const {
  if (basis_ == ScheduleBasis::progress) return schedule_progress().parse(scalar);
  if (scalar.text.ends_with('%'))
    return Mistake{fmt::format("expected {}, found `{}`", expectation(), scalar.text),
                   "points in percent have `basis: progress`"};
  return basis_ == ScheduleBasis::epoch ? schedule_epochs.parse(scalar) : schedule_steps.parse(scalar);
}
std::string SchedulePoint::print(const Plain& value) const {
  return basis_ == ScheduleBasis::progress ? schedule_progress().print(value)
                                           : fmt::format("{}", number_of(value));
}
Json SchedulePoint::schema() const {
  return {{"anyOf", {schedule_epochs.schema(), schedule_progress().schema()}}};
}
std::string SchedulePoint::expectation() const {
  if (basis_ == ScheduleBasis::progress) return schedule_progress().expectation();
  return basis_ == ScheduleBasis::epoch ? schedule_epochs.expectation() : schedule_steps.expectation();
}

Plain plain_of(const Count& value) {
  return Amount{dimension_of(value.unit), value.value};
}
void assign(Count& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  member.value = amount.value;
  member.unit = amount.dimension == Dimension::samples   ? CountUnit::samples
                : amount.dimension == Dimension::updates ? CountUnit::updates
                                                         : CountUnit::epochs;
}

Plain plain_of(const Moment& value) {
  return std::visit(Overloaded{[](Seconds date) {
                                 return Amount{Dimension::time, date.value()};
                               },
                               [](AtEpoch at) {
                                 return Amount{Dimension::epochs, at.epoch};
                               },
                               [](AtProgress at) {
                                 return Amount{Dimension::percent, at.fraction};
                               }},
                    value);
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

Plain plain_of(const PhaseLength& value) {
  return std::visit(Overloaded{[](std::monostate) -> Amount {
                                 throw ProgrammingError("a length that is written has a unit");
                               },
                               [](ShareOfJob length) {
                                 return Amount{Dimension::percent, length.fraction};
                               },
                               [](UpdateCount length) {
                                 return Amount{Dimension::updates, static_cast<double>(length.updates)};
                               },
                               [](EpochCount length) {
                                 return Amount{Dimension::epochs, length.epochs};
                               },
                               [](Seconds length) {
                                 return Amount{Dimension::time, length.value()};
                               }},
                    value);
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

Plain plain_of(const Often& value) {
  if (const auto* count = std::get_if<Count>(&value)) return plain_of(*count);
  return Amount{Dimension::time, std::get<Seconds>(value).value()};
}
void assign(Often& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  if (amount.dimension == Dimension::time)
    member = Seconds{amount.value};
  else
    assign(member.emplace<Count>(), value);
}

}  // namespace paceline
