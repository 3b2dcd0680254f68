// A link for each worker of this machine and for its server, as the scenario's star has them.
//
// Models:      processes in network namespaces of their own, joined by a bridge. Each direction of a link is
//              a token bucket of the kernel (tbf).
// Equation:    rate = the link's bandwidth · the worker's factor at the time; depth of the bucket =
//              `network.model.burst`, at least what passes in 0.25 ms and two packets, below which the
//              kernel's timer loses some of the rate.
// Units:       bytes, bytes per second.
// Assumptions: headers of packets pass the bucket, too: messages get some 5 % less than the rate. Namespaces
//              and devices have no name outside of this process: the kernel removes them when the last
//              process in them has ended, however it ends.
// Not modelled: latency, which the kernel may be unable to add: process_crew.hpp holds messages back.
// Source:      Linux, tc-tbf(8), network_namespaces(7).
#pragma once

#include <string>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline::live {

// Why there can be none here; empty when there can.
[[nodiscard]] std::string why_no_emulated_links();

// What such a link carries at once after a rest, and what is left of its rate for what packets hold.
[[nodiscard]] Bytes burst_of(const NetworkConfig& network, BytesPerSecond bandwidth);
inline constexpr double share_without_headers = 1448.0 / 1514.0;

class EmulatedLinks {
 public:
  // Throws std::runtime_error when the system refuses.
  EmulatedLinks(const NetworkConfig& network, std::size_t workers);

  // While it lives, what this thread starts, and each socket it opens, is at that end of the network.
  class At {
   public:
    explicit At(int place);
    At(const At&) = delete;
    At& operator=(const At&) = delete;
    ~At();

   private:
    int home_;
  };
  [[nodiscard]] int place_of(WorkerId worker) const { return places_.at(worker.value).get(); }
  [[nodiscard]] int server_place() const { return places_.back().get(); }
  [[nodiscard]] std::string address_of(WorkerId worker) const;
  [[nodiscard]] std::string server_address() const;

  // From now on the worker's link has this share of its bandwidth.
  void set_bandwidth_factor(WorkerId worker, double factor);

 private:
  class Place {
   public:
    explicit Place(int descriptor) : descriptor_(descriptor) {}
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();
    [[nodiscard]] int get() const { return descriptor_; }

   private:
    int descriptor_;
  };
  [[nodiscard]] static Place new_place();
  [[nodiscard]] std::string shape(BytesPerSecond bandwidth) const;

  NetworkConfig network_;
  Place switch_;
  std::vector<Place> places_;  // by worker; the server's is last
  std::vector<double> factors_;
};

}  // namespace paceline::live
