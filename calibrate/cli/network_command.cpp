// `paceline calibrate network`: latency and bandwidth by message size between two ends.
#include <filesystem>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/cli/commands.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/network/network_fit.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::int64_t default_largest = 16'777'216;

struct NetworkOptions {
  std::string peer;  // HOST:PORT
  int listen = 0;
  bool loopback = false;
  std::int64_t largest = default_largest;
  int repetitions = 20;
  std::string output;
  bool force = false;
  bool json = false;
};

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

std::vector<TransferTime> measure_loopback(const NetworkOptions& options) {
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
      measure_transfers("127.0.0.1", server.port(), message_sizes(options.largest), options.repetitions);
  far_end.join();
  if (failure) std::rethrow_exception(failure);
  return times;
}

// What goes under `cluster` of a scenario.
std::string scenario_text(const SimulatedNetwork& network) {
  std::string segments;
  for (const SimulatedNetwork::Segment& segment : network.segments)
    segments += fmt::format("{}{{from: {} B, latency_factor: {:.4g}, bandwidth_factor: {:.4g}}}",
                            segments.empty() ? "" : ", ", segment.from_bytes, segment.latency_factor,
                            segment.bandwidth_factor);
  return fmt::format("network: {{topology: star, latency: {:.4g} us, bandwidth: {:.4g} Gbit/s{}}}",
                     1e6 * network.latency_s, 8e-9 * network.bandwidth_bytes_per_s,
                     network.segments.size() > 1 ? ", model: {segments: [" + segments + "]}" : "");
}

Json fit_json(const std::string& ends, const std::vector<TransferTime>& times, const NetworkFit& fit) {
  const std::optional<SimulatedNetwork> simulated = simulated_network(fit);
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
          {"scenario", simulated ? Json(scenario_text(*simulated)) : Json(nullptr)},
          {"samples", samples}};
}

std::string fit_text(const std::vector<TransferTime>& times, const NetworkFit& fit) {
  std::string text = "     bytes     measured     one line     segments\n";
  for (const TransferTime& time : times) {
    const auto bytes = static_cast<double>(time.bytes);
    text +=
        fmt::format("{:>10}  {:>11}  {:>11}  {:>11}\n", time.bytes, duration_text(time.seconds),
                    duration_text(fit.line.at(bytes)), duration_text(fit.segment_of(bytes).line.at(bytes)));
  }
  text += fmt::format("one line: mean error {:.0f} %; {} segment{}: {:.0f} %\n", 100.0 * fit.line_error,
                      fit.segments.size(), fit.segments.size() == 1 ? "" : "s", 100.0 * fit.segments_error);
  const std::optional<SimulatedNetwork> simulated = simulated_network(fit);
  return text + (simulated ? "in a scenario, under `cluster`:\n  " + scenario_text(*simulated) + "\n"
                           : "no bandwidth: not even the largest messages took longer; raise --largest\n");
}

void add_options(CLI::App& app, NetworkOptions& options) {
  app.add_option("PEER", options.peer, "The other end, HOST:PORT, where this command listens");
  app.add_option("--listen", options.listen, "Be the other end: answer one measurement on this port")
      ->check(CLI::Range(1, 65535))
      ->type_name("PORT");
  app.add_flag("--loopback", options.loopback, "Measure within this machine");
  app.add_option("--largest", options.largest, "Largest message in bytes")
      ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "Messages of each size")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Write times, lines and what a scenario needs as JSON")
      ->type_name("FILE");
  app.add_flag("--force", options.force, "Replace the file");
  app.add_flag("--json", options.json, "Print for machines");
  app.footer(
      "Examples:\n  paceline calibrate network --loopback\n"
      "  paceline calibrate network --listen 7000          on one host, then on the other:\n"
      "  paceline calibrate network first-host:7000 -o network.json");
}

}  // namespace

int network_command(const std::vector<std::string>& arguments) {
  NetworkOptions options;
  CLI::App app("Measures latency and bandwidth by message size between two ends.",
               "paceline calibrate network");
  add_options(app, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return exit_done;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "`paceline calibrate network --help`");
  }
  const int ways = (options.peer.empty() ? 0 : 1) + (options.listen > 0 ? 1 : 0) + (options.loopback ? 1 : 0);
  if (ways != 1)
    throw UserError("give one of HOST:PORT, --listen PORT and --loopback",
                    "`paceline calibrate network --help`");
  if (!options.output.empty() && std::filesystem::exists(options.output) && !options.force)
    throw UserError(fmt::format("{} exists", options.output),
                    "choose another file, or replace it with --force");
  if (options.listen > 0) {
    const EchoServer server("0.0.0.0", options.listen);
    fmt::print(stderr, "listening on port {}\n", server.port());
    server.serve_one();
    return exit_done;
  }
  std::vector<TransferTime> times;
  if (options.loopback) {
    times = measure_loopback(options);
  } else {
    const Address address = parse_peer(options.peer);
    times =
        measure_transfers(address.host, address.port, message_sizes(options.largest), options.repetitions);
  }
  const NetworkFit fit = fit_network(times);
  const Json json = fit_json(options.loopback ? "loopback" : options.peer, times, fit);
  if (!options.output.empty()) write_file_atomically(options.output, json.dump(2) + "\n");
  fmt::print("{}", options.json ? json.dump(2) + "\n" : fit_text(times, fit));
  return exit_done;
}

}  // namespace paceline::calibrate
