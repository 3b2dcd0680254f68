// From the log of simulated asynchronous jobs back to their profile, as a person at a terminal goes that way.
#ifdef PACELINE_WITH_KERNELS
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/text.hpp"

using nlohmann::json;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::throughput_profile;
using paceline::test::Workplace;

namespace {

// 4.2 ms of computing for 32 samples, 2 ms of the server for an update.
std::string profile_of_busy_server() {
  std::string text = throughput_profile;
  const std::string rate = "\"server_step_bytes_per_s\": 1e10";
  return text.replace(text.find(rate), rate.size(), "\"server_step_bytes_per_s\": 22324000");
}

constexpr const char* asynchronous_scenario = R"(
name: asynchronous
replications: 3
job:
  network: small-cnn
  profile: profile.json
  dataset: {train_samples: 32000}
  optimizer: {learning_rate: 0.1}
cluster:
  workers: [{repeat: 4, cores: 1}]
  network: {topology: star, bandwidth: 1000 Gbit/s, latency: 0 s}
synchronization: [{policy: asp, transport: server}]
checkpoints: {every: 500 updates, cost: 0.2 s}
batching: {controller: uniform, initial: 32}
learner: {kind: none}
evaluation: {every: 1 epoch}
stop: {epochs: 3}
)";

}  // namespace

TEST_CASE("simulated jobs of one and of four workers give back the profile they were simulated with") {
  const Workplace place(PACELINE_PROGRAM,
                        {{"profile.json", profile_of_busy_server()}, {"four.yaml", asynchronous_scenario}});
  for (const std::string workers : {"1", "2", "4"})
    REQUIRE(place
                .paceline({"run", "four.yaml", "--iterations", "-o", workers, "--set",
                           "cluster.workers=[{repeat: " + workers + ", cores: 1}]"})
                .exit_code == 0);
  const std::vector<std::string> logs{"calibrate", "from-log", "--jobs", "1/iterations.csv",
                                      "2/iterations.csv"};
  std::vector<std::string> with_four = logs;
  for (const char* word :
       {"4/iterations.csv", "--time-column", "applied_s", "--network", "small-cnn", "-o", "back.json",
        "--scenario", "back.yaml", "--batch", "32", "--parameters", "11162", "--json"})
    with_four.push_back(word);
  const ProgramResult told = place.paceline(with_four);
  REQUIRE_MESSAGE(told.exit_code == 0, told.err);
  const json told_json = json::parse(told.out);
  // Four workers ask for 8 ms of the server in every 6.2 ms.
  CHECK(told_json["service"]["seconds"].get<double>() == doctest::Approx(0.002).epsilon(0.03));
  CHECK(told_json["service"]["low_s"] <= 0.002);
  CHECK(told_json["service"]["high_s"] >= 0.002);
  CHECK(told_json["pauses"]["seconds"].get<double>() == doctest::Approx(0.2).epsilon(0.03));
  CHECK(told_json["pauses"]["every_updates"].get<double>() == doctest::Approx(500.0).epsilon(0.02));
  for (const json& group : told_json["groups"])
    CHECK(group["alone"]["seconds"].get<double>() == doctest::Approx(0.0062).epsilon(0.03));

  // The scenario runs, as fast as the one the logs are of, and says where the profile comes from.
  const ProgramResult back = place.paceline({"run", "back.yaml", "-o", "back"});
  CHECK_MESSAGE(back.exit_code == 0, back.err);
  const auto end_of = [&](const std::string& folder) {
    const std::string text = place.text(folder + "/summary.csv");
    const std::size_t row = text.find('\n') + 1;
    std::vector<std::string> cells;
    for (std::size_t at = row; cells.size() < 5; at = text.find(',', at) + 1)
      cells.push_back(text.substr(at, text.find(',', at) - at));
    return std::stod(cells[4]);
  };
  CHECK(end_of("back") == doctest::Approx(end_of("4")).epsilon(0.05));
  CHECK(contains(place.paceline({"calibrate", "show", "back.json"}).out, "service time of an update"));

  // Two do not wait for the server: no service time, so no profile.
  std::vector<std::string> without = logs;
  for (const char* word : {"--time-column", "applied_s", "--network", "small-cnn"}) without.push_back(word);
  const ProgramResult refused = place.paceline(without);
  CHECK(refused.exit_code == 0);
  CHECK(contains(refused.out, "no service time of the server follows from these jobs: none saturates it"));
  CHECK(contains(refused.out, "missing: jobs of more than"));
  for (const char* word : {"-o", "no.json", "--batch", "32", "--parameters", "11162"})
    without.push_back(word);
  const ProgramResult no_profile = place.paceline(without);
  CHECK(no_profile.exit_code == 2);
  CHECK(contains(no_profile.err, "no profile: no service time of the server follows"));
  CHECK_FALSE(std::filesystem::exists(place.path() / "no.json"));
}
#endif
