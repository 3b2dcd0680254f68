#include "sim/study/self_profile.hpp"

#include <utility>

namespace paceline {
namespace {

constexpr std::string_view engine_part = "engine";
constexpr std::string_view coordinator_part = "coordinator";
constexpr std::string_view learner_part = "learner";
constexpr std::string_view recorder_part = "recorder";

class ProfiledTimeline final : public Timeline {
 public:
  ProfiledTimeline(Timeline& timeline, SelfProfile& profile) : timeline_(timeline), profile_(profile) {}

  Seconds now() const override { return timeline_.now(); }
  void at(Seconds date, Occurrence occurrence) override {
    const SelfProfile::Inside inside(profile_, engine_part);
    timeline_.at(date, occurrence);
  }
  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override {
    const SelfProfile::Inside inside(profile_, engine_part);
    timeline_.send(from, to, size, arrival);
  }
  void all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                  Seconds undisturbed_until, Occurrence finish) override {
    const SelfProfile::Inside inside(profile_, engine_part);
    timeline_.all_reduce(algorithm, members, size, undisturbed_until, finish);
  }
  bool call_off(const BucketSummed& sum) override { return timeline_.call_off(sum); }
  void set_bandwidth_factor(WorkerId worker, double factor) override {
    const SelfProfile::Inside inside(profile_, engine_part);
    timeline_.set_bandwidth_factor(worker, factor);
  }
  std::vector<LinkUse> link_use() const override { return timeline_.link_use(); }
  bool run(const Deliver& deliver) override {
    const SelfProfile::Inside inside(profile_, engine_part);
    return timeline_.run([&](Seconds now, const std::vector<Occurrence>& occurrences) {
      const SelfProfile::Inside inside_delivery(profile_, coordinator_part);
      return deliver(now, occurrences);
    });
  }

 private:
  Timeline& timeline_;
  SelfProfile& profile_;
};

class ProfiledLearner final : public Learner {
 public:
  ProfiledLearner(Learner& learner, SelfProfile& profile) : learner_(learner), profile_(profile) {}

  void pull(WorkerId worker, ServerId server) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.pull(worker, server);
  }
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.compute(worker, batch_samples, gradient);
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.apply(server, gradients, hyperparameters);
  }
  void train_locally(WorkerId worker, std::int64_t batch_samples, std::int64_t steps,
                     const Hyperparameters& hyperparameters) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.train_locally(worker, batch_samples, steps, hyperparameters);
  }
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend& difference) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.hold_difference(worker, gradient, difference);
  }
  void mix(WorkerId worker, ServerId server, const Fragment& fragment, double mixing) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.mix(worker, server, fragment, mixing);
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences,
             const OuterStep& outer) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.merge(server, differences, outer);
  }
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.apply_locally(worker, gradient, hyperparameters);
  }
  void overwrite(ServerId server, WorkerId worker) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.overwrite(server, worker);
  }
  void scale_velocity(double factor) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.scale_velocity(factor);
  }
  void discard(GradientId gradient) override {
    const SelfProfile::Inside inside(profile_, learner_part);
    learner_.discard(gradient);
  }
  std::optional<Evaluation> evaluate() override {
    const SelfProfile::Inside inside(profile_, learner_part);
    return learner_.evaluate();
  }

 private:
  Learner& learner_;
  SelfProfile& profile_;
};

class ProfiledObserver final : public RunObserver {
 public:
  ProfiledObserver(RunObserver& observer, SelfProfile& profile) : observer_(observer), profile_(profile) {}

  void on_event(Seconds now, const Event& event) override {
    const SelfProfile::Inside inside(profile_, recorder_part);
    observer_.on_event(now, event);
  }
  void on_action(Seconds now, const Action& action) override {
    const SelfProfile::Inside inside(profile_, recorder_part);
    observer_.on_action(now, action);
  }
  void on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) override {
    const SelfProfile::Inside inside(profile_, recorder_part);
    observer_.on_server_work(server, step, begin, end);
  }
  void on_balance(Seconds now, BalanceCause cause, const Balance& balance) override {
    const SelfProfile::Inside inside(profile_, recorder_part);
    observer_.on_balance(now, cause, balance);
  }

 private:
  RunObserver& observer_;
  SelfProfile& profile_;
};

}  // namespace

std::map<std::string, double> SelfProfile::seconds() {
  static_cast<void>(change_to(part_));
  std::map<std::string, double> all;
  for (const auto& [part, seconds] : seconds_) all.emplace(part, seconds);
  return all;
}

std::string_view SelfProfile::change_to(std::string_view part) {
  const Clock::time_point now = Clock::now();
  seconds_[part_] += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return std::exchange(part_, part);
}

std::unique_ptr<Timeline> profiled(Timeline& timeline, SelfProfile& profile) {
  return std::make_unique<ProfiledTimeline>(timeline, profile);
}
std::unique_ptr<Learner> profiled(Learner& learner, SelfProfile& profile) {
  return std::make_unique<ProfiledLearner>(learner, profile);
}
std::unique_ptr<RunObserver> profiled(RunObserver& observer, SelfProfile& profile) {
  return std::make_unique<ProfiledObserver>(observer, profile);
}

}  // namespace paceline
