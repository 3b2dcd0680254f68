#include "calibrate/live/sharing_timing.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/processor_turns.hpp"
#include "calibrate/live/repeating_workers.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

constexpr std::size_t first_iterations = 2;  // of each stretch, left out

// The mean time of an iteration while these compute without a break.
Seconds mean_of(RepeatingWorkers& workers, const std::vector<Member>& members, std::int64_t batch_samples) {
  std::vector<double> all;
  for (const auto& [member, seconds] : workers.stretch_of(members, batch_samples))
    for (std::size_t i = std::min(first_iterations, seconds.size() - 1); i < seconds.size(); ++i)
      all.push_back(seconds[i]);
  return Seconds{spread_of(all).mean};
}

}  // namespace

std::vector<SharingPass> time_sharing(const std::filesystem::path& program, const SharingLoad& load,
                                      const std::function<void(double)>& progress) {
  RepeatingWorkers at_work(program, load.learner, load.for_each);
  const std::size_t workers = load.learner.worker_count;
  std::vector<SharingPass> passes(static_cast<std::size_t>(load.passes));
  double done = 0.0;
  const auto timed = [&](const std::vector<Member>& members) {
    progress(done++ / static_cast<double>(2 * workers * passes.size()));
    return mean_of(at_work, members, load.batch_samples);
  };
  for (SharingPass& pass : passes) {
    Seconds alone;
    for (Member member = 0; member < workers; ++member) alone += timed({member});
    pass.push_back(alone / static_cast<double>(workers));
    std::vector<Member> together = {0};
    for (Member member = 1; member < workers; ++member) {
      together.push_back(member);
      pass.push_back(timed(together));
    }
    const std::jthread server([](const std::stop_token& stop) {
      MemoryLoad load_of_server;
      while (!stop.stop_requested()) load_of_server.keep_busy(Seconds{1e-3});
    });
    pass.push_back(timed(together));
  }
  progress(1.0);
  return passes;
}

SharingTimes sharing_of(const std::vector<SharingPass>& passes, int cores) {
  SharingTimes times{cores, {}, {1.0}};
  std::vector<double> alone;
  for (const SharingPass& pass : passes) alone.push_back(pass.front().value());
  times.alone = Seconds{median(std::move(alone))};
  for (std::size_t m = 1; m < passes.front().size(); ++m) {
    std::vector<double> speeds;
    for (const SharingPass& pass : passes) speeds.push_back(pass.front() / pass[m]);
    const double turns = static_cast<double>(cores) / static_cast<double>(m + 1);
    times.speeds.push_back(std::min({times.speeds.back(), turns, median(std::move(speeds))}));
  }
  return times;
}

SharingTimes sharing_here(const std::vector<SharingPass>& passes) {
  SharingTimes times = sharing_of(passes, usable_cores());
  times.turns = processor_turns();
  return times;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return CPU_COUNT(&set);
}

std::string scenario_words(const SharingTimes& times) {
  std::vector<std::string> speeds;
  for (const double speed : times.speeds) speeds.push_back(fmt::format("{:.3g}", speed));
  return fmt::format("cores: {}, speeds: [{}]{}", times.cores, fmt::join(speeds, ", "),
                     times.turns ? ", " + scenario_words(*times.turns) : "");
}

}  // namespace paceline::live
