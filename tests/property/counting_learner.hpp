// A learner that learns nothing and keeps accounts: which gradients it holds, and which shards of them it has
// applied.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/learning/learner.hpp"
#include "tests/property/random_job.hpp"

namespace paceline::test {

class CountingLearner final : public Learner {
 public:
  using Complain = std::function<void(std::string)>;

  CountingLearner(const RandomJob& random, Complain complain)
      : random_(random), complain_(std::move(complain)) {}

  void pull(WorkerId, ServerId) override {}
  void compute(WorkerId worker, std::int64_t, GradientId gradient) override {
    if (!held_.emplace(gradient, Held{worker, {}}).second || !seen_.insert(gradient).second)
      complain_(fmt::format("gradient {} is computed twice", gradient.value));
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients, const Hyperparameters&) override {
    for (const WeightedGradient& applied : gradients) {
      const auto found = held_.find(applied.gradient);
      if (found == held_.end() || found->second.worker != applied.worker ||
          !found->second.servers.insert(server).second) {
        complain_(fmt::format("gradient {} is applied by server {}, but not held or applied there before",
                              applied.gradient.value, server.value));
      } else if (found->second.servers.size() == random_.job.servers) {
        held_.erase(found);
      }
    }
    count_update(server);
  }
  void train_locally(WorkerId, std::int64_t, std::int64_t, const Hyperparameters&) override {}
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend&) override {
    compute(worker, 0, gradient);
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences, const OuterStep&) override {
    apply(server, differences, {});
  }
  void mix(WorkerId, ServerId, const Fragment&, double) override {}
  void apply_locally(WorkerId, GradientId gradient, const Hyperparameters&) override {
    if (held_.erase(gradient) == 0)
      complain_(fmt::format("gradient {} is applied locally, but not held", gradient.value));
  }
  void overwrite(ServerId server, WorkerId) override { count_update(server); }
  void scale_velocity(double) override {}
  void discard(GradientId gradient) override {
    if (held_.erase(gradient) == 0)
      complain_(fmt::format("gradient {} is discarded, but not held", gradient.value));
  }
  std::optional<Evaluation> evaluate() override {
    if (random_.accuracy_per_update == 0.0 && !random_.diverges_at) return std::nullopt;
    const bool diverged = random_.diverges_at && updates_ >= *random_.diverges_at;
    return Evaluation{diverged ? std::numeric_limits<double>::infinity() : 1.0,
                      random_.accuracy_per_update * static_cast<double>(updates_)};
  }

  void check_nothing_is_held() const {
    for (const auto& [gradient, held] : held_)
      complain_(fmt::format("gradient {} of worker {} is still held at the end", gradient.value,
                            held.worker.value));
  }

 private:
  struct Held {
    WorkerId worker;
    std::set<ServerId> servers;  // that have applied it
  };

  void count_update(ServerId server) {
    if (server == ServerId{0}) ++updates_;
  }

  const RandomJob& random_;
  Complain complain_;
  std::map<GradientId, Held> held_;
  std::set<GradientId> seen_;
  std::uint64_t updates_ = 0;
};

}  // namespace paceline::test
