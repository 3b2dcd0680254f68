#include "calibrate/measure/measure_protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "calibrate/measure/json_records.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::json;

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
  const auto found =
      std::ranges::find(operation_names, operation, &std::pair<Operation, std::string_view>::first);
  check(found != operation_names.end(), "every operation has a name");
  return found->second;
}

Operation operation_of(std::string_view name) {
  const auto found =
      std::ranges::find(operation_names, name, &std::pair<Operation, std::string_view>::second);
  check(found != operation_names.end(), "an operation's name is known");
  return found->first;
}

std::size_t expected_samples(const MeasureRequest& request) {
  const std::size_t of_each_batch = 3U + (request.plan.data ? 1U : 0U) + (request.cores > 1 ? 1U : 0U);
  constexpr std::size_t of_server = 2;
  return 1 + of_each_batch * request.plan.batches.size() + (request.with_server ? of_server : 0);
}

std::string to_line(const MeasureRequest& request) {
  return Json(request).dump();
}

std::string to_line(const Sample& sample) {
  return nlohmann::ordered_json(sample).dump();
}

MeasureRequest parse_request(const std::string& line) {
  return Json::parse(line).get<MeasureRequest>();
}

Sample parse_sample(const std::string& line) {
  return Json::parse(line).get<Sample>();
}

}  // namespace paceline::calibrate
