// How fast simulations are: worker-iterations per second of wall-clock time, whole processes.
//
//   tests/benchmark.sh                              all
//   tests/benchmark.sh --benchmark_filter=asp/8     some
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "tests/benchmarks/benchmark_job.hpp"
#include "tests/benchmarks/job_in_child.hpp"
#include "tests/benchmarks/raw_s4u.hpp"

namespace paceline::benchmarks {
namespace {

// As `paceline run` does it, recorder included.
double simulated_seconds(const test::TestJob& job) {
  Coordinator coordinator = job.coordinator();
  const SimulationModel model = job.model();
  NoLearner learner;
  const auto timeline = make_simgrid_timeline(job.cluster());
  RunRecorder recorder(job.seed, {});
  Executor executor(coordinator, model, learner, *timeline, recorder);
  check(!executor.run().has_value(), "the benchmark's job does not stall");
  return recorder.last_time().value();
}

void measure(benchmark::State& state, std::int64_t worker_iterations, const std::function<double()>& job) {
  Taken last;
  for (auto _ : state) {
    last = run_in_child(job);
    state.SetIterationTime(last.wall_s);
  }
  state.SetItemsProcessed(state.iterations() * worker_iterations);
  state.counters["peak_MiB"] = last.peak_memory_mib;
  state.counters["simulated_s"] = last.simulated_s;
}

std::int64_t iterations_for(std::size_t workers) {
  return workers <= 64 ? 64'000 : 16'384;
}

void register_job(const std::string& name, std::size_t workers, const PhaseConfig& phase) {
  const std::int64_t iterations = iterations_for(workers);
  const auto run = [=](benchmark::State& state) {
    measure(state, iterations, [=] { return simulated_seconds(benchmark_job(workers, iterations, phase)); });
  };
  benchmark::RegisterBenchmark(fmt::format("{}/{}", name, workers).c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void register_raw(std::size_t workers) {
  const std::int64_t iterations = iterations_for(workers);
  const auto run = [=](benchmark::State& state) {
    measure(state, iterations, [=] { return raw_s4u_asp(workers, iterations); });
  };
  benchmark::RegisterBenchmark(fmt::format("raw_s4u_asp/{}", workers).c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void start_up(benchmark::State& state) {
  measure(state, 1, [] {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    const int status = std::system(PACELINE_PROGRAM " --version");
    return status == 0 ? 0.0 : 1.0;
  });
}

}  // namespace
}  // namespace paceline::benchmarks

int main(int argc, char** argv) {
  using namespace paceline;
  const PhaseConfig asp{.policy = "asp"};
  for (const std::size_t workers : {8U, 64U, 256U, 1024U}) {
    benchmarks::register_job("bsp_server", workers, PhaseConfig{});
    benchmarks::register_job("bsp_ring", workers, {.transport = Transport::ring});
    benchmarks::register_job("asp", workers, asp);
    benchmarks::register_raw(workers);
  }
  benchmark::RegisterBenchmark("start_up", benchmarks::start_up)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  benchmark::RunSpecifiedBenchmarks();
  return EXIT_SUCCESS;
}
