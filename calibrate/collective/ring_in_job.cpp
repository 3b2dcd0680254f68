#include "calibrate/collective/ring_in_job.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "calibrate/live/learning_nothing.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/process_crew.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr int warm_up_updates = 10;

struct JobRingLoad {
  std::uint64_t values = 1;  // of a gradient, float32
  std::uint32_t members = 2;
  int updates = 100;                     // warm-up not counted
  live::MemoryWork busy{};               // of a member, before each gradient
  std::vector<double> speeds{};          // of each member, 1 that of the quickest; empty: all are as quick
  std::optional<NetworkConfig> links{};  // to emulate
  bool own_ring = false;                 // and its messages take the links' latency
};

// Hears what members say of their sums.
class RingCrew final : public live::CrewLearningNothing {
 public:
  using CrewLearningNothing::CrewLearningNothing;

  std::optional<live::News> next(Seconds patience) override {
    std::optional<live::News> news = CrewLearningNothing::next(patience);
    if (const auto* arrived = news ? std::get_if<live::Arrived>(&*news) : nullptr)
      if (const auto* reduced = std::get_if<live::Reduced>(&arrived->message))
        processor_s_.push_back(1e-9 * static_cast<double>(reduced->processor_ns));
    return news;
  }
  [[nodiscard]] const std::vector<double>& processor_s() const { return processor_s_; }

 private:
  std::vector<double> processor_s_;
};

class UpdateClock final : public RunObserver {
 public:
  void on_event(Seconds now, const Event& event) override {
    if (const auto* finished = std::get_if<IterationFinished>(&event))
      longest_ = std::max(longest_, finished->compute_time);
    if (!std::holds_alternative<AllReduceFinished>(event)) return;
    if (last_ > Seconds{}) wall_s_.push_back(std::max(0.0, (now - last_ - longest_).value()));
    last_ = now;
    longest_ = {};
  }
  void on_action(Seconds, const Action&) override {}
  void on_server_work(ServerId, std::optional<UpdateId>, Seconds, Seconds) override {}

  [[nodiscard]] const std::vector<double>& wall_s() const { return wall_s_; }

 private:
  Seconds last_;
  Seconds longest_;
  std::vector<double> wall_s_;
};

Seconds mean_after(std::size_t warm_up, const std::vector<double>& values) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(std::min(warm_up, values.size()));
  if (first == values.end()) throw std::runtime_error("no all-reduce was made");
  return Seconds{spread_of({first, values.end()}).mean};
}

int update_count(std::uint64_t values, Seconds waiting, Seconds for_each) {
  constexpr double usual_update_s = 400e-6;
  constexpr double usual_per_value_s = 15e-9;
  const double each = waiting.value() + usual_update_s + usual_per_value_s * static_cast<double>(values);
  return std::clamp(static_cast<int>(for_each.value() / each), 20, 1000);
}

RingTime time_ring_in_job(const std::filesystem::path& program, const JobRingLoad& load) {
  std::vector<live::WorkerSetup> setups(load.members,
                                        live::WorkerSetup{.learner = {},
                                                          .echo = live::Echo{load.values, load.busy},
                                                          .ring = live::ring_way(load.own_ring, load.links)});
  for (std::size_t member = 0; member < load.speeds.size(); ++member)
    setups.at(member).speed = load.speeds[member];
  live::ProcessCrew processes({.program = program, .setups = setups, .links = load.links});
  RingCrew crew(processes, load.members);
  UpdateClock clock;
  carry_out({.phase = {.policy = SynchronizationChoice("bsp"), .transport = Transport::ring},
             .values = load.values,
             .gradients = std::int64_t{load.members} * (load.updates + warm_up_updates)},
            crew, clock);
  return {.members = load.members,
          .bytes = Bytes{static_cast<double>(load.values * sizeof(float))},
          .wall = mean_after(warm_up_updates, clock.wall_s()),
          .processor = mean_after(std::size_t{warm_up_updates} * load.members, crew.processor_s())};
}

}  // namespace

std::vector<std::vector<RingTime>> time_rings_in_jobs(
    const std::filesystem::path& program, const std::vector<Seconds>& iterations,
    const std::vector<std::uint64_t>& values, int passes, Seconds for_each,
    const std::optional<NetworkConfig>& links, bool own_ring, const std::function<void(double)>& progress) {
  const auto members = static_cast<std::uint32_t>(iterations.size());
  const auto [quickest, slowest] = std::ranges::minmax(iterations);
  std::vector<double> speeds;
  for (const Seconds iteration : iterations) speeds.push_back(quickest / iteration);
  std::vector<std::vector<RingTime>> all(static_cast<std::size_t>(passes));
  const double points = static_cast<double>(values.size()) * passes;
  double done = 0.0;
  const live::MemoryWork work = live::memory_work_of(quickest);
  const Seconds waiting = slowest + 2.0 * (members - 1.0) * live::ring_way(own_ring, links).latency;
  for (std::vector<RingTime>& pass : all)
    for (const std::uint64_t size : values) {
      progress(done++ / points);
      pass.push_back(time_ring_in_job(program, {.values = size,
                                                .members = members,
                                                .updates = update_count(size, waiting, for_each),
                                                .busy = work,
                                                .speeds = speeds,
                                                .links = links,
                                                .own_ring = own_ring}));
    }
  progress(1.0);
  return all;
}

}  // namespace paceline::calibrate
