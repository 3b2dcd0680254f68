#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "calibrate/collective/ring_timing.hpp"
#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/message.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/live/stepped_loop.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::json;

constexpr int warm_up_rings = 3;
constexpr int warm_up_steps = 2;
constexpr int fewest_steps = 5;
constexpr double longest_turn = 2.0 * (warm_up_steps + fewest_steps);  // in steps of long ones
constexpr int turns_under_quota = 4;                                   // of each size
constexpr int periods_per_turn = 4;
constexpr std::size_t threads_of_pytorch = 2;  // ProcessGroupGloo's for each device

double processor_seconds(clockid_t of_process = CLOCK_PROCESS_CPUTIME_ID) {
  timespec time{};
  clock_gettime(of_process, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The same for every member.
int ring_count(std::int64_t values, std::size_t members, double seconds, double busy_s, double per_value_s) {
  constexpr double usual_round_s = 100e-6;
  const double each =
      busy_s + usual_round_s * static_cast<double>(members) + per_value_s * static_cast<double>(values);
  return std::clamp(static_cast<int>(seconds / each), 10, 2000);
}

// By way of the process that started them all: a line of what this one tells, answered by all of them.
std::vector<std::string> meet(const std::string& own, Json asked = Json::object()) {
  asked[told_key] = std::vector<std::uint8_t>(own.begin(), own.end());
  std::cout << asked.dump() << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error("another member of the ring did not come");
  std::vector<std::string> all;
  for (const Json& told : Json::parse(line)) {
    const auto bytes = told.get<std::vector<std::uint8_t>>();
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}

// A ring that does not add up is not worth timing.
void check_sum(Ring& ring, const RingPlace& place, std::size_t size) {
  std::vector<float> values(size, static_cast<float>(place.rank + 1));
  ring.all_reduce(values);
  const float sum = 0.5F * static_cast<float>(place.members * (place.members + 1));
  if (std::ranges::any_of(values, [&](float value) { return value != sum; }))
    throw std::runtime_error("the ring does not add up");
}

class Member {
 public:
  Member(std::size_t rank, const Json& asked, std::optional<live::SteppedLoop>& loop,
         const std::string& token)
      : asked_(asked), loop_(loop), busy_s_(asked.at("busy_s")) {
    place_ = {.meet = [](const std::string& own) { return meet(own); },
              .rank = rank,
              .members = asked.at("members").get<std::size_t>(),
              .token = token,
              .address = asked.at("address"),
              .threads = threads_of_pytorch};
    // Others wait while one takes its steps alone, or is held up while each of its threads computes.
    double longest_s = longest_turn * busy_s_;
    if (asked.contains("allowance_s"))
      longest_s *= static_cast<double>(live::usable_cores()) * asked.at("period_s").get<double>() /
                   asked.at("allowance_s").get<double>();
    place_.message_patience += std::chrono::milliseconds(std::llround(1e3 * longest_s));
    ring_ = asked.at("gloo").get<bool>() ? make_gloo_ring(place_) : make_own_ring(place_);
  }

  // What it says of all-reduces of so many values. Half of the steps alone come before them and half after,
  // since a machine changes its speed from one second to the next.
  Json time(std::int64_t values) {
    const auto size = static_cast<std::size_t>(values);
    check_sum(*ring_, place_, size);
    const double seconds = asked_.at("seconds");
    if (loop_) take_steps_alone(seconds / 2.0);
    Json said =
        time_rings(size, ring_count(values, place_.members, seconds, busy_s_, asked_.at("per_value_s")));
    if (!loop_) return said;
    if (asked_.contains("allowance_s")) said["longer_s"] = longer_under_quota_s(size);
    take_steps_alone(seconds / 2.0);
    said["loop"] = {{"alone_s", spread_of(alone_s_).mean},
                    {"variation", spread_of(variations_).mean},
                    {"beside_s", spread_of(beside_s_).mean},
                    {"asking_alone_s", spread_of(asking_alone_s_).mean},
                    {"asking_ns", asking_ns_}};
    alone_s_.clear();
    variations_.clear();
    beside_s_.clear();
    asking_alone_s_.clear();
    return said;
  }

 private:
  // Each member's turn, while the others wait for it in a sum.
  void take_steps_alone(double seconds) {
    const double members = static_cast<double>(place_.members);
    const int steps = std::clamp(static_cast<int>(seconds / members / busy_s_), fewest_steps, 1000);
    std::vector<double> alone_s;
    std::vector<float> turn(place_.members);
    for (std::size_t rank = 0; rank < place_.members; ++rank) {
      for (int i = 0; rank == place_.rank && i < warm_up_steps + steps; ++i) {
        const AskedStep asked = step();
        if (i < warm_up_steps) continue;
        alone_s.push_back(asked.step.processor_s);
        asking_alone_s_.push_back(asked.asking_s);
      }
      ring_->all_reduce(turn);
    }
    const Spread spread = spread_of(alone_s);
    variations_.push_back(spread.mean > 0.0 ? spread.deviation / spread.mean : 0.0);
    alone_s_.insert(alone_s_.end(), alone_s.begin(), alone_s.end());
  }

  struct AskedStep {
    OwnStep step;
    double asking_s;  // what waking the loop and this process takes
  };
  AskedStep step() {
    const std::int64_t began_ns = live::LiveClock::monotonic_ns();
    const OwnStep step = loop_->step();
    const std::int64_t passed_ns = live::LiveClock::monotonic_ns() - began_ns;
    return {step, 1e-9 * static_cast<double>(passed_ns) - step.wall_s};
  }

  void compute() {
    if (!loop_) return load_.keep_busy(Seconds{busy_s_});
    const AskedStep asked = step();
    beside_s_.push_back(asked.step.processor_s);
    asking_ns_.push_back(std::llround(1e9 * asked.asking_s));
  }

  // What the first member and its loop take longer of a processor under the quota than as many steps and
  // all-reduces take them without. In turn, since a machine changes its speed.
  double longer_under_quota_s(std::size_t size) {
    std::vector<float> values(size);
    const std::int64_t began_ns = live::LiveClock::monotonic_ns();
    const double processor_s = processor_s_of(fewest_steps, values);
    const double wall_s = 1e-9 * static_cast<double>(live::LiveClock::monotonic_ns() - began_ns);
    // Of a turn, with the quota used up in each of its periods or not.
    const double in_all = periods_per_turn * std::min(asked_.at("period_s").get<double>() / wall_s,
                                                      asked_.at("allowance_s").get<double>() / processor_s);
    std::vector<float> steps(place_.members);
    if (place_.rank == 0) steps.front() = static_cast<float>(std::ceil(in_all * fewest_steps));
    ring_->all_reduce(steps);  // the first one's go for all
    const int count = std::max(fewest_steps, static_cast<int>(steps.front()));
    double longer_s = 0.0;
    for (int turn = 0; turn < turns_under_quota; ++turn) {
      longer_s -= processor_s_of(count, values);
      meet_under_quota(true);
      longer_s += processor_s_of(count, values);
      meet_under_quota(false);
    }
    return longer_s;
  }

  void meet_under_quota(bool held) {
    Json asked = Json::object();
    if (place_.rank == 0) asked[held_key] = held ? Json{getpid(), loop_->process_id()} : Json::array();
    meet({}, std::move(asked));
  }

  double processor_s_of(int steps, std::span<float> values) {
    clockid_t loop_clock{};
    check(clock_getcpuclockid(loop_->process_id(), &loop_clock) == 0, "the loop has not been waited for");
    const double began_s = processor_seconds() + processor_seconds(loop_clock);
    for (int i = 0; i < steps; ++i) {
      static_cast<void>(loop_->step());
      ring_->all_reduce(values);
    }
    return processor_seconds() + processor_seconds(loop_clock) - began_s;
  }

  Json time_rings(std::size_t size, int count) {
    std::vector<float> values(size);
    for (int i = 0; i < warm_up_rings; ++i) {
      compute();
      ring_->all_reduce(values);
    }
    beside_s_.clear();
    asking_ns_.clear();
    std::vector<std::int64_t> began_ns;
    std::vector<std::int64_t> ended_ns;
    const double began_s = processor_seconds();
    double busy_s = 0.0;
    for (int i = 0; i < count; ++i) {
      const double used_s = processor_seconds();
      compute();
      busy_s += processor_seconds() - used_s;
      began_ns.push_back(live::LiveClock::monotonic_ns());
      ring_->all_reduce(values);
      ended_ns.push_back(live::LiveClock::monotonic_ns());
    }
    return {{"began_ns", began_ns},
            {"ended_ns", ended_ns},
            {"processor_s", (processor_seconds() - began_s - busy_s) / count}};
  }

  const Json& asked_;
  std::optional<live::SteppedLoop>& loop_;
  double busy_s_;
  RingPlace place_;
  std::unique_ptr<Ring> ring_;
  live::MemoryLoad load_;
  std::vector<double> alone_s_;     // processor time of steps
  std::vector<double> variations_;  // of those, sd / mean of each half
  std::vector<double> beside_s_;
  std::vector<double> asking_alone_s_;
  std::vector<std::int64_t> asking_ns_;  // before each all-reduce
};

}  // namespace

void run_ring_member(const std::vector<std::string>& words) {
  const Json asked = Json::parse(words.at(1));
  const char* const variable = std::getenv(live::token_variable);
  const std::string token = variable == nullptr ? "" : variable;
  unsetenv(live::token_variable);
  std::optional<live::SteppedLoop> loop;
  if (const auto words_of_loop = asked.at("loop").get<std::vector<std::string>>(); !words_of_loop.empty())
    loop.emplace(words_of_loop).warm_up();  // before others wait for this member
  Member member(std::stoul(words.at(0)), asked, loop, token);
  for (const std::int64_t values : asked.at("values").get<std::vector<std::int64_t>>())
    std::cout << member.time(values).dump() << std::endl;
}

}  // namespace paceline::calibrate
