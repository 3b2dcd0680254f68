// A profile for people and (…_json) for machines: what was fitted, how well it fits, where it may be used.
//
// Equation:    a profile holds where the mean absolute relative error of points that its fits have not seen
//              is at most 5 % and 95 % of the errors are at most 10 %.
#pragma once

#include <string>
#include <vector>

#include "calibrate/fit/profile_file.hpp"

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

// Robust means of the samples against the profile's laws, without its correction by another loop; by
// ascending cores and batch.
[[nodiscard]] std::vector<PointError> point_errors(const Profile& profile,
                                                   const std::vector<Sample>& samples);
[[nodiscard]] ErrorSummary summarize(const std::vector<PointError>& errors);  // not empty
[[nodiscard]] bool holds(const ErrorSummary& summary);

[[nodiscard]] std::string point_table(const std::vector<PointError>& errors);
[[nodiscard]] std::string check_json(const std::vector<PointError>& errors, const ErrorSummary& summary,
                                     const std::vector<std::string>& notes);

[[nodiscard]] std::string profile_report(const MeasuredProfile& measured);
// The profile without its samples, with the points above and the warnings of a calibration.
[[nodiscard]] std::string profile_report_json(const MeasuredProfile& measured,
                                              const std::vector<std::string>& warnings = {});

// What should make the user of a calibration distrust its profile, one sentence each; empty when the
// measurement looks sound.
[[nodiscard]] std::vector<std::string> warnings_about(const Calibration& calibration);
// Share of the measured cores that other programs took, above which times are too long. Two threads that wait
// for each other suffer from little.
inline constexpr double disturbing_load = 0.05;

}  // namespace paceline::calibrate
