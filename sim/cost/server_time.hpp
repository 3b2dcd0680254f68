// How long the parameter server computes on what arrives.
//
// Models:      two operations on a flat vector of 32-bit numbers: adding a gradient to an accumulator (a push
//              that waits for others), and a step of the optimizer from the accumulator to velocity and
//              parameters.
// Equation:    seconds = bytes / rate, one rate for each operation, from the profile.
// Units:       bytes of one gradient or parameter vector; bytes per second.
// Assumptions: the server runs on the kind of machine and the core count the rates were measured with (the
//              smallest one of the profile); it serves one operation at a time, in an order its caller keeps.
// Not modelled: jitter; fixed cost per operation; vectors much larger or smaller than the network's own.
// Source:      measured (docs/models.md).
#pragma once

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/profile.hpp"

namespace paceline {

class ServerTimes {
 public:
  explicit ServerTimes(const Profile& profile)
      : accumulate_rate_(profile.server_accumulate_rate), step_rate_(profile.server_step_rate) {
    check(accumulate_rate_ > BytesPerSecond{} && step_rate_ > BytesPerSecond{}, "server rates are positive");
  }

  [[nodiscard]] Seconds accumulate(Bytes gradient) const { return gradient / accumulate_rate_; }
  [[nodiscard]] Seconds step(Bytes parameters) const { return parameters / step_rate_; }

 private:
  BytesPerSecond accumulate_rate_;
  BytesPerSecond step_rate_;
};

}  // namespace paceline
