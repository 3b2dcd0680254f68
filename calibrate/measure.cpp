#include "calibrate/measure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/child_process.hpp"
#include "calibrate/measure_protocol.hpp"
#include "sim/base/check.hpp"
#include "sim/base/progress.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t samples_per_batch = 2;  // forward_backward and optimizer_step
constexpr std::size_t server_samples = 2;     // server_accumulate and server_step

MeasureRequest request_for(const MeasurementPlan& plan, int process, int cores) {
  MeasureRequest request{plan.network,
                         cores,
                         process,
                         plan.batches,
                         cores == plan.cores.front(),
                         plan.seconds_per_point,
                         plan.minimum_iterations};
  if (process % 2 == 1) std::reverse(request.batches.begin(), request.batches.end());
  return request;
}

ChildCommand command_for(const MeasureRequest& request, const Machine& machine, const std::string& program) {
  ChildCommand command;
  command.program = program;
  command.arguments = {measure_child_flag, to_line(request)};
  command.environment = measuring_environment(request.cores);
  command.cores.assign(machine.core_order.begin(), machine.core_order.begin() + request.cores);
  return command;
}

[[noreturn]] void fail(const MeasureRequest& request, const ChildProcess& child, const std::string& what) {
  const std::string details =
      child.error_text().empty() ? "it wrote no error message" : "its error output:\n" + child.error_text();
  throw MeasurementError(fmt::format("measuring {} on {} core{} failed: the measuring process {}\n{}",
                                     request.network, request.cores, request.cores == 1 ? "" : "s", what,
                                     details));
}

Sample checked_sample(const MeasureRequest& request, const ChildProcess& child, const std::string& line) {
  try {
    Sample sample = parse_sample(line);
    const bool positive = std::all_of(sample.seconds.begin(), sample.seconds.end(),
                                      [](double s) { return s > 0.0 && std::isfinite(s); });
    if (positive && !sample.seconds.empty()) return sample;
  } catch (const std::exception&) {  // reported below like any other line that is not a sample
  }
  fail(request, child, fmt::format("wrote a line that is not a measurement: {}", line.substr(0, 200)));
}

// Runs one child to its end; `on_sample` hears of each sample.
template <class OnSample>
void run_child(const MeasureRequest& request, const Machine& machine, const std::string& program,
               OnSample on_sample) {
  ChildProcess child(command_for(request, machine, program));
  std::size_t received = 0;
  while (const std::optional<std::string> line = child.read_line()) {
    on_sample(checked_sample(request, child, *line));
    ++received;
  }
  if (const std::optional<std::string> failure = child.wait_for_failure()) fail(request, child, *failure);
  const std::size_t expected =
      samples_per_batch * request.batches.size() + (request.with_server ? server_samples : 0);
  if (received != expected)
    fail(request, child, fmt::format("ended after {} of {} measurements", received, expected));
}

}  // namespace

std::vector<std::string> measuring_environment(int cores) {
  return {fmt::format("OMP_NUM_THREADS={}", cores),
          fmt::format("OPENBLAS_NUM_THREADS={}", cores),
          "OMP_WAIT_POLICY=passive",
          "GOMP_SPINCOUNT=2000",  // overrides the policy in g++'s OpenMP
          "MALLOC_MMAP_THRESHOLD_=1073741824",
          "MALLOC_TRIM_THRESHOLD_=1099511627776"};
}

std::vector<Sample> measure(const MeasurementPlan& plan, const Machine& machine,
                            const std::string& child_program) {
  check(!plan.cores.empty() && plan.cores.back() <= machine.logical_cores, "cores exist");
  Progress progress(fmt::format("measuring {}", plan.network));
  const std::size_t points =
      plan.batches.size() * plan.cores.size() * static_cast<std::size_t>(plan.processes);
  std::size_t points_done = 0;
  std::vector<Sample> samples;
  progress.update(0.0, fmt::format("0 of {} points", points));
  for (int process = 0; process < plan.processes; ++process) {
    for (const int cores : plan.cores) {
      run_child(request_for(plan, process, cores), machine, child_program, [&](Sample sample) {
        if (sample.operation == Operation::forward_backward) ++points_done;
        samples.push_back(std::move(sample));
        progress.update(static_cast<double>(points_done) / static_cast<double>(points),
                        fmt::format("{} of {} points", points_done, points));
      });
    }
  }
  return samples;
}

}  // namespace paceline::calibrate
