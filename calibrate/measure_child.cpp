#include "calibrate/measure_child.hpp"

#include <chrono>
#include <ostream>

#include "kernels/training_step.hpp"

namespace paceline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up_iterations = 3;        // memory pools fill, caches and clocks warm
constexpr double warm_up_share = 0.2;        // of the time of a point, if that is longer
constexpr std::size_t kept_durations = 200;  // as promised in sim/cost/profile.hpp

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

// Every n-th duration, so that the kept ones still span the whole measured stretch.
std::vector<double> thinned(const std::vector<double>& durations) {
  const std::size_t stride = (durations.size() + kept_durations - 1) / kept_durations;
  std::vector<double> kept;
  for (std::size_t i = 0; i < durations.size(); i += stride) kept.push_back(durations[i]);
  return kept;
}

struct Durations {
  std::vector<double> first;
  std::vector<double> second;
};

// Alternates two operations until both the time and the number of iterations are reached.
template <class First, class Second>
Durations alternate(First first, Second second, double seconds, int iterations) {
  Durations durations;
  const auto start = Clock::now();
  auto end = start;
  for (int i = 0; i < iterations || seconds_between(start, end) < seconds; ++i) {
    const auto begin = Clock::now();
    first();
    const auto between = Clock::now();
    second();
    end = Clock::now();
    durations.first.push_back(seconds_between(begin, between));
    durations.second.push_back(seconds_between(between, end));
  }
  return durations;
}

template <class First, class Second>
Durations warm_up_and_measure(First first, Second second, const MeasureRequest& request) {
  alternate(first, second, warm_up_share * request.seconds_per_point, warm_up_iterations);
  return alternate(first, second, request.seconds_per_point, request.minimum_iterations);
}

void write(std::ostream& out, const MeasureRequest& request, std::int64_t batch, Operation operation,
           const std::vector<double>& durations) {
  out << to_line(Sample{request.cores, batch, request.process, operation, thinned(durations)}) << std::endl;
}

void measure_server(kernels::TrainingStep& step, std::int64_t batch, const MeasureRequest& request,
                    std::ostream& out) {
  const Durations durations = warm_up_and_measure([&] { step.server_accumulate(); },  //
                                                  [&] { step.server_step(); }, request);
  write(out, request, batch, Operation::server_accumulate, durations.first);
  write(out, request, batch, Operation::server_step, durations.second);
}

}  // namespace

void run_measure_child(const MeasureRequest& request, std::ostream& out) {
  kernels::set_compute_threads(request.cores);
  bool server_is_left = request.with_server;
  for (const std::int64_t batch : request.batches) {
    kernels::TrainingStep step(request.network, batch);
    const Durations durations =
        warm_up_and_measure([&] { step.forward_backward(); }, [&] { step.optimizer_step(); }, request);
    write(out, request, batch, Operation::forward_backward, durations.first);
    write(out, request, batch, Operation::optimizer_step, durations.second);
    if (server_is_left) measure_server(step, batch, request, out);
    server_is_left = false;
  }
}

}  // namespace paceline::calibrate
