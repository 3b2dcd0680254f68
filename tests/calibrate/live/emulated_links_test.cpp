// Links between processes of this machine. Nothing is asserted that a slow machine could break: a shaped link
// has a least time, and no greatest.
#include "calibrate/live/emulated_links.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <doctest/doctest.h>

#include "tests/calibrate/live/live_job.hpp"

using namespace paceline;
using namespace paceline::live;
using namespace paceline::live_test;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr double link_rate = 1e6;  // bytes/s
constexpr std::size_t message_bytes = 200'000;

NetworkConfig slow_star() {
  NetworkConfig network;
  network.bandwidth = BytesPerSecond{link_rate};
  network.server_bandwidth = BytesPerSecond{link_rate};
  return network;
}

bool can_emulate() {
  const std::string reason = why_no_emulated_links();
  if (!reason.empty()) MESSAGE("left out: ", reason);
  return reason.empty();
}

// Of one message from worker 0 to the server.
double seconds_of_message(const EmulatedLinks& links) {
  asio::io_context context;
  std::optional<tcp::acceptor> acceptor;
  {
    const EmulatedLinks::At here(links.server_place());
    acceptor.emplace(context, tcp::endpoint(asio::ip::make_address(links.server_address()), 0));
  }
  const tcp::endpoint server = acceptor->local_endpoint();
  std::thread worker([&] {
    const EmulatedLinks::At here(links.place_of(WorkerId{0}));
    asio::io_context own;
    tcp::socket socket(own);
    socket.connect(server);
    asio::write(socket, asio::buffer(std::vector<char>(message_bytes)));
  });
  tcp::socket socket = acceptor->accept();
  std::vector<char> received(message_bytes);
  asio::read(socket, asio::buffer(received, 1));
  const auto began = std::chrono::steady_clock::now();
  asio::read(socket, asio::buffer(received, message_bytes - 1));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  worker.join();
  return passed.count();
}

// Two workers over links of 1 MB/s: gradients and parameters of small-cnn have 45 kB.
constexpr const char* slow_job = R"(
name: slow links
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 160, test_samples: 50}}
  optimizer: {{learning_rate: 0.01, momentum: 0.9}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1}}]
  network: {{topology: star, bandwidth: 8 Mbit/s, latency: 20 ms}}
synchronization: [{{policy: bsp, transport: server}}]
batching: {{controller: uniform, initial: 8, minimum: 4, maximum: 32}}
learner: {{kind: network}}
evaluation: {{every: 80 samples, who_pays: free}}
stop: {{epochs: 1}}
emulate: {{links: true}}
)";

LiveOptions options_for_links(const LoadedJob& job) {
  return {.program = PACELINE_CALIBRATE,
          .patience = on_any_machine,
          .accepts_load = true,
          .links = emulated_network(job.loaded.scenario)};
}

}  // namespace

TEST_CASE("a message takes its bytes over the bandwidth of its link, and longer when that falls") {
  if (!can_emulate()) return;
  // What passes at once after rest: the bucket's depth, at each of two links.
  constexpr double at_once = 2.0 * 3200.0;
  EmulatedLinks links(slow_star(), 2);
  CHECK(seconds_of_message(links) > (message_bytes - at_once) / link_rate * 0.95);
  links.set_bandwidth_factor(WorkerId{0}, 0.25);
  CHECK(seconds_of_message(links) > (message_bytes - at_once) / (0.25 * link_rate) * 0.95);
}

TEST_CASE("the ends of emulated links are out of reach from anywhere else") {
  if (!can_emulate()) return;
  const EmulatedLinks links(slow_star(), 1);
  asio::io_context context;
  CHECK_THROWS(tcp::acceptor(context, tcp::endpoint(asio::ip::make_address(links.server_address()), 0)));
}

TEST_CASE("a live job over emulated links takes at least what its messages take on them") {
  if (!can_emulate()) return;
  // 10 rounds: the parameters of both workers pass the server's link one after the other, 90 kB, and so do
  // the gradients: 0.18 s and two latencies of 20 ms. The first parameters are there from the start on.
  const LoadedJob job = load_job(slow_job);
  const std::vector<std::string> notes = check_live(job.loaded);
  CHECK(notes.front() ==
        "workers, server, messages and links are real; the scenario's jitter is not imposed");
  const LiveRun run = run_live(job.loaded.scenario, *job.profiles, 0, options_for_links(job));
  CHECK(run.lost.empty());
  CHECK(run.result.updates == 10);
  CHECK(run.result.end_time > Seconds{9.0 * 0.2});
}

TEST_CASE("a straggler's latency holds up its gradients, and a falling bandwidth all its messages") {
  if (!can_emulate()) return;
  const std::string text = std::string(slow_job) + R"(
heterogeneity:
  schedule: [{{at: 1 ms, workers: [1], bandwidth: [0.5]}}]
  stragglers: [{{worker: 1, from: 0 s, duration: 1000 s, added_latency: 150 ms}}]
)";
  const LoadedJob job = load_job(text.c_str());
  static_cast<void>(check_live(job.loaded));
  const LiveRun run = run_live(job.loaded.scenario, *job.profiles, 0, options_for_links(job));
  CHECK(run.result.updates == 10);
  // A gradient of worker 1 takes 0.09 s and 20 + 150 ms, its parameters 0.09 s and 20 ms.
  CHECK(run.result.end_time > Seconds{9.0 * 0.35});
}

TEST_CASE("in a ring of their own members wait for the latency of the links, and learn the same") {
  if (!can_emulate()) return;
  std::string text = slow_job;
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("transport: server", "transport: ring");
  replace("bandwidth: 8 Mbit/s", "bandwidth: 1 Gbit/s");
  const LoadedJob by_library = load_job(text.c_str());
  CHECK(
      check_live(by_library.loaded).front() ==
      "workers, server, messages and links are real; the scenario's jitter is not imposed, nor is latency on "
      "messages of an all-reduce: Gloo's cannot be held back (`emulate: {links: true, own_ring: true}`)");
  replace("links: true", "links: true, own_ring: true");
  const LoadedJob job = load_job(text.c_str());
  CHECK(check_live(job.loaded).front() ==
        "workers, server, messages and links are real; the scenario's jitter is not imposed");
  const LiveRun run = run_live(job.loaded.scenario, *job.profiles, 0, options_for_links(job));
  CHECK(run.lost.empty());
  REQUIRE(run.result.updates == 10);
  // 10 all-reduces of 2 (n - 1) = 2 rounds, of 20 ms each.
  CHECK(run.result.end_time > Seconds{10.0 * 2.0 * 0.02});
  replace("latency: 20 ms", "latency: 0 s");
  const LoadedJob quick = load_job(text.c_str());
  const LiveRun without = run_live(quick.loaded.scenario, *quick.profiles, 0, options_for_links(quick));
  REQUIRE(run.result.curve.size() == without.result.curve.size());
  for (std::size_t i = 0; i < run.result.curve.size(); ++i)
    CHECK(run.result.curve[i].loss == without.result.curve[i].loss);
}

TEST_CASE("what cannot be emulated is refused at its key") {
  const auto refuses = [](const std::string& from, const std::string& to, const std::string& message) {
    std::string text = slow_job;
    text.replace(text.find(from), from.size(), to);
    CHECK_THROWS_WITH_AS(static_cast<void>(check_live(load_job(text.c_str()).loaded)),
                         doctest::Contains(message.c_str()), UserError);
  };
  refuses("{{topology: star, bandwidth: 8 Mbit/s, latency: 20 ms}}",
          "{{topology: two-level, bandwidth: 8 Mbit/s, latency: 20 ms, racks: 2, uplink_bandwidth: 8 Mbit/s, "
          "uplink_latency: 1 ms}}",
          "a live job emulates the links of a star only");
  refuses("emulate: {{links: true}}", "heterogeneity: {{schedule: [{{at: 1 ms, bandwidth: [0.5, 1]}}]}}",
          "bandwidths of a live job change only where it emulates them");
  refuses("emulate: {{links: true}}",
          "emulate: {{links: true}}\nhosts: {{launch: 'ssh {{host}}', names: [a]}}",
          "links are emulated on this machine only");
  refuses("links: true", "own_ring: true", "no phase sums its gradients in a ring");
}
