#include "calibrate/measure/partial_file.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "calibrate/measure/json_records.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* format_name = "paceline-partial-profile-3";

std::string process_lines(std::span<const Sample> samples, int processes) {
  std::string lines;
  for (const Sample& sample : samples) lines += to_line(sample) + "\n";
  return lines + fmt::format("{{\"processes\": {}}}\n", processes);
}

// Whole processes up to the first line that does not belong.
std::vector<Sample> read_processes(std::istream& lines) {
  std::vector<Sample> whole;
  std::vector<Sample> of_process;
  for (std::string line; std::getline(lines, line);) {
    try {
      if (line.starts_with("{\"processes\"")) {
        if (!nlohmann::json::accept(line)) break;
        whole.insert(whole.end(), of_process.begin(), of_process.end());
        of_process.clear();
      } else {
        of_process.push_back(parse_sample(line));
      }
    } catch (const std::exception&) {
      break;  // cut off in the middle of a line: what came before it is whole
    }
  }
  return whole;
}

}  // namespace

std::filesystem::path partial_path(const std::filesystem::path& output) {
  return output.string() + ".partial";
}

std::optional<PartialMeasurement> read_partial(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  std::istringstream lines(read_file(path));
  std::string header;
  std::getline(lines, header);
  const auto json = nlohmann::json::parse(header, nullptr, false);
  if (!json.is_object() || json.value("format", "") != format_name)
    throw UserError(fmt::format("{} is not an interrupted calibration of this version", path.string()),
                    "remove it, or begin anew with --restart");
  return PartialMeasurement{json.at("identity"), json.at("command"), json.at("plan").get<MeasurementPlan>(),
                            read_processes(lines)};
}

PartialFile::PartialFile(std::filesystem::path path, const PartialMeasurement& measurement)
    : path_(std::move(path)) {
  const nlohmann::json header{{"format", format_name},
                              {"identity", measurement.identity},
                              {"command", measurement.command},
                              {"plan", measurement.plan}};
  std::string content = header.dump() + "\n";
  std::set<std::pair<int, int>> processes;
  for (const Sample& sample : measurement.samples) processes.insert({sample.process, sample.cores});
  processes_ = static_cast<int>(processes.size());
  if (processes_ > 0) content += process_lines(measurement.samples, processes_);
  write_file_atomically(path_, content);
}

void PartialFile::append(std::span<const Sample> of_process) {
  std::ofstream file(path_, std::ios::app);
  file << process_lines(of_process, ++processes_) << std::flush;
  if (!file) throw UserError(fmt::format("cannot write {}", path_.string()), "is the disk full?");
}

}  // namespace paceline::calibrate
