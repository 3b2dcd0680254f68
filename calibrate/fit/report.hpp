// A profile for people and (…_json) for machines: what was fitted, how well it fits, where it may be used.
#pragma once

#include <string>
#include <vector>

#include "calibrate/fit/measured_profile.hpp"

namespace paceline::calibrate {

// Measured against predicted time of one (cores, batch) point.
struct PointError {
  int cores = 1;
  std::int64_t batch = 1;
  double measured_s = 0.0;
  double predicted_s = 0.0;

  [[nodiscard]] double relative() const { return predicted_s / measured_s - 1.0; }
};

struct ErrorSummary {
  double mean_absolute = 0.0;
  double percentile_95 = 0.0;  // of the absolute relative errors
};

// Robust means of the samples against the profile's laws, by ascending cores and batch.
[[nodiscard]] std::vector<PointError> point_errors(const Profile& profile,
                                                   const std::vector<Sample>& samples);
[[nodiscard]] ErrorSummary summarize(const std::vector<PointError>& errors);  // not empty

// Three significant digits in the unit that keeps them readable.
[[nodiscard]] std::string duration_text(double seconds);
[[nodiscard]] std::string point_table(const std::vector<PointError>& errors);

[[nodiscard]] std::string noise_text(const NoiseRecord& noise);
[[nodiscard]] std::string noise_json(const NoiseRecord& noise, const std::string& network);

[[nodiscard]] std::string profile_report(const MeasuredProfile& measured);
[[nodiscard]] std::string check_json(const std::vector<PointError>& errors, const ErrorSummary& summary,
                                     const std::vector<std::string>& notes);
[[nodiscard]] std::string profile_report_json(const MeasuredProfile& measured);

}  // namespace paceline::calibrate
