#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "calibrate/cli/commands.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr int most_warm_up_iterations = 3;      // memory pools fill, caches and clocks warm
constexpr double warm_up_share = 0.2;           // of the time of a point, if that is longer
constexpr std::size_t kept_durations = 60;      // as promised in sim/cost/profile.hpp
constexpr std::int64_t loaded_samples = 5000;   // of a data set: far more than the caches hold
constexpr std::size_t gradient_iterations = 5;  // after one that does not count
constexpr double loading_share = 0.2;           // of the time of a point
constexpr int reference_repetitions = 5;
constexpr int reference_steps = 4'000'000;  // some 10 ms
constexpr int distance_repetitions = 3;
constexpr int distance_passes = 1000;  // some 0.3 ms where cores are far apart
constexpr std::size_t cache_line_bytes = 64;

void keep_to(int core) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(core), &mask);
  check(pthread_setaffinity_np(pthread_self(), sizeof mask, &mask) == 0, "a measured core may be used");
}

// A cache line that is passed between two cores: odd numbers go there, even ones come back.
class Ball {
 public:
  void answer() {
    for (int i = 0; i < distance_passes; ++i) {
      await(2 * i + 1);
      number_.store(2 * i + 2, std::memory_order_release);
    }
  }
  void serve() {
    for (int i = 0; i < distance_passes; ++i) {
      number_.store(2 * i + 1, std::memory_order_release);
      await(2 * i + 2);
    }
  }

 private:
  void await(int number) const {
    while (number_.load(std::memory_order_acquire) != number) {
    }
  }
  alignas(cache_line_bytes) std::atomic<int> number_{0};
};

double round_trip_s(int first, int other) {
  std::vector<double> seconds;
  for (int repetition = 0; repetition < distance_repetitions; ++repetition) {
    Ball ball;
    std::atomic<bool> ready{false};
    const std::jthread answering([&] {
      keep_to(other);
      ready = true;
      ball.answer();
    });
    std::jthread serving([&] {
      keep_to(first);
      while (!ready) std::this_thread::yield();
      const auto start = std::chrono::steady_clock::now();
      ball.serve();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      seconds.push_back(elapsed.count() / distance_passes);
    });
    serving.join();
  }
  return median(seconds);
}

// How far the measured cores are from each other: the mean round trip of a cache line from the first core to
// each other one. Some 50 ns within a shared cache, 300 ns and more between caches or sockets; on a virtual
// machine with two cores it changed between 56 and 330 ns, and with it the time of a small network by a
// factor of 1.5 to 2.1.
double core_round_trip_s(const std::vector<int>& cores) {
  check(cores.size() >= 2, "a distance lies between two cores");
  double sum = 0.0;
  for (std::size_t i = 1; i < cores.size(); ++i) sum += round_trip_s(cores.front(), cores[i]);
  return sum / static_cast<double>(cores.size() - 1);
}

// Every n-th duration, so that the kept ones still span the whole measured stretch.
std::vector<double> thinned(const std::vector<double>& durations) {
  const std::size_t stride = (durations.size() + kept_durations - 1) / kept_durations;
  std::vector<double> kept;
  for (std::size_t i = 0; i < durations.size(); i += stride) kept.push_back(durations[i]);
  return kept;
}

// The largest resident size of this process so far, if the system tells.
std::optional<double> peak_memory_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return 1024.0 * std::stod(line.substr(6));
  return std::nullopt;
}

class Measuring {
 public:
  Measuring(const MeasureRequest& request, std::ostream& out)
      : request_(request),
        clock_(request.processor_clock ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC),
        out_(out) {}

  // A chain of dependent operations in registers: its time is a number of clock cycles.
  void reference_loop(std::int64_t batch) const {
    volatile std::uint64_t sink = 0;
    Laps laps(1);
    for (int repetition = 0; repetition < reference_repetitions; ++repetition) {
      const double start = now();
      std::uint64_t state = 1;
      for (int step = 0; step < reference_steps; ++step)
        state = state * 6364136223846793005U + 1442695040888963407U;
      sink = state;
      laps[0].push_back(now() - start);
    }
    static_cast<void>(sink);
    report(batch, Operation::reference_loop, laps[0]);
  }

  void iterations(kernels::TrainingStep& step, std::int64_t batch) const {
    std::vector<double> round_trips;
    const auto measure_distance = [&] {
      if (request_.cores > 1) round_trips.push_back(core_round_trip_s(request_.core_numbers));
    };
    measure_distance();
    step.set_batch(batch);
    const Laps laps =
        warm_laps([&] { step.forward(); }, [&] { step.backward(); }, [&] { step.optimizer_step(); });
    measure_distance();
    if (!round_trips.empty()) report(batch, Operation::core_round_trip, round_trips);
    std::vector<double> both = laps[0];
    std::ranges::transform(both, laps[1], both.begin(), std::plus());
    report(batch, Operation::forward, laps[0]);
    const bool ascending = std::ranges::is_sorted(request_.plan.batches);
    report(batch, Operation::forward_backward, both, ascending ? peak_memory_bytes() : std::nullopt);
    report(batch, Operation::optimizer_step, laps[2]);
  }

  void loading(kernels::BatchLoading& loading, std::int64_t batch) const {
    loading.load(batch);
    report(batch, Operation::load_batch,
           laps(loading_share * request_.plan.seconds_per_point, request_.plan.minimum_iterations,
                [&] { loading.load(batch); })[0]);
  }

  // Of several iterations the median, for each variable.
  void gradients(kernels::TrainingStep& step, std::int64_t batch) const {
    step.set_batch(batch);
    const auto clock = [this] { return now(); };
    std::vector<std::vector<double>> of_variables(step.gradient_times(clock).size());
    for (std::size_t i = 0; i < gradient_iterations; ++i) {
      const std::vector<double> times = step.gradient_times(clock);
      for (std::size_t k = 0; k < times.size(); ++k) of_variables[k].push_back(times[k]);
    }
    std::vector<double> medians;
    for (const std::vector<double>& times : of_variables) medians.push_back(median(times));
    write({request_.cores, batch, request_.process, Operation::gradients_ready, medians});
  }

  void server(kernels::TrainingStep& step, std::int64_t batch) const {
    const Laps laps = warm_laps([&] { step.server_accumulate(); }, [&] { step.server_step(); });
    report(batch, Operation::server_accumulate, laps[0]);
    report(batch, Operation::server_step, laps[1]);
  }

 private:
  using Laps = std::vector<std::vector<double>>;  // durations of each part of an iteration

  // Seconds from some start on.
  [[nodiscard]] double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  // Runs whole iterations until both the time and the number of iterations are reached.
  template <class... Parts>
  [[nodiscard]] Laps laps(double seconds, int iterations, Parts... parts) const {
    Laps durations(sizeof...(parts));
    const double start = now();
    double last = start;
    for (int i = 0; i < iterations || last - start < seconds; ++i) {
      last = now();
      std::size_t part = 0;
      const auto time = [&](auto& run) {
        run();
        const double end = now();
        durations[part++].push_back(end - last);
        last = end;
      };
      (time(parts), ...);
    }
    return durations;
  }
  template <class... Parts>
  [[nodiscard]] Laps warm_laps(Parts... parts) const {
    const MeasurementPlan& plan = request_.plan;
    const int warm_up = std::clamp(plan.minimum_iterations / 3, 1, most_warm_up_iterations);
    static_cast<void>(laps(warm_up_share * plan.seconds_per_point, warm_up, parts...));
    return laps(plan.seconds_per_point, plan.minimum_iterations, parts...);
  }

  void report(std::int64_t batch, Operation operation, const std::vector<double>& durations,
              std::optional<double> peak = std::nullopt) const {
    write({request_.cores, batch, request_.process, operation, thinned(durations), peak});
  }

  void write(const Sample& sample) const { out_ << to_line(sample) << std::endl; }

  const MeasureRequest& request_;
  clockid_t clock_;
  std::ostream& out_;
};

}  // namespace

void run_measure_child(const MeasureRequest& request, std::ostream& out) {
  const MeasurementPlan& plan = request.plan;
  const Measuring measure(request, out);
  measure.reference_loop(plan.batches.front());
  kernels::set_compute_threads(request.cores);
  kernels::TrainingStep step({plan.network, plan.input_shape, plan.classes}, plan.batches.front());
  std::optional<kernels::BatchLoading> loading;
  if (plan.data) loading.emplace(DatasetSource{plan.data->kind, plan.data->path, loaded_samples, 1});
  for (const std::int64_t batch : plan.batches) {
    measure.iterations(step, batch);
    if (loading) measure.loading(*loading, batch);
  }
  if (!request.with_server) return;
  if (request.process == 0) measure.gradients(step, plan.batches[plan.batches.size() / 2]);
  // Last, because it holds the parameters three times more.
  measure.server(step, plan.batches.back());
}

}  // namespace paceline::calibrate
