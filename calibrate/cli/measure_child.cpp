#include "calibrate/cli/measure_child.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>

#include <time.h>

#include "calibrate/cli/core_distance.hpp"
#include "kernels/interface/training_step.hpp"

namespace paceline::calibrate {
namespace {

constexpr int most_warm_up_iterations = 3;     // memory pools fill, caches and clocks warm
constexpr double warm_up_share = 0.2;          // of the time of a point, if that is longer
constexpr std::size_t kept_durations = 60;     // as promised in sim/cost/profile.hpp
constexpr std::int64_t loaded_samples = 5000;  // of a data set: far more than the caches hold
constexpr double loading_share = 0.2;          // of the time of a point
constexpr int reference_repetitions = 5;
constexpr int reference_steps = 4'000'000;  // some 10 ms

// Seconds from some start on.
class Clock {
 public:
  explicit Clock(bool processor_time) : id_(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC) {}

  [[nodiscard]] double now() const {
    timespec time{};
    clock_gettime(id_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

 private:
  clockid_t id_;
};

// Every n-th duration, so that the kept ones still span the whole measured stretch.
std::vector<double> thinned(const std::vector<double>& durations) {
  const std::size_t stride = (durations.size() + kept_durations - 1) / kept_durations;
  std::vector<double> kept;
  for (std::size_t i = 0; i < durations.size(); i += stride) kept.push_back(durations[i]);
  return kept;
}

// A chain of dependent operations in registers: its time is a number of clock cycles.
std::vector<double> reference_loop(const Clock& clock) {
  std::vector<double> seconds;
  volatile std::uint64_t sink = 0;
  for (int repetition = 0; repetition < reference_repetitions; ++repetition) {
    const double start = clock.now();
    std::uint64_t state = 1;
    for (int step = 0; step < reference_steps; ++step)
      state = state * 6364136223846793005U + 1442695040888963407U;
    sink = state;
    seconds.push_back(clock.now() - start);
  }
  static_cast<void>(sink);
  return seconds;
}

// The largest resident size of this process so far, if the system tells.
std::optional<double> peak_memory_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return 1024.0 * std::stod(line.substr(6));
  return std::nullopt;
}

struct StepDurations {
  std::vector<double> forward;
  std::vector<double> forward_backward;
  std::vector<double> optimizer_step;
};

// Runs whole iterations until both the time and the number of iterations are reached.
StepDurations iterate(kernels::TrainingStep& step, const Clock& clock, double seconds, int iterations) {
  StepDurations durations;
  const double start = clock.now();
  double end = start;
  for (int i = 0; i < iterations || end - start < seconds; ++i) {
    const double begin = clock.now();
    step.forward();
    const double middle = clock.now();
    step.backward();
    const double done = clock.now();
    step.optimizer_step();
    end = clock.now();
    durations.forward.push_back(middle - begin);
    durations.forward_backward.push_back(done - begin);
    durations.optimizer_step.push_back(end - done);
  }
  return durations;
}

// The batches of one process, one after the other: as many as take the time of a point, for each batch size.
std::vector<double> load_batches(kernels::BatchLoading& loading, const Clock& clock, std::int64_t batch,
                                 double seconds, int iterations) {
  std::vector<double> durations;
  loading.load(batch);
  const double start = clock.now();
  double end = start;
  for (int i = 0; i < iterations || end - start < seconds; ++i) {
    const double begin = clock.now();
    loading.load(batch);
    end = clock.now();
    durations.push_back(end - begin);
  }
  return durations;
}

int warm_up_iterations(const MeasureRequest& request) {
  return std::clamp(request.plan.minimum_iterations / 3, 1, most_warm_up_iterations);
}

class Reporter {
 public:
  Reporter(const MeasureRequest& request, std::ostream& out) : request_(request), out_(out) {}

  void operator()(std::int64_t batch, Operation operation, const std::vector<double>& durations,
                  std::optional<double> peak = std::nullopt) const {
    out_ << to_line(Sample{request_.cores, batch, request_.process, operation, thinned(durations), peak})
         << std::endl;
  }

 private:
  const MeasureRequest& request_;
  std::ostream& out_;
};

void measure_server(kernels::TrainingStep& step, const Clock& clock, std::int64_t batch,
                    const MeasureRequest& request, const Reporter& report) {
  std::vector<double> accumulate;
  std::vector<double> update;
  const auto run = [&](double seconds, int iterations) {
    accumulate.clear();
    update.clear();
    const double start = clock.now();
    double end = start;
    for (int i = 0; i < iterations || end - start < seconds; ++i) {
      const double begin = clock.now();
      step.server_accumulate();
      const double middle = clock.now();
      step.server_step();
      end = clock.now();
      accumulate.push_back(middle - begin);
      update.push_back(end - middle);
    }
  };
  run(warm_up_share * request.plan.seconds_per_point, warm_up_iterations(request));
  run(request.plan.seconds_per_point, request.plan.minimum_iterations);
  report(batch, Operation::server_accumulate, accumulate);
  report(batch, Operation::server_step, update);
}

}  // namespace

void run_measure_child(const MeasureRequest& request, std::ostream& out) {
  const Reporter report(request, out);
  const Clock clock(request.processor_clock);
  report(request.plan.batches.front(), Operation::reference_loop, reference_loop(clock));
  kernels::set_compute_threads(request.cores);
  const bool ascending = std::ranges::is_sorted(request.plan.batches);
  kernels::TrainingStep step({request.plan.network, request.plan.input_shape, request.plan.classes},
                             request.plan.batches.front());
  std::optional<kernels::BatchLoading> loading;
  if (request.plan.data)
    loading.emplace(DatasetSource{request.plan.data->kind, request.plan.data->path, loaded_samples, 1});
  for (const std::int64_t batch : request.plan.batches) {
    std::vector<double> round_trips;
    const auto measure_distance = [&] {
      if (request.cores > 1) round_trips.push_back(core_round_trip_s(request.core_numbers));
    };
    measure_distance();
    step.set_batch(batch);
    iterate(step, clock, warm_up_share * request.plan.seconds_per_point, warm_up_iterations(request));
    const StepDurations durations =
        iterate(step, clock, request.plan.seconds_per_point, request.plan.minimum_iterations);
    measure_distance();
    if (!round_trips.empty()) report(batch, Operation::core_round_trip, round_trips);
    report(batch, Operation::forward, durations.forward);
    report(batch, Operation::forward_backward, durations.forward_backward,
           ascending ? peak_memory_bytes() : std::nullopt);
    report(batch, Operation::optimizer_step, durations.optimizer_step);
    if (loading)
      report(batch, Operation::load_batch,
             load_batches(*loading, clock, batch, loading_share * request.plan.seconds_per_point,
                          request.plan.minimum_iterations));
  }
  // Last, because it holds the parameters three times more.
  if (request.with_server) measure_server(step, clock, request.plan.batches.back(), request, report);
}

}  // namespace paceline::calibrate
