#include "calibrate/collective/ring_timing.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/live/emulated_links.hpp"
#include "calibrate/live/message.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/process.hpp"
#include "sim/cost/quota_clock.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::json;

// Of an all-reduce, both ways over a link.
double usual_seconds_per_value(const std::optional<NetworkConfig>& links) {
  constexpr double on_loopback_s = 10e-9;
  return links ? (Bytes{2.0 * sizeof(float)} / links->bandwidth).value() : on_loopback_s;
}

struct LoopTime {
  double alone_s = 0.0;
  double variation = 0.0;
  double beside_s = 0.0;
  double asking_alone_s = 0.0;
  std::vector<std::int64_t> asking_ns;  // before each all-reduce
};
// What a member has said.
struct MemberTime {
  std::vector<std::int64_t> began_ns;  // of each all-reduce, on the clock that all processes share
  std::vector<std::int64_t> ended_ns;
  double processor_s = 0.0;
  std::optional<LoopTime> loop;
};

MemberTime member_time(const Json& said) {
  MemberTime time{said.at("began_ns"), said.at("ended_ns"), said.at("processor_s"), {}};
  if (const auto loop = said.find("loop"); loop != said.end())
    time.loop = {loop->at("alone_s"), loop->at("variation"), loop->at("beside_s"), loop->at("asking_alone_s"),
                 loop->at("asking_ns")};
  return time;
}

std::int64_t last_of(const std::vector<MemberTime>& members, std::vector<std::int64_t> MemberTime::*at,
                     std::size_t i) {
  std::int64_t last_ns = 0;
  for (const MemberTime& member : members) last_ns = std::max(last_ns, (member.*at).at(i));
  return last_ns;
}

// From when its last member has come until its last member has the sum.
double mean_wall_s(const std::vector<MemberTime>& members) {
  std::vector<double> walls_s;
  for (std::size_t i = 0; i < members.front().began_ns.size(); ++i)
    walls_s.push_back(1e-9 * static_cast<double>(last_of(members, &MemberTime::ended_ns, i) -
                                                 last_of(members, &MemberTime::began_ns, i)));
  return spread_of(walls_s).mean;
}

double mean_over(const std::vector<MemberTime>& members, double LoopTime::*part) {
  double sum = 0.0;
  for (const MemberTime& member : members) sum += *member.loop.*part;
  return sum / static_cast<double>(members.size());
}

// By so much sooner the last one would have come if asking took no time. Mean after the first all-reduce.
double sooner_without_asking_s(const std::vector<MemberTime>& members) {
  std::vector<double> sooner_s;
  for (std::size_t i = 1; i < members.front().began_ns.size(); ++i) {
    std::int64_t last_ns = 0;
    for (const MemberTime& member : members)
      last_ns = std::max(last_ns, member.began_ns.at(i) - member.loop->asking_ns.at(i));
    sooner_s.push_back(1e-9 * static_cast<double>(last_of(members, &MemberTime::began_ns, i) - last_ns));
  }
  return spread_of(sooner_s).mean;
}

// Absent: its loops say no processor time, or there are none.
std::optional<LoopSteps> steps_of(const std::vector<MemberTime>& members) {
  if (std::ranges::any_of(members, [](const MemberTime& member) {
        return !member.loop || std::min(member.loop->alone_s, member.loop->beside_s) <= 0.0;
      }))
    return std::nullopt;
  const std::size_t last = members.front().ended_ns.size() - 1;
  const double updates_s = 1e-9 * static_cast<double>(last_of(members, &MemberTime::ended_ns, last) -
                                                      last_of(members, &MemberTime::ended_ns, 0));
  const bool has_core = std::cmp_less_equal(members.size(), live::usable_cores());
  const double asking_s =
      has_core ? sooner_without_asking_s(members) : mean_over(members, &LoopTime::asking_alone_s);
  return LoopSteps{.alone = Seconds{mean_over(members, &LoopTime::alone_s)},
                   .variation = mean_over(members, &LoopTime::variation),
                   .beside = Seconds{mean_over(members, &LoopTime::beside_s)},
                   .update = Seconds{updates_s / static_cast<double>(last) - asking_s}};
}

// Where one fails the others lose it, and end, too.
void wait_for(const std::vector<std::unique_ptr<Process>>& members) {
  std::string failures;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const int status = members[rank]->wait();
    if (status != 0)
      failures += fmt::format("{}member {} of the ring {}: {}", failures.empty() ? "" : "\n", rank,
                              describe_status(status), members[rank]->errors());
  }
  if (!failures.empty()) throw std::runtime_error(failures);
}

std::vector<Json> next_lines(const std::vector<std::unique_ptr<Process>>& members) {
  std::vector<Json> said;
  for (const auto& member : members) {
    const std::optional<std::string> line = member->read_line();
    if (!line) wait_for(members);
    check(line.has_value(), "a member that says nothing has failed");
    said.push_back(Json::parse(*line));
  }
  return said;
}

void hold(const std::vector<pid_t>& processes, const live::CpuBudget& budget) {
  if (processes.empty()) budget.release();
  for (const pid_t process : processes) budget.add(process);
}

// What all say of one size. What they tell each other before is passed on.
std::vector<Json> next_times(const std::vector<std::unique_ptr<Process>>& members,
                             const std::optional<live::CpuBudget>& budget) {
  while (true) {
    std::vector<Json> said = next_lines(members);
    if (!said.front().contains(told_key)) return said;
    if (const auto asked = said.front().find(held_key); asked != said.front().end()) hold(*asked, *budget);
    Json told = Json::array();
    for (Json& one : said) told.push_back(std::move(one.at(told_key)));
    const std::string line = told.dump();
    for (const auto& member : members)
      if (!member->write_line(line)) throw std::runtime_error("a member of the ring does not listen");
  }
}

}  // namespace

std::vector<RingTime> time_rings(const std::string& program, const RingRequest& request) {
  const std::string token = live::to_text(live::new_token());
  Json asked = {{"gloo", request.library == RingLibrary::gloo},
                {"members", request.members},
                {"values", request.values},
                {"seconds", request.seconds_per_size},
                {"busy_s", request.busy.value()},
                {"loop", request.loop},
                {"per_value_s", usual_seconds_per_value(request.links)},
                {"address", "127.0.0.1"}};
  std::optional<live::CpuBudget> budget;  // outlives the members
  if (request.quota) {
    budget.emplace(*request.quota, 0);
    asked["period_s"] = request.quota->period.value();
    asked["allowance_s"] = allowance_of(*request.quota, 1).value();
  }
  std::optional<live::EmulatedLinks> links;
  if (request.links) links.emplace(*request.links, request.members);
  std::vector<std::unique_ptr<Process>> members;
  for (std::size_t rank = 0; rank < request.members; ++rank) {
    std::optional<live::EmulatedLinks::At> at_its_link;
    if (links) {
      at_its_link.emplace(links->place_of(WorkerId{rank}));
      asked["address"] = links->address_of(WorkerId{rank});
    }
    members.push_back(std::make_unique<Process>(
        Command{.words = {program, ring_member_flag, std::to_string(rank), asked.dump()},
                .environment = {fmt::format("{}={}", live::token_variable, token)},
                .keeps_input_open = true}));
  }
  std::vector<RingTime> times;
  for (const std::int64_t values : request.values) {
    std::vector<MemberTime> said;
    double processor_s = 0.0;
    const std::int64_t stops_before = budget ? budget->stops() : 0;
    const std::vector<Json> lines = next_times(members, budget);
    for (const Json& line : lines) {
      said.push_back(member_time(line));
      processor_s += said.back().processor_s / static_cast<double>(request.members);
    }
    times.push_back({request.members,
                     Bytes{static_cast<double>(values) * sizeof(float)},
                     Seconds{mean_wall_s(said)},
                     Seconds{processor_s},
                     steps_of(said),
                     {}});
    if (budget)
      times.back().held_up = {Seconds{lines.front().at("longer_s")}, budget->stops() - stops_before};
  }
  wait_for(members);
  return times;
}

}  // namespace paceline::calibrate
