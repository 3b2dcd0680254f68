#include "calibrate/measure/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "calibrate/measure/core_states.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/process.hpp"
#include "sim/base/progress.hpp"

namespace paceline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

MeasureRequest request_for(const MeasurementPlan& plan, const Machine& machine, int process, int cores) {
  MeasureRequest request{plan,
                         cores,
                         process,
                         cores == plan.cores.front(),
                         {machine.core_order.begin(), machine.core_order.begin() + cores},
                         share_of_time(machine) < 1.0};
  if (process % 2 == 1) std::ranges::reverse(request.plan.batches);
  return request;
}

Command command_for(const MeasureRequest& request, const std::string& program) {
  return {.words = {program, measure_child_flag, to_line(request)},
          .environment = compute_environment(request.cores),
          .cores = request.core_numbers};
}

[[noreturn]] void fail(const MeasureRequest& request, const Process& child, const std::string& what) {
  const std::string details =
      child.errors().empty() ? "it wrote no error message" : "its error output:\n" + child.errors();
  throw MeasurementError(fmt::format("measuring {} on {} core{} failed: the measuring process {}\n{}",
                                     request.plan.network, request.cores, request.cores == 1 ? "" : "s", what,
                                     details));
}

Sample checked_sample(const MeasureRequest& request, const Process& child, const std::string& line) {
  try {
    if (Sample sample = parse_sample(line); is_plausible(sample)) return sample;
  } catch (const std::exception&) {  // reported below like any other line that is not a sample
  }
  fail(request, child, fmt::format("wrote a line that is not a measurement: {}", line.substr(0, 200)));
}

// Runs one child to its end; `on_sample` hears of each sample.
template <class OnSample>
std::vector<Sample> run_child(const MeasureRequest& request, const std::string& program, OnSample on_sample) {
  Process child(command_for(request, program));
  std::vector<Sample> samples;
  while (const std::optional<std::string> line = child.read_line()) {
    samples.push_back(checked_sample(request, child, *line));
    on_sample(samples.back());
  }
  if (const int status = child.wait(); status != 0) fail(request, child, describe_status(status));
  if (samples.size() != expected_samples(request))
    fail(request, child,
         fmt::format("ended after {} of {} measurements", samples.size(), expected_samples(request)));
  return samples;
}

// What is left to do after the planned passes, and whether to do it.
class Stopping {
 public:
  explicit Stopping(const MeasurementPlan& plan) : plan_(plan) {}

  [[nodiscard]] bool another_pass(int passes_done, std::vector<Sample>& samples) {
    const auto now = Clock::now();
    const std::chrono::duration<double> of_last_pass = now - last_;
    last_ = now;
    if (passes_done < plan_.processes) return true;
    if (!plan_.budget_s || passes_done >= most_passes) return false;
    const std::chrono::duration<double> elapsed = now - start_;
    return elapsed.count() + of_last_pass.count() <= *plan_.budget_s && !enough(samples);
  }

 private:
  [[nodiscard]] bool enough(std::vector<Sample>& samples) const {
    const std::vector<CoreStates> states = set_states_apart(samples, plan_.wanted_round_trip_s);
    return std::ranges::all_of(states, &CoreStates::told_apart) &&
           interval_half_width(samples) <= narrow_interval;
  }

  const MeasurementPlan& plan_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace

double interval_half_width(const std::vector<Sample>& samples) {
  std::map<std::pair<int, std::int64_t>, std::vector<double>> logs;
  for (const Sample& sample : samples)
    if (sample.operation == Operation::forward_backward && !sample.set_aside)
      logs[{sample.cores, sample.batch}].push_back(std::log(mean_without_stalls(sample.seconds)));
  double widest = 0.0;
  for (const auto& [point, of_processes] : logs) {
    if (of_processes.size() < 2) return std::numeric_limits<double>::infinity();
    const auto count = static_cast<double>(of_processes.size());
    const double t = boost::math::quantile(boost::math::students_t_distribution<>(count - 1.0), 0.975);
    widest = std::max(widest, t * spread_of(of_processes).deviation / std::sqrt(count));
  }
  return widest;
}

Probe probe(const MeasurementPlan& plan, const Machine& machine, const std::string& child_program) {
  MeasurementPlan small = plan;
  small.batches = {2, 6};
  small.data.reset();
  small.seconds_per_point = 0.0;
  small.minimum_iterations = 2;
  const auto start = Clock::now();
  double iterations_s = 0.0;
  Probe result{{2, 0.0, 0.0}, {6, 0.0, 0.0}, 0.0};
  const std::vector<Sample> samples =
      run_child(request_for(small, machine, 0, small.cores.front()), child_program, [](const Sample&) {});
  for (const Sample& sample : samples) {
    ProbePoint& point = sample.batch == 2 ? result.small : result.large;
    if (sample.operation == Operation::forward_backward || sample.operation == Operation::optimizer_step) {
      point.iteration_s += *std::ranges::min_element(sample.seconds);
      for (const double seconds : sample.seconds) iterations_s += seconds;
    }
    if (sample.peak_memory_bytes) point.peak_memory_bytes = *sample.peak_memory_bytes;
  }
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  result.start_s = std::max(0.0, elapsed.count() - iterations_s);
  return result;
}

std::vector<Sample> measure(const MeasurementPlan& plan, const Machine& machine,
                            const std::string& child_program, const MeasureHooks& hooks) {
  check(!plan.cores.empty() && plan.cores.back() <= machine.logical_cores, "cores exist");
  Progress progress(fmt::format("measuring {}", plan.network));
  std::vector<Sample> samples = hooks.kept;
  std::set<std::pair<int, int>> done;  // pass and cores
  for (const Sample& sample : samples) done.insert({sample.process, sample.cores});
  const std::size_t points_of_pass = plan.batches.size() * plan.cores.size();
  Stopping stopping(plan);
  for (int pass = 0; stopping.another_pass(pass, samples); ++pass) {
    const std::size_t points = points_of_pass * static_cast<std::size_t>(std::max(pass + 1, plan.processes));
    std::size_t points_done = points_of_pass * static_cast<std::size_t>(pass);
    const auto show = [&] {
      progress.update(static_cast<double>(points_done) / static_cast<double>(points),
                      fmt::format("{} of {} points", points_done, points));
    };
    show();
    for (const int cores : plan.cores) {
      if (done.contains({pass, cores})) {
        points_done += plan.batches.size();
        continue;
      }
      const std::vector<Sample> of_process =
          run_child(request_for(plan, machine, pass, cores), child_program, [&](const Sample& sample) {
            if (sample.operation == Operation::forward_backward) ++points_done;
            show();
          });
      samples.insert(samples.end(), of_process.begin(), of_process.end());
      if (hooks.on_process) hooks.on_process(of_process);
    }
  }
  set_states_apart(samples, plan.wanted_round_trip_s);
  return samples;
}

}  // namespace paceline::calibrate
