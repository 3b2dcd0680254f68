#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/base/random.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/benchmarks/raw_s4u.hpp"

namespace paceline::benchmarks {
namespace {

namespace sg = simgrid::s4u;

constexpr double parameter_bytes = 4.0 * 466'906;
std::size_t numbers[4096];

struct Job {
  std::size_t servers;
  std::uint64_t shard_bytes;
};

sg::Mailbox* parameters_of(std::size_t worker) {
  return sg::Mailbox::by_name("parameters-" + std::to_string(worker));
}
sg::Mailbox* gradients_for(std::size_t server) {
  return sg::Mailbox::by_name("gradients-" + std::to_string(server));
}

void work_on_shards(Job job, std::size_t worker, std::int64_t iterations) {
  std::vector<sg::Mailbox*> servers;
  for (std::size_t s = 0; s < job.servers; ++s) servers.push_back(gradients_for(s));
  sg::Mailbox* const own = parameters_of(worker);
  own->set_receiver(sg::Actor::self());
  for (std::int64_t k = 0; k < iterations; ++k) {
    RandomStream stream({1, 0}, Purpose::iteration_jitter, static_cast<std::uint32_t>(worker),
                        static_cast<std::uint64_t>(k));
    sg::this_actor::sleep_for(0.2 * stream.log_normal(1.0, 0.05));
    for (sg::Mailbox* server : servers) server->put_init(&numbers[worker], job.shard_bytes)->detach();
    for (std::size_t s = 0; s < job.servers; ++s) static_cast<void>(own->get<std::size_t>());
  }
}

void serve_shard(Job job, std::size_t server, std::int64_t gradients) {
  sg::Mailbox* const inbox = gradients_for(server);
  inbox->set_receiver(sg::Actor::self());
  for (std::int64_t k = 0; k < gradients; ++k) {
    const std::size_t worker = *inbox->get<std::size_t>();
    sg::this_actor::sleep_for(static_cast<double>(job.shard_bytes) / 3e9);
    parameters_of(worker)->put_init(&numbers[server], job.shard_bytes)->detach();
  }
}

sg::SplitDuplexLink* add_link(sg::NetZone* zone, const std::string& name, double bandwidth, double latency) {
  sg::SplitDuplexLink* link = zone->create_split_duplex_link(name, bandwidth);
  link->set_latency(latency);
  return link;
}

}  // namespace

double raw_s4u_sharded(std::size_t workers, std::size_t servers, std::size_t racks,
                       std::int64_t worker_iterations) {
  int argc = 1;
  std::string name = "raw";
  char* argv[] = {name.data(), nullptr};
  sg::Engine engine(&argc, argv);
  for (const std::string& setting : simgrid_model(NetworkModel{})) sg::Engine::set_config(setting);
  sg::NetZone* zone = sg::create_full_zone("cluster");
  std::vector<sg::SplitDuplexLink*> uplinks;
  std::vector<sg::SplitDuplexLink*> server_links;
  std::vector<sg::Host*> server_hosts;
  for (std::size_t r = 0; r < racks; ++r)
    uplinks.push_back(add_link(zone, "rack-" + std::to_string(r), 1.25e9, 50e-6));
  for (std::size_t s = 0; s < servers; ++s) {
    server_hosts.push_back(zone->create_host("server-" + std::to_string(s), 1.0));
    server_links.push_back(add_link(zone, "server-link-" + std::to_string(s), 125e6, 25e-6));
  }
  std::vector<sg::Host*> hosts;
  for (std::size_t w = 0; w < workers; ++w) {
    numbers[w] = w;
    hosts.push_back(zone->create_host("worker-" + std::to_string(w), 1.0));
    sg::SplitDuplexLink* link = add_link(zone, "worker-link-" + std::to_string(w), 125e6, 25e-6);
    sg::SplitDuplexLink* uplink = uplinks[w * racks / workers];
    for (std::size_t s = 0; s < servers; ++s)
      zone->add_route(hosts[w]->get_netpoint(), server_hosts[s]->get_netpoint(), nullptr, nullptr,
                      {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP),
                       sg::LinkInRoute(uplink, sg::LinkInRoute::Direction::UP),
                       sg::LinkInRoute(server_links[s], sg::LinkInRoute::Direction::DOWN)},
                      true);
  }
  zone->seal();
  const Job job{servers, static_cast<std::uint64_t>(parameter_bytes / static_cast<double>(servers)) + 1};
  const std::int64_t each = worker_iterations / static_cast<std::int64_t>(workers);
  for (std::size_t w = 0; w < workers; ++w)
    sg::Actor::create("worker", hosts[w], work_on_shards, job, w, each);
  for (std::size_t s = 0; s < servers; ++s)
    sg::Actor::create("server", server_hosts[s], serve_shard, job, s,
                      each * static_cast<std::int64_t>(workers));
  engine.run();
  return sg::Engine::get_clock();
}

}  // namespace paceline::benchmarks
