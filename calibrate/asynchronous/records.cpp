#include "calibrate/asynchronous/records.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr double bytes_per_parameter = 4.0;
constexpr std::array files{"runs.csv",
                           "curves.csv",
                           "speed.csv",
                           "networks.csv",
                           "exchange-runs.csv",
                           "checkpoint.csv",
                           "single-gpu-latency.csv"};

Configuration configuration_of(const CsvRow& row, const std::string& name) {
  ParsedConfiguration parsed = parse_configuration(name);
  if (!parsed.configuration) row.fail(parsed.reason);
  return *std::move(parsed.configuration);
}

std::vector<TrainingRecord> read_trainings(const std::filesystem::path& folder) {
  std::map<std::string, std::vector<RecordedEvaluation>> curves;
  const CsvFile curve_file(folder / "curves.csv");
  const auto key = [](const CsvRow& row) {
    return row.text("configuration") + " " + row.text("campaign") + " " + row.text("run");
  };
  for (const CsvRow& row : curve_file.rows())
    curves[key(row)].push_back(
        {row.number("time_s"), row.number("step") / training_updates, row.share("accuracy")});
  std::vector<TrainingRecord> trainings;
  const CsvFile runs(folder / "runs.csv");
  for (const CsvRow& row : runs.rows()) {
    if (row.count("complete") == 0) continue;
    trainings.push_back({.campaign = row.text("campaign"),
                         .run = row.text("run"),
                         .configuration = configuration_of(row, row.text("configuration")),
                         .duration_s = row.positive("duration_s"),
                         .final_accuracy = row.share("final_accuracy"),
                         .to_85_s = row.positive_if_given("time_to_85_s"),
                         .to_90_s = row.positive_if_given("time_to_90_s"),
                         .curve = curves[key(row)]});
  }
  if (trainings.empty()) runs.fail("no training was completed");
  return trainings;
}

std::vector<SpeedRecord> read_speeds(const std::filesystem::path& folder) {
  struct Series {
    Configuration configuration;
    std::string campaign;
    std::vector<double> windows;
  };
  std::vector<Series> all;
  const CsvFile file(folder / "speed.csv");
  for (const CsvRow& row : file.rows()) {
    const std::string name = fmt::format("speed/{}/{}x{}-{}ps", row.text("network"), row.text("gpu"),
                                         row.count("workers"), row.count("servers"));
    const std::string& campaign = row.text("campaign");
    if (all.empty() || all.back().configuration.name != name || all.back().campaign != campaign)
      all.push_back({configuration_of(row, name), campaign, {}});
    all.back().windows.push_back(row.positive("steps_per_s"));
  }
  std::vector<SpeedRecord> speeds;
  for (Series& series : all) {
    const std::size_t joining = series.windows.size() / 5;
    const std::vector<double> steady(series.windows.begin() + static_cast<std::ptrdiff_t>(joining),
                                     series.windows.end());
    speeds.push_back({series.campaign, series.configuration, median(steady)});
  }
  return speeds;
}

std::vector<NetworkSize> read_networks(const std::filesystem::path& folder) {
  std::vector<NetworkSize> networks;
  const CsvFile file(folder / "networks.csv");
  for (const CsvRow& row : file.rows()) {
    NetworkSize network{row.text("network"), row.positive_if_given("parameters"),
                        row.positive_if_given("checkpoint_tensors")};
    if (network.bytes) *network.bytes *= bytes_per_parameter;
    networks.push_back(network);
  }
  return networks;
}

std::vector<ExchangeRecord> read_exchanges(const std::filesystem::path& folder) {
  std::vector<ExchangeRecord> exchanges;
  const CsvFile file(folder / "exchange-runs.csv");
  for (const CsvRow& row : file.rows()) {
    const std::optional<double> blocked_ms = row.positive_if_given("blocked_median_ms");
    exchanges.push_back({configuration_of(row, row.text("configuration")),
                         bytes_per_parameter * row.positive("parameters"),
                         row.positive("first_exchange_ms") / 1e3,
                         blocked_ms ? std::optional(*blocked_ms / 1e3) : std::nullopt});
  }
  return exchanges;
}

}  // namespace

const NetworkSize* AsynchronousRecords::network(const std::string& name) const {
  const auto found = std::ranges::find(networks, name, &NetworkSize::name);
  return found == networks.end() ? nullptr : &*found;
}

bool has_asynchronous_records(const std::filesystem::path& folder) {
  return std::ranges::any_of(std::array{"curves.csv", "speed.csv", "networks.csv"}, [&](const char* name) {
    return std::filesystem::is_regular_file(folder / name);
  });
}

AsynchronousRecords read_asynchronous_records(const std::filesystem::path& folder) {
  for (const char* name : files)
    if (!std::filesystem::is_regular_file(folder / name))
      throw UserError(fmt::format("{}: there is no file {}", folder.string(), name),
                      fmt::format("a folder of recorded asynchronous jobs has {}", fmt::join(files, ", ")));
  AsynchronousRecords records;
  records.trainings = read_trainings(folder);
  records.speeds = read_speeds(folder);
  records.networks = read_networks(folder);
  records.exchanges = read_exchanges(folder);
  const CsvFile latencies(folder / "single-gpu-latency.csv");
  for (const CsvRow& row : latencies.rows())
    records.latencies.push_back(
        {row.text("network"), row.text("gpu"), row.number("latency_ms"), row.positive("step_s")});
  std::vector<double> checkpoints;
  const CsvFile checkpoint_file(folder / "checkpoint.csv");
  for (const CsvRow& row : checkpoint_file.rows())
    if (row.text("network") == default_network) checkpoints.push_back(row.positive("bucket_s"));
  if (checkpoints.empty()) checkpoint_file.fail(fmt::format("no checkpoint of {}", default_network));
  records.checkpoint_s = spread_of(checkpoints).mean;
  return records;
}

}  // namespace paceline
