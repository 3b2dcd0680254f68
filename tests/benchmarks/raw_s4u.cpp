#include "tests/benchmarks/raw_s4u.hpp"

#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/base/random.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"

namespace paceline::benchmarks {
namespace {

namespace sg = simgrid::s4u;

constexpr double parameter_bytes = 4.0 * 466'906;
constexpr double server_step_s = parameter_bytes / 3e9;

std::string parameters_of(std::size_t worker) {
  return "parameters-" + std::to_string(worker);
}

void work(std::size_t worker, std::int64_t iterations) {
  sg::Mailbox* const server = sg::Mailbox::by_name("gradients");
  sg::Mailbox* const own = sg::Mailbox::by_name(parameters_of(worker));
  static std::size_t names[4096];
  names[worker] = worker;
  for (std::int64_t k = 0; k < iterations; ++k) {
    RandomStream stream({1, 0}, Purpose::iteration_jitter, static_cast<std::uint32_t>(worker),
                        static_cast<std::uint64_t>(k));
    sg::this_actor::sleep_for(0.2 * stream.log_normal(1.0, 0.05));
    server->put(&names[worker], static_cast<std::uint64_t>(parameter_bytes));
    static_cast<void>(own->get<std::size_t>());
  }
}

void serve(std::int64_t gradients) {
  sg::Mailbox* const inbox = sg::Mailbox::by_name("gradients");
  // A receiver of its own lets messages travel before they are asked for: pushes share the server's link, as
  // they do in a simulated job.
  inbox->set_receiver(sg::Actor::self());
  static std::size_t done = 0;
  for (std::int64_t k = 0; k < gradients; ++k) {
    const std::size_t worker = *inbox->get<std::size_t>();
    sg::this_actor::sleep_for(server_step_s);
    sg::Mailbox::by_name(parameters_of(worker))
        ->put_init(&done, static_cast<std::uint64_t>(parameter_bytes))
        ->detach();
  }
}

sg::Host* attach(sg::NetZone* zone, const std::string& name) {
  sg::Host* host = zone->create_host(name, 1.0);
  sg::SplitDuplexLink* link = zone->create_split_duplex_link(name + "-link", 125e6);
  link->set_latency(25e-6);
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                  {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP)}, true);
  return host;
}

}  // namespace

double raw_s4u_asp(std::size_t workers, std::int64_t worker_iterations) {
  int argc = 1;
  std::string name = "raw";
  char* argv[] = {name.data(), nullptr};
  sg::Engine engine(&argc, argv);
  for (const std::string& setting : simgrid_model(NetworkModel{})) sg::Engine::set_config(setting);
  sg::NetZone* zone = sg::create_star_zone("cluster");
  std::vector<sg::Host*> hosts;
  for (std::size_t w = 0; w < workers; ++w) hosts.push_back(attach(zone, "worker-" + std::to_string(w)));
  sg::Host* server = attach(zone, "server");
  zone->seal();
  const std::int64_t each = worker_iterations / static_cast<std::int64_t>(workers);
  for (std::size_t w = 0; w < workers; ++w) sg::Actor::create("worker", hosts[w], work, w, each);
  sg::Actor::create("server", server, serve, each * static_cast<std::int64_t>(workers));
  engine.run();
  return sg::Engine::get_clock();
}

}  // namespace paceline::benchmarks
