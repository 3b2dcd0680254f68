#include "calibrate/live/emulated_links.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/process.hpp"

namespace paceline::live {
namespace {

constexpr const char* own_place = "/proc/thread-self/ns/net";

[[noreturn]] void refuse_links(const std::string& reason) {
  throw std::runtime_error("no links can be emulated here: " + reason);
}

int open_own_place() {
  const int descriptor = open(own_place, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse_links(fmt::format("{}: {}", own_place, std::strerror(errno)));
  return descriptor;
}

// `tool`: ip or tc, which read one command from each line.
void configure(const std::string& tool, const std::string& lines) {
  const ProcessResult result = run_process({.words = {tool, "-batch", "-"}, .input = lines});
  if (result.status == status_not_started) refuse_links(fmt::format("there is no program `{}`", tool));
  if (result.status != 0) refuse_links(result.errors.substr(0, result.errors.find('\n')));
}

std::string address_at(std::size_t place) {
  constexpr std::size_t hosts = 250;
  return fmt::format("10.77.{}.{}", place / hosts, place % hosts + 1);
}

}  // namespace

std::string why_no_emulated_links() {
  try {
    NetworkConfig any;
    any.bandwidth = any.server_bandwidth = BytesPerSecond{1e8};
    const EmulatedLinks trial(any, 1);
    return {};
  } catch (const Interrupted&) {
    throw;
  } catch (const std::runtime_error& refusal) {
    return refusal.what();
  }
}

EmulatedLinks::Place::Place(Place&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

EmulatedLinks::Place::~Place() {
  if (descriptor_ >= 0) close(descriptor_);
}

EmulatedLinks::At::At(int place) : home_(open_own_place()) {
  if (setns(place, CLONE_NEWNET) == 0) return;
  const int why = errno;
  close(home_);
  refuse_links(fmt::format("setns: {}", std::strerror(why)));
}

EmulatedLinks::At::~At() {
  check(setns(home_, CLONE_NEWNET) == 0, "a thread returns to the network it came from");
  close(home_);
}

EmulatedLinks::Place EmulatedLinks::new_place() {
  const Place home(open_own_place());
  if (unshare(CLONE_NEWNET) != 0) refuse_links(fmt::format("unshare: {}", std::strerror(errno)));
  const int made = open(own_place, O_RDONLY | O_CLOEXEC);
  check(setns(home.get(), CLONE_NEWNET) == 0 && made >= 0, "a thread returns to the network it came from");
  return Place(made);
}

EmulatedLinks::EmulatedLinks(const NetworkConfig& network, std::size_t workers)
    : network_(network), switch_(new_place()), factors_(workers, 1.0) {
  std::string links = "link add name joined type bridge\nlink set joined up\n";
  std::string shapes;
  for (std::size_t place = 0; place <= workers; ++place) {
    places_.push_back(new_place());
    const bool is_server = place == workers;
    const BytesPerSecond bandwidth = is_server ? network.server_bandwidth : network.bandwidth;
    links += fmt::format(
        "link add name p{0} type veth peer name eth0 netns /proc/{1}/fd/{2}\n"
        "link set p{0} master joined up\n",
        place, getpid(), places_.back().get());
    shapes += fmt::format("qdisc add dev p{} root {}\n", place, shape(bandwidth));
  }
  {
    const At at_switch(switch_.get());
    configure("ip", links);
    configure("tc", shapes);
  }
  for (std::size_t place = 0; place <= workers; ++place) {
    const At at_host(places_[place].get());
    configure("ip",
              fmt::format("addr add {}/16 dev eth0\nlink set lo up\nlink set eth0 up\n", address_at(place)));
    configure("tc", fmt::format("qdisc add dev eth0 root {}\n",
                                shape(place == workers ? network.server_bandwidth : network.bandwidth)));
  }
}

std::string EmulatedLinks::address_of(WorkerId worker) const {
  return address_at(worker.value);
}

std::string EmulatedLinks::server_address() const {
  return address_at(places_.size() - 1);
}

void EmulatedLinks::set_bandwidth_factor(WorkerId worker, double factor) {
  if (std::exchange(factors_.at(worker.value), factor) == factor) return;
  const std::string shaped = shape(network_.bandwidth * factor);
  {
    const At at_switch(switch_.get());
    configure("tc", fmt::format("qdisc change dev p{} root {}\n", worker.value, shaped));
  }
  const At at_host(places_.at(worker.value).get());
  configure("tc", fmt::format("qdisc change dev eth0 root {}\n", shaped));
}

std::string EmulatedLinks::shape(BytesPerSecond bandwidth) const {
  // What does not pass at once waits, however much it is; nothing is lost.
  return fmt::format("tbf rate {:.0f}bps burst {:.0f} limit 1000000000", bandwidth.value(),
                     burst_of(network_, bandwidth).value());
}

Bytes burst_of(const NetworkConfig& network, BytesPerSecond bandwidth) {
  constexpr Bytes two_packets{3200.0};
  constexpr double timer_s = 250e-6;
  return std::max({network.model.burst, two_packets, Bytes{bandwidth.value() * timer_s}});
}

}  // namespace paceline::live
