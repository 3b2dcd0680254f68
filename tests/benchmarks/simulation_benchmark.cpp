// How fast simulations are: worker-iterations per second of wall-clock time, whole processes.
//
//   tests/benchmark.sh                              all
//   tests/benchmark.sh --benchmark_filter=asp/8     some
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "tests/benchmarks/benchmark_job.hpp"
#include "tests/benchmarks/job_in_child.hpp"
#include "tests/benchmarks/raw_s4u.hpp"

namespace paceline::benchmarks {
namespace {

// As `paceline run` does it, recorder included, with `engine: auto`.
double simulated_seconds(const test::TestJob& job) {
  Coordinator coordinator = job.coordinator();
  const SimulationModel model = job.model();
  NoLearner learner;
  FluidTimeline timeline(job.cluster());
  RunRecorder recorder(job.seed, {});
  Executor executor(coordinator, model, learner, timeline, recorder);
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
  state.counters["processor_s"] = last.processor_s;
  state.counters["peak_MiB"] = last.peak_memory_mib;
  state.counters["simulated_s"] = last.simulated_s;
}

void add(const std::string& name, std::int64_t worker_iterations, const std::function<double()>& job) {
  const auto run = [=](benchmark::State& state) { measure(state, worker_iterations, job); };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond);
}

std::int64_t iterations_for(std::size_t workers) {
  return workers <= 64 ? 64'000 : 16'384;
}

// Rounds are quick: as many that the start of a process does not count.
constexpr std::int64_t synchronous_iterations = 1'024'000;

void add_job(const std::string& name, std::size_t workers, std::int64_t iterations,
             const PhaseConfig& phase) {
  add(fmt::format("{}/{}", name, workers), iterations,
      [=] { return simulated_seconds(benchmark_job(workers, iterations, phase)); });
}

void add_raw(std::size_t workers) {
  const std::int64_t iterations = iterations_for(workers);
  add(fmt::format("raw_s4u_asp/{}", workers), iterations, [=] { return raw_s4u_asp(workers, iterations); });
}

// How the time of a job grows with its iterations, of 8 workers, and with its workers, at 100 iterations
// each: Google Benchmark fits the law and says by how much (root mean square) the times leave it.
void add_growth(const std::string& name, const PhaseConfig& phase) {
  const auto timed = [phase](benchmark::State& state, std::size_t workers, std::int64_t iterations) {
    for (auto _ : state)
      state.SetIterationTime(run_in_child([&] {
                               return simulated_seconds(benchmark_job(workers, iterations, phase));
                             }).processor_s);
    state.SetComplexityN(state.range(0));
  };
  benchmark::RegisterBenchmark(fmt::format("growth_iterations/{}", name).c_str(),
                               [=](benchmark::State& state) { timed(state, 8, state.range(0)); })
      ->RangeMultiplier(4)
      ->Range(64'000, 4'096'000)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Complexity(benchmark::oN);
  benchmark::RegisterBenchmark(fmt::format("growth_workers/{}", name).c_str(),
                               [=](benchmark::State& state) {
                                 timed(state, static_cast<std::size_t>(state.range(0)), 100 * state.range(0));
                               })
      ->RangeMultiplier(4)
      ->Range(64, 4096)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Complexity(benchmark::oNLogN);
}

// Rounds of 64 workers on a ring, of one step or of many that each takes alone, with and without jitter; and
// the draws of the latter alone.
constexpr std::int64_t local_workers = 64;
constexpr std::int64_t local_rounds = 1000;

test::TestJob rounds_of(std::int64_t steps, double iteration_cv) {
  PhaseConfig phase{.transport = Transport::ring};
  if (steps > 1) phase.local = LocalTraining{.steps = steps};
  test::TestJob job =
      benchmark_job(static_cast<std::size_t>(local_workers), local_workers * local_rounds * steps, phase);
  job.jitter.iteration_cv = iteration_cv;
  return job;
}

double drawn_seconds(const test::TestJob& job) {
  const SimulationModel model = job.model();
  const auto steps = static_cast<std::uint64_t>(job.total_samples / batch_samples / local_workers);
  Seconds sum;
  for (std::uint64_t w = 0; w < std::uint64_t{local_workers}; ++w) {
    const ComputeTimes::Iterations times = model.compute.iterations(WorkerId{w}, batch_samples);
    for (std::uint64_t step = 0; step < steps; ++step) sum += times[step];
  }
  return sum.value();
}

void add_local_training() {
  constexpr std::int64_t many_steps = 500;
  constexpr std::int64_t each = local_workers * local_rounds;
  for (const double cv : {0.0, 0.05}) {
    const char* jitter = cv > 0.0 ? "jitter" : "no_jitter";
    add(fmt::format("rounds_of_1_{}/64", jitter), each, [=] { return simulated_seconds(rounds_of(1, cv)); });
    add(fmt::format("rounds_of_500_{}/64", jitter), each * many_steps,
        [=] { return simulated_seconds(rounds_of(many_steps, cv)); });
  }
  add("draws_of_rounds_of_500/64", each * many_steps,
      [=] { return drawn_seconds(rounds_of(many_steps, 0.05)); });
}

// 1,024 workers in 16 racks, 16 servers.
constexpr std::size_t many = 1024;
constexpr std::size_t shards = 16;

test::TestJob sharded_job(std::int64_t iterations, const PhaseConfig& phase) {
  test::TestJob job = benchmark_job(many, iterations, phase);
  job.servers = shards;
  job.network.topology = Topology::two_level;
  job.network.racks = shards;
  job.network.uplink_bandwidth = BytesPerSecond{1.25e9};
  job.network.uplink_latency = Seconds{50e-6};
  return job;
}

double status_of(const std::string& command) {
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  check(std::system(command.c_str()) == 0, "the program ends well");
  return 0.0;
}

// `paceline run` of 64,000 iterations of 8 workers under ASP, with the statistical learner, results written.
double learning_run() {
  const std::string folder = (std::filesystem::temp_directory_path() / "paceline-benchmark").string();
  const double status = status_of(fmt::format(
      "{} run {}/studies/base.yaml -o {} --force --jobs 1 --set replications=1 --set "
      "'synchronization=[{{policy: asp, transport: server}}]' --set 'stop={{epochs: 163.84}}' 2>/dev/null",
      PACELINE_PROGRAM, PACELINE_SCENARIOS, folder));
  std::filesystem::remove_all(folder);
  return status;
}

double start_up() {
  return status_of(PACELINE_PROGRAM " --version");
}

}  // namespace
}  // namespace paceline::benchmarks

int main(int argc, char** argv) {
  using namespace paceline;
  using namespace paceline::benchmarks;
  const PhaseConfig asp{.policy = "asp"};
  const PhaseConfig ring{.transport = Transport::ring};
  for (const std::size_t workers : {8U, 64U, 256U, 1024U}) {
    add_job("bsp_server", workers, synchronous_iterations, PhaseConfig{});
    add_job("bsp_ring", workers, synchronous_iterations, ring);
    add_job("asp", workers, iterations_for(workers), asp);
    add_raw(workers);
  }
  add("asp_sharded/1024", many, [=] { return simulated_seconds(sharded_job(many, asp)); });
  add("raw_s4u_asp_sharded/1024", many, [] { return raw_s4u_sharded(many, shards, shards, many); });
  add("asp_learning/8", 64'000, learning_run);
  constexpr std::int64_t steps = 1000;
  add("bsp_ring/4096", 4 * many * steps,
      [=] { return simulated_seconds(benchmark_job(4 * many, 4 * many * steps, ring)); });
  add("start_up", 1, start_up);
  add_local_training();
  add_growth("bsp_server", PhaseConfig{});
  add_growth("bsp_ring", ring);
  add_growth("asp", asp);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  benchmark::RunSpecifiedBenchmarks();
  return EXIT_SUCCESS;
}
