#include "calibrate/collective/ring_timing.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sched.h>

#include "calibrate/live/message.hpp"

using namespace paceline;
using namespace paceline::calibrate;

namespace {

// Of members that are threads.
class MeetingOfThreads {
 public:
  explicit MeetingOfThreads(std::size_t members)
      : told_(members), all_have_told_(static_cast<std::ptrdiff_t>(members)) {}
  [[nodiscard]] Meeting as(std::size_t rank) {
    return [this, rank](const std::string& own) {
      told_[rank] = own;
      all_have_told_.arrive_and_wait();
      std::vector<std::string> all = told_;
      all_have_told_.arrive_and_wait();
      return all;
    };
  }

 private:
  std::vector<std::string> told_;
  std::barrier<> all_have_told_;
};

}  // namespace

TEST_CASE("a ring adds up, whatever the number of its values") {
  // Members 1, 2, 3 contribute their number in every place, and the place itself once.
  MeetingOfThreads meeting(3);
  const std::string token = live::to_text(live::new_token());
  std::vector<std::vector<std::vector<float>>> sums(3);
  std::vector<std::thread> members;
  const std::vector<std::size_t> sizes = {1, 2, 3, 7, 1000};
  for (std::size_t rank = 0; rank < 3; ++rank)
    members.emplace_back([&, rank] {
      const auto ring = make_own_ring({.meet = meeting.as(rank), .rank = rank, .members = 3, .token = token});
      for (const std::size_t size : sizes) {
        std::vector<float> values(size, static_cast<float>(rank + 1));
        if (rank == 0)
          for (std::size_t i = 0; i < size; ++i) values[i] += static_cast<float>(i);
        ring->all_reduce(values);
        sums[rank].push_back(std::move(values));
      }
    });
  for (std::thread& member : members) member.join();
  for (std::size_t rank = 0; rank < 3; ++rank)
    for (const std::vector<float>& sum : sums[rank])
      for (std::size_t i = 0; i < sum.size(); ++i) CHECK(sum[i] == 6.0F + static_cast<float>(i));
}

namespace {

struct TimedSum {
  std::vector<float> values;  // of the last member
  double shortest_s = 0.0;    // of all its all-reduces
};

TimedSum sum_over_ring(std::size_t members, Seconds latency) {
  MeetingOfThreads meeting(members);
  const std::string token = live::to_text(live::new_token());
  TimedSum sum{.values = {}, .shortest_s = 1e9};
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < members; ++rank)
    threads.emplace_back([&, rank] {
      const auto ring = make_own_ring(
          {.meet = meeting.as(rank), .rank = rank, .members = members, .token = token, .latency = latency});
      std::vector<float> values(1000);
      for (int repeat = 0; repeat < 3; ++repeat) {
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] += 0.1F / static_cast<float>(rank + i + 1);  // no order of additions is exact
        const auto began = std::chrono::steady_clock::now();
        ring->all_reduce(values);
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        if (rank + 1 == members) sum.shortest_s = std::min(sum.shortest_s, passed.count());
      }
      if (rank + 1 == members) sum.values = std::move(values);
    });
  for (std::thread& thread : threads) thread.join();
  return sum;
}

std::vector<std::unique_ptr<Ring>> two_of_gloo(bool gives_way, std::size_t threads = 1) {
  MeetingOfThreads meeting(2);
  std::vector<std::unique_ptr<Ring>> rings(2);
  std::vector<std::thread> members;
  for (std::size_t rank = 0; rank < 2; ++rank)
    members.emplace_back([&, rank] {
      rings[rank] = make_gloo_ring(
          {.meet = meeting.as(rank), .rank = rank, .token = {}, .gives_way = gives_way, .threads = threads});
    });
  for (std::thread& member : members) member.join();
  return rings;
}

}  // namespace

TEST_CASE("a latency holds up every round of a ring, and changes no bit of its sum") {
  for (const std::size_t members : {2U, 3U}) {
    CAPTURE(members);
    // 2 (n - 1) rounds, in each of which a member's own message leaves a latency after the round began.
    constexpr double latency_s = 0.01;
    const double rounds = 2.0 * (static_cast<double>(members) - 1.0);
    const TimedSum slow = sum_over_ring(members, Seconds{latency_s});
    CHECK(slow.shortest_s >= rounds * latency_s);
    const TimedSum quick = sum_over_ring(members, Seconds{});
    CHECK(std::ranges::equal(slow.values, quick.values));
  }
}

TEST_CASE("Gloo's thread gives way where it is told to, and only that thread") {
  // It asked for a lock again and again whose holder it had interrupted, on the only core of both.
  if (!has_gloo()) {
    MESSAGE("left out: built without Gloo");
    return;
  }
  const auto threads_that_give_way = [] {
    std::ptrdiff_t count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      count += sched_getscheduler(std::stoi(task.path().filename())) == SCHED_IDLE ? 1 : 0;
    return count;
  };
  for (const bool gives_way : {false, true}) {
    const auto rings = two_of_gloo(gives_way);
    CHECK(threads_that_give_way() == (gives_way ? 2 : 0));
  }
}

TEST_CASE("a member of Gloo's ring has as many threads for all-reduces as it is told, and one that polls") {
  if (!has_gloo()) {
    MESSAGE("left out: built without Gloo");
    return;
  }
  const auto tasks = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
  // Two members: 2 (threads + 1) tasks more than without them.
  const std::ptrdiff_t before = tasks();
  for (const std::size_t threads : {1U, 2U}) {
    const auto rings = two_of_gloo(false, threads);
    CHECK(tasks() - before == 2 * (static_cast<std::ptrdiff_t>(threads) + 1));
  }
}

TEST_CASE("bug: a member of Gloo's ring was killed by its own message to one that was gone") {
  if (!has_gloo()) {
    MESSAGE("left out: built without Gloo");
    return;
  }
  // Whether Gloo sees that the other is gone before it writes is up to the kernel, so the signal comes here.
  std::signal(SIGPIPE, SIG_DFL);
  const auto rings = two_of_gloo(false);
  CHECK(std::raise(SIGPIPE) == 0);
}
