#include "calibrate/measure/sample.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/measure/json_records.hpp"

namespace paceline::calibrate {

bool is_plausible(const Sample& sample) {
  return !sample.seconds.empty() &&
         std::ranges::all_of(sample.seconds, [](double s) { return s > 0.0 && std::isfinite(s); });
}

std::size_t expected_samples(const MeasureRequest& request) {
  const std::size_t of_each_batch = 3U + (request.plan.data ? 1U : 0U) + (request.cores > 1 ? 1U : 0U);
  const std::size_t of_the_network = request.with_server ? (request.process == 0 ? 3U : 2U) : 0U;
  return 1U + of_each_batch * request.plan.batches.size() + of_the_network;
}

std::string to_line(const MeasureRequest& request) {
  return nlohmann::json(request).dump();
}

std::string to_line(const Sample& sample) {
  return nlohmann::ordered_json(sample).dump();
}

MeasureRequest parse_request(const std::string& line) {
  return nlohmann::json::parse(line).get<MeasureRequest>();
}

Sample parse_sample(const std::string& line) {
  return nlohmann::json::parse(line).get<Sample>();
}

}  // namespace paceline::calibrate
