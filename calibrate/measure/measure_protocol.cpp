#include "calibrate/measure/measure_protocol.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::array<std::pair<Operation, std::string_view>, 8> operation_names = {
    {{Operation::forward_backward, "forward_backward"},
     {Operation::forward, "forward"},
     {Operation::load_batch, "load_batch"},
     {Operation::optimizer_step, "optimizer_step"},
     {Operation::server_accumulate, "server_accumulate"},
     {Operation::server_step, "server_step"},
     {Operation::core_round_trip, "core_round_trip"},
     {Operation::reference_loop, "reference_loop"}}};

}  // namespace

std::string_view operation_name(Operation operation) {
  for (const auto& [value, name] : operation_names)
    if (value == operation) return name;
  check(false, "every operation has a name");
  return {};
}

Operation operation_of(std::string_view name) {
  for (const auto& [value, known] : operation_names)
    if (known == name) return value;
  check(false, "an operation's name is known");
  return {};
}

std::size_t expected_samples(const MeasureRequest& request) {
  const std::size_t of_each_batch = 3U + (request.data ? 1U : 0U) + (request.cores > 1 ? 1U : 0U);
  constexpr std::size_t of_server = 2;
  return 1 + of_each_batch * request.batches.size() + (request.with_server ? of_server : 0);
}

nlohmann::json data_json(const std::optional<DataChoice>& data) {
  if (!data) return nullptr;
  return {{"kind", data->kind}, {"path", data->path}};
}

std::optional<DataChoice> parse_data(const nlohmann::json& json) {
  if (json.is_null()) return std::nullopt;
  return DataChoice{json.at("kind").get<std::string>(), json.at("path").get<std::string>()};
}

std::string to_line(const MeasureRequest& request) {
  const nlohmann::json json = {{"network", request.network},
                               {"cores", request.cores},
                               {"process", request.process},
                               {"batches", request.batches},
                               {"with_server", request.with_server},
                               {"seconds_per_point", request.seconds_per_point},
                               {"minimum_iterations", request.minimum_iterations},
                               {"input_shape", request.input_shape},
                               {"classes", request.classes},
                               {"core_numbers", request.core_numbers},
                               {"processor_clock", request.processor_clock},
                               {"data", data_json(request.data)}};
  return json.dump();
}

std::string to_line(const Sample& sample) {
  nlohmann::ordered_json json = {{"cores", sample.cores},
                                 {"batch", sample.batch},
                                 {"process", sample.process},
                                 {"operation", operation_name(sample.operation)},
                                 {"seconds", sample.seconds}};
  if (sample.peak_memory_bytes) json["peak_memory_bytes"] = *sample.peak_memory_bytes;
  if (sample.set_aside) json["set_aside"] = true;
  return json.dump();
}

MeasureRequest parse_request(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  MeasureRequest request;
  json.at("network").get_to(request.network);
  json.at("cores").get_to(request.cores);
  json.at("process").get_to(request.process);
  json.at("batches").get_to(request.batches);
  json.at("with_server").get_to(request.with_server);
  json.at("seconds_per_point").get_to(request.seconds_per_point);
  json.at("minimum_iterations").get_to(request.minimum_iterations);
  json.at("input_shape").get_to(request.input_shape);
  json.at("classes").get_to(request.classes);
  json.at("core_numbers").get_to(request.core_numbers);
  json.at("processor_clock").get_to(request.processor_clock);
  request.data = parse_data(json.at("data"));
  return request;
}

Sample parse_sample(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  Sample sample;
  json.at("cores").get_to(sample.cores);
  json.at("batch").get_to(sample.batch);
  json.at("process").get_to(sample.process);
  sample.operation = operation_of(json.at("operation").get<std::string>());
  json.at("seconds").get_to(sample.seconds);
  if (json.contains("peak_memory_bytes"))
    sample.peak_memory_bytes = json.at("peak_memory_bytes").get<double>();
  sample.set_aside = json.value("set_aside", false);
  return sample;
}

}  // namespace paceline::calibrate
