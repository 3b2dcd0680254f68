// The records of a calibration as JSON. For sources: it includes <nlohmann/json.hpp>.
#pragma once

#include "calibrate/measure/sample.hpp"
#include "sim/base/json.hpp"

template <>
struct paceline::LastValue<paceline::calibrate::Operation> {
  static constexpr auto value = calibrate::Operation::reference_loop;
};

namespace paceline::calibrate {

template <class Json>
void to_json(Json& json, const Sample& sample) {
  json = {{"cores", sample.cores},
          {"batch", sample.batch},
          {"process", sample.process},
          {"operation", sample.operation},
          {"seconds", sample.seconds}};
  if (sample.peak_memory_bytes) json["peak_memory_bytes"] = *sample.peak_memory_bytes;
  if (sample.set_aside) json["set_aside"] = true;
}

inline void from_json(const nlohmann::json& json, Sample& sample) {
  json.at("cores").get_to(sample.cores);
  json.at("batch").get_to(sample.batch);
  json.at("process").get_to(sample.process);
  json.at("operation").get_to(sample.operation);
  json.at("seconds").get_to(sample.seconds);
  sample.peak_memory_bytes = json.value("peak_memory_bytes", std::optional<double>());
  sample.set_aside = json.value("set_aside", false);
}

template <class Json>
void to_json(Json& json, const DataChoice& data) {
  json = {{"kind", data.kind}, {"path", data.path}};
}

inline void from_json(const nlohmann::json& json, DataChoice& data) {
  data = {json.at("kind"), json.at("path")};
}

// Members that a file lacks keep their defaults.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(MeasurementPlan, network, cores, batches, processes,
                                                seconds_per_point, minimum_iterations, budget_s, input_shape,
                                                classes, data, dropped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasureRequest, plan, cores, process, with_server, core_numbers,
                                   processor_clock)

}  // namespace paceline::calibrate
