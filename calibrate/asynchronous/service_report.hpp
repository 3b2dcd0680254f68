// What logged asynchronous jobs tell, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/asynchronous/service_fit.hpp"

namespace paceline::calibrate {

// A group of several workers beside what a fit without it says.
struct LeftOutGroup {
  RateGroup group;
  RunRange predicted;
  double null_rate = 0.0;  // the workers alone, added up
  bool has_service = false;

  [[nodiscard]] double error() const { return predicted.mean / group.rate - 1.0; }
  [[nodiscard]] double null_error() const { return null_rate / group.rate - 1.0; }
};
// Groups of several workers whose worker alone is in what is left.
[[nodiscard]] std::vector<LeftOutGroup> leave_groups_out(const std::vector<LoggedJob>& jobs,
                                                         const std::string& network);

struct ServiceReport {
  const JobLogs& logs;
  const ServiceFit& fit;
  std::vector<LeftOutGroup> left_out;
  std::optional<ChiefPauses> pauses;
  std::vector<LatencyFit> latencies;
};
[[nodiscard]] std::string service_text(const ServiceReport& report);
[[nodiscard]] nlohmann::ordered_json service_json(const ServiceReport& report);
// "no service time: ..., and what to record".
[[nodiscard]] std::string no_service_text(const ServiceFit& fit);

}  // namespace paceline::calibrate
