#include "sim/cost/server_time.hpp"

#include "sim/base/check.hpp"

namespace paceline {

ServerTimes::ServerTimes(const Profile& profile)
    : accumulate_rate_(profile.server_accumulate_rate), step_rate_(profile.server_step_rate) {
  check(accumulate_rate_ > BytesPerSecond{0.0} && step_rate_ > BytesPerSecond{0.0},
        "server rates are positive");
}

Seconds ServerTimes::accumulate(Bytes gradient) const {
  return gradient / accumulate_rate_;
}

Seconds ServerTimes::step(Bytes parameters) const {
  return parameters / step_rate_;
}

}  // namespace paceline
