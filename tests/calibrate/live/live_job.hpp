// What tests of live jobs share.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "calibrate/live/live_run.hpp"
#include "calibrate/live/process_crew.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/study/input_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::live_test {

// Tests run on machines where everything takes a minute.
inline constexpr Seconds on_any_machine{900.0};

struct LoadedJob {
  LoadedScenario loaded;
  InputFiles files;
  std::shared_ptr<const Profiles> profiles;
};

// `text` names the checkout as {}.
inline LoadedJob load_job(const char* text) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "live.yaml") << fmt::format(fmt::runtime(text), PACELINE_CHECKOUT);
  LoadedJob job{load_scenario(folder.path() / "live.yaml", {}), {}, {}};
  job.profiles = job.files.profiles_of(job.loaded);
  return job;
}

// BSP, then K-sync, which calls gradients off, then ASP, on workers of speed 1 and 1/2 and one that leaves
// and comes back.
inline constexpr const char* mixed_job_text = R"(
name: live test
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 400, test_samples: 50}}
  optimizer: {{learning_rate: 0.01, momentum: 0.9, weight_decay: 1e-3}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1, speed: 0.5}}, {{cores: 1}}]
  network: {{topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}
synchronization:
  - {{policy: bsp, transport: server, share: 30 %}}
  - {{policy: k-sync, gradients: 2, transport: server, share: 30 %}}
  - {{policy: asp, transport: server, share: 40 %, switch_cost: 10 ms}}
heterogeneity:
  membership: [{{at: 0.5 epochs, worker: 2, event: leaves}}, {{at: 1 epochs, worker: 2, event: joins}}]
batching: {{controller: dynamic, initial: 8, minimum: 4, maximum: 32}}
learner: {{kind: network}}
evaluation: {{every: 200 samples, who_pays: free}}
stop: {{epochs: 2}}
)";

inline LoadedJob load_mixed_job() {
  return load_job(mixed_job_text);
}

// How long servers were busy is the only thing in a result that the events do not determine.
inline std::string decisions(RunResult result) {
  result.resources.clear();
  return pack(result);
}

inline bool is_alive(int process) {
  return kill(process, 0) == 0;
}

// One worker of each of these jobs in turn is killed at a random moment: the others end the job, and no
// process is left. PACELINE_KILLS=100 kills more often than CI has time for.
inline void check_survives_kills(std::span<const LoadedJob> jobs, std::uint32_t seed) {
  const char* asked = std::getenv("PACELINE_KILLS");
  const std::size_t kills = asked == nullptr ? 2 : std::strtoul(asked, nullptr, 10);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < kills; ++i) {
    const LoadedJob& job = jobs[i % jobs.size()];
    const std::size_t workers = job.loaded.scenario.cluster.workers.size();
    live::LiveOptions options{
        .program = PACELINE_CALIBRATE, .patience = on_any_machine, .accepts_load = true};
    const auto victim = random() % workers;
    const std::chrono::microseconds when(random() % 600'000);
    std::thread killer;
    std::vector<int> processes;
    options.on_start = [&](const live::ProcessCrew& crew) {
      processes = crew.process_ids();
      killer = std::thread([process = processes[victim], when] {
        std::this_thread::sleep_for(when);
        kill(process, SIGKILL);
      });
    };
    const live::LiveRun run = live::run_live(job.loaded.scenario, *job.profiles, 0, options);
    killer.join();
    CAPTURE(workers);
    CAPTURE(victim);
    CAPTURE(when.count());
    std::string lost;
    for (const live::LostWorker& one : run.lost)
      lost += fmt::format("worker {} {}; ", one.worker.value, one.reason);
    CAPTURE(lost);
    CHECK(run.result.end_reason == "workload-done");
    CHECK(run.result.samples >= 800);
    if (!run.lost.empty()) {  // unless the job was over before
      CHECK(run.lost.size() == 1);
      CHECK(run.lost.front().worker == WorkerId{victim});
      CHECK(run.lost.front().reason == "was killed by signal 9 (Killed)");
    }
    for (const int process : processes) CHECK_FALSE(is_alive(process));
  }
}

}  // namespace paceline::live_test
