// A profile and a scenario of an asynchronous job, from what its logs told.
//
// Models:      the profile's iteration is that of a worker alone less the service of the server, and its
//              server applies an update in the service time; workers of the scenario are alike.
// Equation:    slope = (t₁ − s) / batch, intercept 0; server rate = parameter bytes / s.
// Units:       seconds, samples, bytes.
// Assumptions: transfers are part of what a worker does alone, so that the scenario's network is nearly free;
//              all of the service is per byte: p servers share it, which the logs of one do not tell.
// Not modelled: other batches than the one logged.
// Source:      service_fit.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "calibrate/asynchronous/service_fit.hpp"

namespace paceline::calibrate {

struct LoggedJobFacts {
  std::string network;
  std::string gpu;
  AloneTime alone;
  std::optional<ServiceEstimate> service = {};  // absent: it was stated
  double service_s = 0.0;
  int workers = 1;
  int batch = 1;
  std::int64_t parameters = 1;
  double updates = 1.0;  // of the scenario's job
  std::optional<ChiefPauses> pauses = {};
};

[[nodiscard]] std::string profile_from_logs(const LoggedJobFacts& facts, const ServiceFit& fit);
// `profile` as the scenario names it.
[[nodiscard]] std::string scenario_from_logs(const LoggedJobFacts& facts, const std::string& profile);

}  // namespace paceline::calibrate
