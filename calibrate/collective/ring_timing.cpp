#include "calibrate/collective/ring_timing.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/live/emulated_links.hpp"
#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/message.hpp"
#include "calibrate/live/stepped_loop.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/process.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int warm_up_rings = 3;

class RendezvousFolder {
 public:
  RendezvousFolder() {
    std::string name = (fs::temp_directory_path() / "paceline-ring-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a folder in " + fs::temp_directory_path().string());
    path_ = name;
  }
  RendezvousFolder(const RendezvousFolder&) = delete;
  RendezvousFolder& operator=(const RendezvousFolder&) = delete;
  ~RendezvousFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of an all-reduce, both ways over a link.
double usual_seconds_per_value(const std::optional<NetworkConfig>& links) {
  constexpr double on_loopback_s = 10e-9;
  return links ? (Bytes{2.0 * sizeof(float)} / links->bandwidth).value() : on_loopback_s;
}

// The same for every member.
int ring_count(std::int64_t values, std::size_t members, double seconds, double busy_s, double per_value_s) {
  constexpr double usual_round_s = 100e-6;
  const double each =
      busy_s + usual_round_s * static_cast<double>(members) + per_value_s * static_cast<double>(values);
  return std::clamp(static_cast<int>(seconds / each), 10, 2000);
}

// A ring that does not add up is not worth timing.
void check_sum(Ring& ring, const RingPlace& place, std::size_t size) {
  std::vector<float> values(size, static_cast<float>(place.rank + 1));
  ring.all_reduce(values);
  const float sum = 0.5F * static_cast<float>(place.members * (place.members + 1));
  if (std::ranges::any_of(values, [&](float value) { return value != sum; }))
    throw std::runtime_error("the ring does not add up");
}

struct MemberTime {
  std::vector<std::int64_t> began_ns;  // of each all-reduce, on the clock that all processes share
  std::vector<std::int64_t> ended_ns;
  double processor_s = 0.0;
};

MemberTime time_member(Ring& ring, std::size_t size, int count, const std::function<void()>& compute) {
  std::vector<float> values(size);
  for (int i = 0; i < warm_up_rings; ++i) {
    compute();
    ring.all_reduce(values);
  }
  MemberTime time;
  const double began_s = processor_seconds();
  double busy_s = 0.0;
  for (int i = 0; i < count; ++i) {
    const double used_s = processor_seconds();
    compute();
    busy_s += processor_seconds() - used_s;
    time.began_ns.push_back(live::LiveClock::monotonic_ns());
    ring.all_reduce(values);
    time.ended_ns.push_back(live::LiveClock::monotonic_ns());
  }
  time.processor_s = (processor_seconds() - began_s - busy_s) / count;
  return time;
}

// From when its last member has come until its last member has the sum.
double mean_wall_s(const std::vector<MemberTime>& members) {
  std::vector<double> walls_s;
  for (std::size_t i = 0; i < members.at(0).began_ns.size(); ++i) {
    std::int64_t began_ns = 0;
    std::int64_t ended_ns = 0;
    for (const MemberTime& member : members) {
      began_ns = std::max(began_ns, member.began_ns.at(i));
      ended_ns = std::max(ended_ns, member.ended_ns.at(i));
    }
    walls_s.push_back(1e-9 * static_cast<double>(ended_ns - began_ns));
  }
  return spread_of(walls_s).mean;
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

// The medians over passes of what is left of the wall-clock time.
live::TimedWork connection_work(const std::vector<std::vector<RingTime>>& passes, std::size_t i) {
  constexpr double resolution_s = 1e-9;
  const RingTime& first = passes.front()[i];
  const auto n = static_cast<double>(first.members);
  live::TimedWork work{2.0 * (n - 1.0), 2.0 * (n - 1.0) / n * first.bytes.value(), {}};
  for (const auto& pass : passes)
    work.seconds.push_back(std::max(resolution_s, (pass[i].wall - pass[i].processor).value()));
  return work;
}

}  // namespace

std::vector<RingTime> time_rings(const std::string& program, const RingRequest& request) {
  const RendezvousFolder folder;
  const std::string token = live::to_text(live::new_token());
  Json asked = {{"gloo", request.library == RingLibrary::gloo},
                {"folder", folder.path().string()},
                {"members", request.members},
                {"values", request.values},
                {"seconds", request.seconds_per_size},
                {"busy_s", request.busy.value()},
                {"loop", request.loop},
                {"per_value_s", usual_seconds_per_value(request.links)},
                {"address", "127.0.0.1"}};
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
                .environment = {fmt::format("{}={}", live::token_variable, token)}}));
  }
  std::vector<RingTime> times;
  for (const std::int64_t values : request.values) {
    std::vector<MemberTime> said;
    double processor_s = 0.0;
    for (std::size_t rank = 0; rank < request.members; ++rank) {
      const std::optional<std::string> line = members[rank]->read_line();
      if (!line) wait_for(members);
      check(line.has_value(), "a member that says no times has failed");
      const Json times_of_member = Json::parse(*line);
      said.push_back({times_of_member.at("began_ns"), times_of_member.at("ended_ns"),
                      times_of_member.at("processor_s")});
      processor_s += said.back().processor_s / static_cast<double>(request.members);
    }
    times.push_back({request.members, Bytes{static_cast<double>(values) * sizeof(float)},
                     Seconds{mean_wall_s(said)}, Seconds{processor_s}});
  }
  wait_for(members);
  return times;
}

CollectiveFit fit_collectives(const std::vector<std::vector<RingTime>>& passes, std::size_t cores) {
  std::vector<live::TimedWork> processor;
  std::vector<live::TimedWork> connection;
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    const RingTime& first = passes.front()[i];
    const auto n = static_cast<double>(first.members);
    live::TimedWork work{4.0 * (n - 1.0), 4.0 * (n - 1.0) / n * first.bytes.value(), {}};
    for (const auto& pass : passes) work.seconds.push_back(pass.at(i).processor.value());
    processor.push_back(std::move(work));
    if (first.members <= cores) connection.push_back(connection_work(passes, i));
  }
  CollectiveFit fit{live::fit_time(processor), std::nullopt};
  constexpr double least_s = 1e-6;
  const bool has_time_of_its_own = std::ranges::all_of(
      connection, [](const live::TimedWork& work) { return median(work.seconds) > least_s; });
  if (connection.size() >= 2 && has_time_of_its_own) fit.connection = live::fit_time(connection);
  return fit;
}

CommunicationCost cost_of(const CollectiveFit& fit) {
  CommunicationCost cost;
  cost.per_message = Seconds{fit.processor.fixed_s};
  if (fit.processor.seconds_per_byte > 0.0) cost.rate = BytesPerSecond{1.0 / fit.processor.seconds_per_byte};
  return cost;
}

live::Connection connection_of(const CollectiveFit& fit) {
  live::Connection connection;
  if (!fit.connection) return connection;
  connection.latency = Seconds{fit.connection->fixed_s};
  if (fit.connection->seconds_per_byte > 0.0)
    connection.bandwidth = BytesPerSecond{1.0 / fit.connection->seconds_per_byte};
  return connection;
}

void run_ring_member(const std::vector<std::string>& words) {
  const Json asked = Json::parse(words.at(1));
  const char* const variable = std::getenv(live::token_variable);
  const std::string token = variable == nullptr ? "" : variable;
  unsetenv(live::token_variable);
  std::optional<live::SteppedLoop> loop;
  if (const auto words_of_loop = asked.at("loop").get<std::vector<std::string>>(); !words_of_loop.empty())
    loop.emplace(words_of_loop).warm_up();  // before others wait for this member
  const auto rank = static_cast<std::size_t>(std::stoul(words.at(0)));
  const auto members = asked.at("members").get<std::size_t>();
  const RingPlace place{.meet = meeting_in(asked.at("folder").get<std::string>(), rank, members),
                        .rank = rank,
                        .members = members,
                        .token = token,
                        .address = asked.at("address")};
  const std::unique_ptr<Ring> ring =
      asked.at("gloo").get<bool>() ? make_gloo_ring(place) : make_own_ring(place);
  const double busy_s = asked.at("busy_s");
  live::MemoryLoad load;
  const auto compute = [&] {
    if (loop)
      static_cast<void>(loop->step());
    else
      load.keep_busy(Seconds{busy_s});
  };
  for (const std::int64_t values : asked.at("values").get<std::vector<std::int64_t>>()) {
    const auto size = static_cast<std::size_t>(values);
    check_sum(*ring, place, size);
    const int count = ring_count(values, place.members, asked.at("seconds"), busy_s, asked.at("per_value_s"));
    const MemberTime time = time_member(*ring, size, count, compute);
    std::cout << Json{{"began_ns", time.began_ns},
                      {"ended_ns", time.ended_ns},
                      {"processor_s", time.processor_s}}
                     .dump()
              << std::endl;
  }
}

}  // namespace paceline::calibrate
