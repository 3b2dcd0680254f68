#include "calibrate/asynchronous/configuration.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/number_text.hpp"

namespace paceline {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

// "v100x2+p100x1": one entry for each worker.
std::string add_workers(const std::string& text, std::vector<AsynchronousWorker>& workers) {
  static const std::regex form("([a-z][a-z0-9]*?)x([1-9][0-9]?)");
  for (const std::string& part : parts_of(text, '+')) {
    std::smatch match;
    if (!std::regex_match(part, match, form))
      return fmt::format("`{}` is not GPU and number of workers, as in `k80x2`", part);
    workers.insert(workers.end(), static_cast<std::size_t>(std::stoi(match[2])), {match[1], ""});
  }
  return "";
}

// "3east+1central": the regions of the workers in their order.
std::string place_workers(const std::string& text, std::vector<AsynchronousWorker>& workers) {
  static const std::regex form("([1-9][0-9]?)([a-z]+)");
  std::vector<std::string> regions;
  for (const std::string& part : parts_of(text, '+')) {
    std::smatch match;
    if (!std::regex_match(part, match, form))
      return fmt::format("placement `{}` is not a number of workers and a region", part);
    regions.insert(regions.end(), static_cast<std::size_t>(std::stoi(match[1])), match[2]);
  }
  if (regions.size() != workers.size())
    return fmt::format("the placement names {} workers, the configuration {}", regions.size(),
                       workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i)
    if (regions[i] != regions.front()) workers[i].region = regions[i];
  return "";
}

ParsedConfiguration parse_exchange(Configuration configuration, const std::string& text) {
  static const std::regex form("([a-z][a-z-]*)-h([1-9][0-9]*)-([0-9.]+)mbit");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return {{}, "an exchange is named ALGORITHM-hSTEPS-RATEmbit"};
  configuration.kind = ConfigurationKind::exchange;
  configuration.algorithm = match[1];
  configuration.local_steps = std::stoi(match[2]);
  configuration.rate_mbit = to_number(match[3].str()).value_or(0.0);
  if (configuration.rate_mbit <= 0.0) return {{}, "the rate is not positive"};
  return {configuration, ""};
}

}  // namespace

std::optional<std::string> Configuration::common_gpu() const {
  const auto differs = [&](const AsynchronousWorker& worker) {
    return worker.gpu != workers.front().gpu || !worker.region.empty();
  };
  if (workers.empty() || std::ranges::any_of(workers, differs)) return std::nullopt;
  return workers.front().gpu;
}

ParsedConfiguration parse_configuration(const std::string& name) {
  Configuration configuration;
  configuration.name = name;
  configuration.network = default_network;
  std::string text = name;
  if (text.starts_with("exchange/")) {
    configuration.network.clear();
    return parse_exchange(configuration, text.substr(9));
  }
  if (text.starts_with("speed/")) {
    const std::vector<std::string> parts = parts_of(text, '/');
    if (parts.size() != 3) return {{}, "a speed is named speed/NETWORK/WORKERS-SERVERSps"};
    configuration.kind = ConfigurationKind::speed;
    configuration.network = parts[1];
    text = parts[2];
  }
  static const std::regex form("([a-z0-9+]+)-([1-9])ps(?:-([a-z0-9+]+|one-region))?");
  std::smatch match;
  if (!std::regex_match(text, match, form))
    return {{}, "a configuration is named WORKERS-SERVERSps, as in `k80x2-1ps`"};
  if (const std::string wrong = add_workers(match[1], configuration.workers); !wrong.empty())
    return {{}, wrong};
  configuration.servers = std::stoi(match[2]);
  if (match[3].matched && match[3] != "one-region")
    if (const std::string wrong = place_workers(match[3], configuration.workers); !wrong.empty())
      return {{}, wrong};
  return {configuration, ""};
}

std::string set_times(const std::string& text, std::optional<double> AsynchronousWorker::*time,
                      std::vector<AsynchronousWorker>& workers) {
  static const std::regex form("([0-9]{1,3})@([0-9.]+)");
  std::istringstream entries(text);
  for (std::string entry; entries >> entry;) {
    std::smatch match;
    if (!std::regex_match(entry, match, form))
      return fmt::format("`{}` is not a worker and seconds, as in `2@600`", entry);
    const auto index = static_cast<std::size_t>(std::stoi(match[1]));
    if (index >= workers.size())
      return fmt::format("there is no worker {}: the last one is {}", index, workers.size() - 1);
    const std::optional<double> seconds = to_number(match[2].str());
    if (!seconds) return fmt::format("the time in `{}` is not a number", entry);
    if (*seconds <= 0.0) return fmt::format("the time in `{}` is not positive", entry);
    if (workers[index].*time) return fmt::format("worker {} is named twice", index);
    workers[index].*time = seconds;
  }
  return "";
}

}  // namespace paceline
