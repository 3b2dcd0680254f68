// A worker's part in all-reduces: a replica of the parameters, gradients that it keeps, and its ring.
//
// Models:      nothing: sums and steps are taken for real.
// Equation:    those of sim/learning/parameter_store.hpp, whose sum Σ λ_i · g_i is made by the ring, of each
//              member's λ_i · g_i.
// Assumptions: every member is told the same steps, and so replicas stay equal to the last bit: the ring
//              gives all of them the same sum. Of two members it is that of a simulation, too; of more the
//              order of additions is the ring's.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/collective/ring.hpp"
#include "calibrate/live/worker/link.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/parameter_store.hpp"

namespace paceline::live {

class RingMember {
 public:
  // `token`: what members of a ring say to each other.
  RingMember(Link& link, const NetworkLearnerConfig& learner, std::vector<float> initial, std::string token,
             const RingWay& way);

  // To compute the next gradient on.
  [[nodiscard]] std::span<const float> parameters() const { return store_.global(); }
  // A gradient of these parameters.
  void keep(std::uint64_t gradient, std::span<const float> values);
  // Called off, unless it was not kept.
  void forget(std::uint64_t gradient);

  void carry_out(const FormRing& request);
  void carry_out(const Reduce& request);
  void carry_out(const TakeStep& request);
  void carry_out(const AskHandover&);
  void carry_out(Handover handover);

 private:
  std::span<float> weighted(const Reduce& request);

  Link& link_;
  std::string token_;
  RingWay way_;
  ParameterStore store_;
  std::optional<std::uint64_t> kept_;
  std::optional<std::int64_t> kept_at_ns_;  // processor time of this process
  // Of an all-reduce that may have to be made again: the gradient, and where its sum arises.
  std::optional<std::uint64_t> reducing_;
  std::vector<float> part_;
  std::span<float> sum_;
  std::unique_ptr<calibrate::Ring> ring_;
  std::string failure_;  // why there is none
};

}  // namespace paceline::live
