// `paceline calibrate network`: latency and bandwidth by message size between two ends.
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/logs/text.hpp"
#include "calibrate/network/network_fit.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

struct Address {
  std::string host;
  int port = 0;
};

Address parse_peer(const std::string& text) {
  const auto colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool is_port =
      !digits.empty() && digits.size() <= 5 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (colon == 0 || !is_port)
    throw UserError(
        fmt::format("`{}` is not HOST:PORT", text),
        "start `paceline calibrate network --listen 7000` on the host, then name it here: host:7000");
  return {text.substr(0, colon), std::stoi(digits)};
}

std::vector<TransferTime> measure_peer(const NetworkArguments& arguments) {
  const Address address = parse_peer(arguments.peer);
  return measure_transfers(address.host, address.port, message_sizes(arguments.largest),
                           arguments.repetitions, Seconds{arguments.rest_s});
}

std::vector<TransferTime> measure_loopback(const NetworkArguments& arguments) {
  const EchoServer server("127.0.0.1", 0);
  std::exception_ptr failure;
  std::jthread far_end([&] {
    try {
      server.serve_one();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  std::vector<TransferTime> times =
      measure_transfers("127.0.0.1", server.port(), message_sizes(arguments.largest), arguments.repetitions,
                        Seconds{arguments.rest_s});
  far_end.join();
  if (failure) std::rethrow_exception(failure);
  return times;
}

// What goes under `cluster` of a scenario; nothing when not even the largest messages show a bandwidth.
std::optional<std::string> scenario_text(const NetworkFit& fit) {
  const std::optional<SimulatedNetwork> network = simulated_network(fit);
  if (!network) return std::nullopt;
  std::vector<std::string> segments;
  for (const SimulatedNetwork::Segment& segment : network->segments)
    segments.push_back(fmt::format("{{from: {} B, latency_factor: {:.4g}, bandwidth_factor: {:.4g}}}",
                                   segment.from_bytes, segment.latency_factor, segment.bandwidth_factor));
  std::string model;
  if (segments.size() > 1) model = fmt::format(", model: {{segments: [{}]}}", fmt::join(segments, ", "));
  if (network->burst_bytes > 0.0) model = fmt::format(", model: {{burst: {:.0f} B}}", network->burst_bytes);
  return fmt::format("network: {{topology: star, latency: {:.4g} us, bandwidth: {:.4g} Gbit/s{}}}",
                     1e6 * network->latency_s, 8e-9 * network->bandwidth_bytes_per_s, model);
}

Json fit_json(const std::string& ends, const std::vector<TransferTime>& times, const NetworkFit& fit) {
  Json segments = Json::array();
  for (const TransferSegment& segment : fit.segments)
    segments.push_back({{"from_bytes", segment.from_bytes},
                        {"latency_s", segment.line.latency_s},
                        {"seconds_per_byte", segment.line.seconds_per_byte}});
  Json samples = Json::array();
  for (const TransferTime& time : times)
    samples.push_back({{"bytes", time.bytes}, {"seconds", time.seconds}});
  return {{"format", "paceline-network"},
          {"version", 1},
          {"ends", ends},
          {"latency_s", fit.line.latency_s},
          {"seconds_per_byte", fit.line.seconds_per_byte},
          {"line_error", fit.line_error},
          {"segments_error", fit.segments_error},
          {"segments", segments},
          {"burst", fit.bucket ? Json{{"bytes", fit.bucket->bytes},
                                      {"latency_s", fit.bucket->at_once.latency_s},
                                      {"seconds_per_byte", fit.bucket->at_once.seconds_per_byte},
                                      {"seconds_per_byte_beyond", fit.bucket->seconds_per_byte},
                                      {"error", fit.bucket_error}}
                               : Json{}},
          {"scenario", scenario_text(fit)},
          {"samples", samples}};
}

std::string fit_text(const std::vector<TransferTime>& times, const NetworkFit& fit) {
  std::string text =
      fmt::format("     bytes     measured     one line     segments{}\n", fit.bucket ? "        burst" : "");
  for (const TransferTime& time : times) {
    const auto bytes = static_cast<double>(time.bytes);
    text +=
        fmt::format("{:>10}  {:>11}  {:>11}  {:>11}", time.bytes, duration_text(time.seconds),
                    duration_text(fit.line.at(bytes)), duration_text(fit.segment_of(bytes).line.at(bytes)));
    if (fit.bucket) text += fmt::format("  {:>11}", duration_text(fit.bucket->at(bytes)));
    text += '\n';
  }
  text += fmt::format("one line: mean error {:.0f} %; {} segment{}: {:.0f} %", 100.0 * fit.line_error,
                      fit.segments.size(), fit.segments.size() == 1 ? "" : "s", 100.0 * fit.segments_error);
  text += fit.bucket
              ? fmt::format("; a burst of {:.0f} B: {:.0f} %\n", fit.bucket->bytes, 100.0 * fit.bucket_error)
              : "\n";
  const std::optional<std::string> scenario = scenario_text(fit);
  return text + (scenario ? "in a scenario, under `cluster`:\n  " + *scenario + "\n"
                          : "no bandwidth: not even the largest messages took longer; raise --largest\n");
}

}  // namespace

int run(const NetworkArguments& arguments) {
  if (arguments.listen > 0) {
    const EchoServer server("0.0.0.0", arguments.listen);
    fmt::print(stderr, "listening on port {}\n", server.port());
    server.serve_one();
    return exit_done;
  }
  const std::vector<TransferTime> times =
      arguments.loopback ? measure_loopback(arguments) : measure_peer(arguments);
  const NetworkFit fit = fit_network(times);
  const Json json = fit_json(arguments.loopback ? "loopback" : arguments.peer, times, fit);
  fmt::print("{}", arguments.json ? json.dump(2) + "\n" : fit_text(times, fit));
  return exit_done;
}

}  // namespace paceline::calibrate
