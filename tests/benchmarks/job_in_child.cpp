#include "tests/benchmarks/job_in_child.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.hpp"

namespace paceline::benchmarks {

Taken run_in_child(const std::function<double()>& job) {
  std::array<int, 2> ends{};
  check(pipe(ends.data()) == 0, "a pipe can be made");
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  check(child >= 0, "a process can be made");
  if (child == 0) {
    const double simulated_s = job();
    const bool told = write(ends[1], &simulated_s, sizeof simulated_s) == sizeof simulated_s;
    _exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  Taken taken;
  const bool heard = read(ends[0], &taken.simulated_s, sizeof taken.simulated_s) == sizeof taken.simulated_s;
  close(ends[0]);
  int status = 0;
  rusage usage{};
  check(wait4(child, &status, 0, &usage) == child && status == 0 && heard, "the benchmarked job ends well");
  taken.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  taken.processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  taken.peak_memory_mib = static_cast<double>(usage.ru_maxrss) / 1024.0;
  return taken;
}

}  // namespace paceline::benchmarks
