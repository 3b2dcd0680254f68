// Processes as a crew: started here or, by a launcher, on other hosts; connected over TCP, on the loopback
// address unless told otherwise.
//
// A random token, handed to each process in its environment, or to a launched one by its input, is asked for
// on every connection; whoever does not know it, says something else or nothing at all within some seconds
// is refused and counted. A member whose messages are malformed is dismissed. A process that ends, however it
// ends, is one more piece of news. Processes die with this one (sim/base/process.hpp); a
// worker also ends when its connection does. Where there are as many cores as workers each keeps one for
// itself, and all have the environment in which iterations are calibrated.
//
// Emulated links are a star's: their bandwidths are the kernel's doing (emulated_links.hpp); parameters and
// gradients are held back here for the star's latency, messages of an all-reduce by the members of a ring of
// their own (worker_setup.hpp); Gloo's are not.
//
// Of a launched worker the process known here is the launcher's, and its clock is another: what it computed
// is dated as if its quickest message had taken no time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/live/crew.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "sim/base/process.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline::live {

struct CrewConfig {
  std::filesystem::path program;         // paceline-calibrate
  std::vector<WorkerSetup> setups;       // by member
  Seconds start_patience{900.0};         // until ready, also anew; one that dies is noticed at once
  int port = 0;                          // 0: any that is free
  std::optional<HostsConfig> hosts{};    // absent: all workers are on this machine; the evaluator always is
  std::optional<NetworkConfig> links{};  // a star to emulate; absent: messages pass as they can
  bool keeps_cores = true;               // each worker one for itself, where there are enough
};

struct RefusedConnections {
  std::uint64_t strangers = 0;  // did not know the token, or said something else
  std::uint64_t silent = 0;     // said nothing in time
};

class ProcessCrew final : public Crew {
 public:
  // Starts the processes and waits until all are ready. Throws UserError when a port is taken or a user's
  // mistake keeps a member from working, std::runtime_error when one does not come up.
  explicit ProcessCrew(CrewConfig config);
  ~ProcessCrew() override;  // asks all to quit, and kills who does not

  // Of each member, in the order of the setups; the evaluator's carries the initial values.
  [[nodiscard]] const std::vector<Ready>& ready() const;
  [[nodiscard]] const RefusedConnections& refused() const;
  [[nodiscard]] int port() const;
  [[nodiscard]] std::vector<int> process_ids() const;

  [[nodiscard]] std::optional<News> next(Seconds patience) override;
  void send(Member member, const Message& message) override;
  void dismiss(Member member, const std::string& reason) override;
  void restart_workers() override;
  void change_link(Member member, double bandwidth_factor, Seconds added_latency) override;

 private:
  struct Connection;
  struct State;
  void listen();
  void accept();
  void wait_until_ready();
  void start(Member member);
  void wait_for_ends(std::span<const Member> members);
  void notice_failed_starts();
  void bound(Member member);  // by its quota, which loading does not have
  void lose(Member member, const std::string& reason);
  void unhear(Member member);
  [[nodiscard]] Command command_of(Member member) const;

  std::unique_ptr<State> state_;
};

}  // namespace paceline::live
