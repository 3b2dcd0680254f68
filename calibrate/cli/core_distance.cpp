#include "calibrate/cli/core_distance.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include <pthread.h>
#include <sched.h>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr int repetitions = 3;
constexpr int passes = 1000;  // some 0.3 ms where cores are far apart
constexpr std::size_t cache_line_bytes = 64;

void keep_to(int core) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(core), &mask);
  check(pthread_setaffinity_np(pthread_self(), sizeof mask, &mask) == 0, "a measured core may be used");
}

// Odd numbers go there, even ones come back.
class Ball {
 public:
  void answer() {
    for (int i = 0; i < passes; ++i) {
      await(2 * i + 1);
      number_.store(2 * i + 2, std::memory_order_release);
    }
  }
  void serve() {
    for (int i = 0; i < passes; ++i) {
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
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    Ball ball;
    std::atomic<bool> ready{false};
    std::thread answering([&] {
      keep_to(other);
      ready = true;
      ball.answer();
    });
    std::thread serving([&] {
      keep_to(first);
      while (!ready) std::this_thread::yield();
      const auto start = std::chrono::steady_clock::now();
      ball.serve();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      seconds.push_back(elapsed.count() / passes);
    });
    serving.join();
    answering.join();
  }
  return median(seconds);
}

}  // namespace

double core_round_trip_s(const std::vector<int>& cores) {
  check(cores.size() >= 2, "a distance lies between two cores");
  double sum = 0.0;
  for (std::size_t i = 1; i < cores.size(); ++i) sum += round_trip_s(cores.front(), cores[i]);
  return sum / static_cast<double>(cores.size() - 1);
}

}  // namespace paceline::calibrate
