// Kinds of value (kinds.hpp) that only scenarios have: moments, lengths, how often; and the members that hold
// them.
#pragma once

#include "sim/base/count.hpp"
#include "sim/cluster/conditions.hpp"
#include "sim/description/description.hpp"
#include "sim/learning/optimizer.hpp"
#include "sim/policy/synchronization/phase.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

// "100 s", "5 epochs", "30 %" of the workload: when something happens.
[[nodiscard]] Measured when();
// "400 updates", "5 epochs", "10 min": how long a phase is.
[[nodiscard]] Measured length();
// "600 s", "250 updates": how often something happens.
[[nodiscard]] Measured how_often();

// A point of a learning-rate schedule, written as its basis asks: epochs `7.5`, progress `50 %`, step
// `32000`.
class SchedulePoint final : public Kind {
 public:
  explicit SchedulePoint(ScheduleBasis basis) : basis_(basis) {}
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;  // of every basis: the basis is another key
  [[nodiscard]] std::string expectation() const override;

 private:
  ScheduleBasis basis_;
};

[[nodiscard]] Plain plain_of(const Count& value);
[[nodiscard]] Plain plain_of(const Moment& value);
[[nodiscard]] Plain plain_of(const PhaseLength& value);
[[nodiscard]] Plain plain_of(const Often& value);
void assign(Count& member, const Plain& value);
void assign(Moment& member, const Plain& value);
void assign(PhaseLength& member, const Plain& value);
void assign(Often& member, const Plain& value);

}  // namespace paceline
