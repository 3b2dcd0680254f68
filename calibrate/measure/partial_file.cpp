#include "calibrate/measure/partial_file.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/measure/measure_protocol.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* format_name = "paceline-partial-profile-2";

std::string header_line(const PartialMeasurement& measurement) {
  const MeasurementPlan& plan = measurement.plan;
  nlohmann::ordered_json json = {{"format", format_name},
                                 {"identity", measurement.identity},
                                 {"command", measurement.command},
                                 {"network", plan.network},
                                 {"cores", plan.cores},
                                 {"batches", plan.batches},
                                 {"processes", plan.processes},
                                 {"seconds_per_point", plan.seconds_per_point},
                                 {"minimum_iterations", plan.minimum_iterations},
                                 {"budget_s", nullptr},
                                 {"input_shape", plan.input_shape},
                                 {"classes", plan.classes},
                                 {"data", data_json(plan.data)},
                                 {"dropped", plan.dropped}};
  if (plan.budget_s) json["budget_s"] = *plan.budget_s;
  return json.dump() + "\n";
}

PartialMeasurement parse_header(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  if (json.at("format") != format_name) throw std::runtime_error("another format");
  PartialMeasurement measurement;
  json.at("identity").get_to(measurement.identity);
  json.at("command").get_to(measurement.command);
  MeasurementPlan& plan = measurement.plan;
  json.at("network").get_to(plan.network);
  json.at("cores").get_to(plan.cores);
  json.at("batches").get_to(plan.batches);
  json.at("processes").get_to(plan.processes);
  json.at("seconds_per_point").get_to(plan.seconds_per_point);
  json.at("minimum_iterations").get_to(plan.minimum_iterations);
  if (!json.at("budget_s").is_null()) plan.budget_s = json.at("budget_s").get<double>();
  json.at("input_shape").get_to(plan.input_shape);
  json.at("classes").get_to(plan.classes);
  plan.data = parse_data(json.at("data"));
  json.at("dropped").get_to(plan.dropped);
  return measurement;
}

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
  PartialMeasurement measurement;
  try {
    measurement = parse_header(header);
  } catch (const std::exception&) {
    throw UserError(fmt::format("{} is not an interrupted calibration of this version", path.string()),
                    "remove it, or begin anew with --restart");
  }
  measurement.samples = read_processes(lines);
  return measurement;
}

PartialFile::PartialFile(std::filesystem::path path, const PartialMeasurement& measurement)
    : path_(std::move(path)) {
  std::string content = header_line(measurement);
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
