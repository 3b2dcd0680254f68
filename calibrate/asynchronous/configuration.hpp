// What a configuration's name says: workers, servers and placement of an asynchronous job, or an exchange.
//
// Models:      `v100x2+p100x1-1ps`, `k80x4-1ps-3east+1central` (a training), `speed/NETWORK/p100x4-2ps` (a
//              rate), `exchange/local-sgd-h8-200mbit` (one exchange of a synchronous job).
// Units:       workers in the order of the name, the first one is the chief; Mbit/s.
// Assumptions: with a placement, servers and chief stand in the region named first.
// Not modelled: placements that name no region.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paceline {

enum class ConfigurationKind { training, speed, exchange };

struct AsynchronousWorker {
  std::string gpu;
  std::string region;               // empty: that of the servers
  std::optional<double> joins_s{};  // nothing: there from the start
  std::optional<double> leaves_s{};
};

struct Configuration {
  std::string name;
  ConfigurationKind kind = ConfigurationKind::training;
  std::string network;  // empty for an exchange
  std::vector<AsynchronousWorker> workers;
  int servers = 1;
  std::string algorithm;  // of an exchange, and what follows
  int local_steps = 1;
  double rate_mbit = 0.0;

  // Nothing unless all workers have the same GPU and stand beside the servers.
  [[nodiscard]] std::optional<std::string> common_gpu() const;
};

// The network that trainings without a name for it train.
inline constexpr const char* default_network = "resnet32";

struct ParsedConfiguration {
  std::optional<Configuration> configuration;
  std::string reason;  // why it is not understood
};
[[nodiscard]] ParsedConfiguration parse_configuration(const std::string& name);

// When workers join or leave, as in `2@600 3@1800`: worker (the first one is 0) and seconds since the start.
// Returns what is wrong; empty: nothing.
[[nodiscard]] std::string set_times(const std::string& text, std::optional<double> AsynchronousWorker::*time,
                                    std::vector<AsynchronousWorker>& workers);

}  // namespace paceline
