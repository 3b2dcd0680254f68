#include "calibrate/live/request_timing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "calibrate/live/learning_nothing.hpp"
#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/one_core.hpp"
#include "calibrate/live/process_crew.hpp"
#include "calibrate/logs/statistics.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

double in_seconds(std::int64_t ns) {
  return 1e-9 * static_cast<double>(ns);
}

double without_stalls(const std::vector<double>& values) {
  return values.empty() ? 0.0 : mean_without_stalls(values);
}

// Of a round of as many, since a step that waits for all workers is taken at the last one's.
double each_without_stalls(const std::vector<double>& values, std::uint32_t workers) {
  std::vector<double> rounds;
  for (std::size_t i = 0; i + workers <= values.size(); i += workers)
    rounds.push_back(std::accumulate(values.data() + i, values.data() + i + workers, 0.0));
  return without_stalls(rounds) / workers;
}

// Hears what workers say of their messages.
class HeardCrew final : public CrewLearningNothing {
 public:
  using CrewLearningNothing::CrewLearningNothing;

  std::optional<News> next(Seconds patience) override {
    std::optional<News> news = CrewLearningNothing::next(patience);
    if (const auto* arrived = news ? std::get_if<Arrived>(&*news) : nullptr)
      if (const auto* computed = std::get_if<Computed>(&arrived->message)) {
        messages_s_.push_back(in_seconds(computed->messages_ns));
        asking_s_.push_back(in_seconds(computed->asking_ns));
        busy_s_.push_back(in_seconds(computed->ended_ns - computed->began_ns) - asking_s_.back());
        computing_s_.push_back(in_seconds(computed->computing_ns));
        busy_of_[arrived->member].push_back(busy_s_.back());
        computing_of_[arrived->member].push_back(computing_s_.back());
      }
    return news;
  }

  [[nodiscard]] const std::vector<double>& messages_s() const { return messages_s_; }
  [[nodiscard]] const std::vector<double>& busy_s() const { return busy_s_; }
  [[nodiscard]] const std::vector<double>& asking_s() const { return asking_s_; }
  [[nodiscard]] const std::vector<double>& computing_s() const { return computing_s_; }
  [[nodiscard]] const std::map<Member, std::vector<double>>& busy_of() const { return busy_of_; }
  [[nodiscard]] const std::map<Member, std::vector<double>>& computing_of() const { return computing_of_; }

 private:
  std::vector<double> messages_s_;
  std::vector<double> asking_s_;
  std::vector<double> busy_s_;
  std::vector<double> computing_s_;
  std::map<Member, std::vector<double>> busy_of_;
  std::map<Member, std::vector<double>> computing_of_;
};

// Splits the server's time at each gradient that has arrived, and keeps it busy besides.
class RequestClock final : public RunObserver {
 public:
  explicit RequestClock(MemoryWork serving) : serving_(serving) {}

  void on_event(Seconds, const Event& event) override {
    if (!std::holds_alternative<GradientArrived>(event)) return;
    to_serve_.pieces += serving_.pieces;
    const std::int64_t used = processor_time_ns();
    const std::int64_t now = LiveClock::monotonic_ns();
    if (last_arrival_ns_ > 0) {
      server_s_.push_back(in_seconds(used - used_at_arrival_ - applying_ns_));
      applying_s_.push_back(in_seconds(applying_ns_));
      wall_s_.push_back(in_seconds(now - last_arrival_ns_));
    }
    used_at_arrival_ = used;
    last_arrival_ns_ = now;
    applying_ns_ = 0;
  }
  void on_action(Seconds, const Action& action) override {
    if (std::holds_alternative<Apply>(action)) used_before_applying_ = processor_time_ns();
  }
  void on_server_work(ServerId, std::optional<UpdateId>, Seconds, Seconds) override {
    load_.carry_out(std::exchange(to_serve_, {}));
    applying_ns_ += processor_time_ns() - used_before_applying_;
  }

  [[nodiscard]] const std::vector<double>& server_s() const { return server_s_; }
  [[nodiscard]] const std::vector<double>& applying_s() const { return applying_s_; }
  [[nodiscard]] const std::vector<double>& wall_s() const { return wall_s_; }

 private:
  MemoryWork serving_;
  MemoryLoad load_;
  MemoryWork to_serve_;  // gradients that have arrived
  std::int64_t used_at_arrival_ = 0;
  std::int64_t last_arrival_ns_ = 0;
  std::int64_t used_before_applying_ = 0;
  std::int64_t applying_ns_ = 0;
  std::vector<double> server_s_;
  std::vector<double> applying_s_;
  std::vector<double> wall_s_;
};

std::vector<double> after_warm_up(const std::vector<double>& values, std::size_t warm_up) {
  return {values.begin() + static_cast<std::ptrdiff_t>(std::min(warm_up, values.size())), values.end()};
}

// Of each worker.
std::vector<std::vector<double>> after_warm_up(const std::map<Member, std::vector<double>>& of_worker,
                                               std::size_t warm_up) {
  std::vector<std::vector<double>> all;
  for (const auto& [member, values] : of_worker) all.push_back(after_warm_up(values, warm_up));
  return all;
}

// Of one worker's job on one core and on another.
RequestTime mean_of(const RequestTime& one, const RequestTime& other) {
  const auto mean = [](const auto& a, const auto& b) { return 0.5 * (a + b); };
  RequestTime time{.bytes = one.bytes,
                   .server = mean(one.server, other.server),
                   .applying = mean(one.applying, other.applying),
                   .worker = mean(one.worker, other.worker),
                   .connection = mean(one.connection, other.connection),
                   .cycle = {mean(one.cycle.iteration, other.cycle.iteration),
                             mean(one.cycle.between, other.cycle.between)},
                   .processor = mean(one.processor, other.processor),
                   .variation = mean(one.variation, other.variation)};
  for (std::size_t i = 0; i < one.of_worker.size(); ++i)
    time.of_worker.push_back(mean(one.of_worker[i], other.of_worker.at(i)));
  return time;
}

}  // namespace

RequestWorkers::RequestWorkers(const std::filesystem::path& program, const RequestCrew& crew)
    : crew_(std::make_unique<ProcessCrew>(CrewConfig{
          .program = program,
          .setups = std::vector<WorkerSetup>(
              crew.workers, WorkerSetup{.learner = {}, .echo = Echo{crew.values, crew.busy, crew.loop}}),
          .links = crew.links,
          .keeps_cores = crew.keeps_cores})) {}

RequestWorkers::~RequestWorkers() = default;

RequestTime RequestWorkers::time(const RequestLoad& load) {
  std::optional<OnOneCore> kept;
  if (const pid_t worker = crew_->process_ids().front(); load.core && load.workers == 1)
    if (const std::vector<int> cores = cores_of(worker); !cores.empty())
      kept.emplace(worker, cores[*load.core % cores.size()]);
  const auto warm_up = static_cast<std::size_t>(load.warm_up);
  HeardCrew crew(*crew_, load.workers);
  const std::int64_t requests = load.requests + static_cast<std::int64_t>(warm_up) + 1;
  RequestClock clock(load.serving);
  carry_out({.phase = {.policy = SynchronizationChoice(load.policy)},
             .values = load.values,
             .gradients = requests,
             .momentum = 0.9},
            crew, clock);
  RequestTime time;
  time.bytes = Bytes{static_cast<double>(load.values * sizeof(float))};
  time.server = Seconds{each_without_stalls(after_warm_up(clock.server_s(), warm_up), load.workers)};
  time.applying = Seconds{each_without_stalls(after_warm_up(clock.applying_s(), warm_up), load.workers)};
  time.worker = Seconds{without_stalls(after_warm_up(crew.messages_s(), warm_up))};
  const Spread busy_s = spread_of(after_warm_up(crew.busy_s(), warm_up));
  // A worker and its loop stand for one process, which does not ask itself.
  const Spread asking_s = spread_of(after_warm_up(crew.asking_s(), warm_up));
  const double cycle_s =
      load.workers * spread_of(after_warm_up(clock.wall_s(), warm_up)).mean - asking_s.mean;
  time.cycle = {Seconds{busy_s.mean}, Seconds{cycle_s - busy_s.mean}};
  time.processor = Seconds{spread_of(after_warm_up(crew.computing_s(), warm_up)).mean};
  if (load.policy == "bsp")  // others do not all go on equally often
    for (const std::vector<double>& each_s : after_warm_up(crew.computing_of(), warm_up / load.workers))
      time.of_worker.emplace_back(spread_of(each_s).mean);
  time.variation = calibrate::variation_in_pairs(after_warm_up(crew.busy_of(), warm_up / load.workers));
  if (load.workers == 1) {
    const Seconds wall{without_stalls(after_warm_up(clock.wall_s(), warm_up)) -
                       without_stalls(after_warm_up(crew.asking_s(), warm_up))};
    const Seconds busy{without_stalls(after_warm_up(crew.busy_s(), warm_up))};
    time.connection = std::max(Seconds{}, wall - busy - time.server - time.applying - time.worker);
  }
  return time;
}

RequestCounts request_counts(std::uint64_t values, Seconds busy, const RequestPlan& plan) {
  constexpr double usual_request_s = 150e-6;
  constexpr double usual_per_value_s = 15e-9;
  constexpr Seconds longest{2.0};
  const double each = busy.value() + usual_request_s + usual_per_value_s * static_cast<double>(values);
  const Bytes both_ways{2.0 * sizeof(float) * static_cast<double>(values)};
  const Seconds carried = plan.links ? both_ways / plan.links->bandwidth : Seconds{};
  constexpr int usual_least = 20;
  if (usual_least * carried > longest) {
    const int timed = std::max(4, static_cast<int>(longest / carried));
    return {.timed = timed, .warm_up = timed / 2};
  }
  const int timed = std::clamp(static_cast<int>(plan.for_each.value() / each), usual_least, 2000);
  return {.timed = timed, .warm_up = usual_least / 2};
}

TimedPasses time_passes(const std::filesystem::path& program, const RequestPlan& plan,
                        const std::function<void(double)>& progress) {
  const RequestCrew crew{.workers = std::ranges::max(plan.workers),
                         .values = std::ranges::max(plan.values),
                         .busy = plan.busy,
                         .loop = plan.loop,
                         .links = plan.links,
                         .keeps_cores = plan.keeps_cores};
  const auto time = [&](RequestWorkers& workers, RequestLoad load, std::size_t pass) {
    if (load.workers > 1 || plan.keeps_cores) return workers.time(load);
    load.core = pass;
    const RequestTime here = workers.time(load);
    load.core = pass + 1;
    return mean_of(here, workers.time(load));
  };
  std::vector<std::vector<RequestPass>> all(plan.workers.size());
  const auto points_of_pass = static_cast<double>(plan.values.size() * plan.workers.size());
  double done = 0.0;
  SteadyPasses steady(static_cast<std::size_t>(plan.passes), plan.look);
  for (std::size_t pass = 0; !steady.is_enough(); ++pass) {
    RequestWorkers workers(program, crew);
    for (std::vector<RequestPass>& of_number : all) of_number.emplace_back();
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
      const MemoryWork serving = plan.serving.empty() ? MemoryWork{} : plan.serving.at(i);
      const RequestCounts counts =
          request_counts(plan.values[i], plan.busy.undisturbed + serving.undisturbed, plan);
      for (std::size_t n = 0; n < plan.workers.size(); ++n) {
        progress(done++ / points_of_pass / static_cast<double>(steady.expected()));
        const auto many = static_cast<int>(plan.workers[n]);
        all[n][pass].push_back(time(workers,
                                    {.values = plan.values[i],
                                     .workers = plan.workers[n],
                                     .policy = plan.policy,
                                     .requests = many * counts.timed,
                                     .warm_up = many * counts.warm_up,
                                     .serving = serving},
                                    pass));
      }
    }
    steady.end_pass();
  }
  progress(1.0);
  for (std::vector<RequestPass>& of_number : all) of_number = steady.kept_of(of_number);
  return {std::move(all), std::move(steady)};
}

}  // namespace paceline::live
