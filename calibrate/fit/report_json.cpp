#include "calibrate/fit/held_out.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/fit/summary.hpp"
#include "sim/base/json.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline::calibrate {

using Json = nlohmann::ordered_json;

static void to_json(Json& json, const PointError& point) {
  json = {{"cores", point.cores},
          {"batch", point.batch},
          {"measured_s", point.measured_s},
          {"predicted_s", point.predicted_s},
          {"relative_error", point.relative()}};
}

std::string profile_report_json(const MeasuredProfile& measured) {
  const Profile& profile = measured.profile;
  Json compute = Json::array();
  for (const ComputeFit& fit : profile.compute)
    compute.push_back({{"cores", fit.cores},
                       {"law", fit.knee ? "knee" : "affine"},
                       {"intercept_s", fit.intercept},
                       {"slope_s_per_sample", fit.slope_per_sample},
                       {"knee_at_samples", fit.knee ? Json(fit.knee->at_samples) : Json(nullptr)},
                       {"extra_slope_s_per_sample", fit.knee ? Json(fit.knee->extra_slope) : Json(nullptr)},
                       {"leave_one_out_error", fit.leave_one_out_error},
                       {"relative_half_width", fit.relative_half_width},
                       {"batch_min", fit.batch_min_samples},
                       {"batch_max", fit.batch_max_samples}});
  const Json report = {{"profile", profile.path},
                       {"network", profile.network},
                       {"cpu_model", profile.cpu_model},
                       {"origin", profile.is_derived ? "derived" : "measured"},
                       {"sources", measured.sources},
                       {"compute", compute},
                       {"points", point_errors(profile, measured.samples)},
                       {"iteration_cv", profile.jitter.iteration_cv},
                       {"process_cv", profile.jitter.process_cv},
                       {"run_cv", profile.jitter.run_cv},
                       {"run_cv_upper", profile.jitter.run_cv_upper},
                       {"noise_scale", measured.noise}};
  return report.dump(2) + "\n";
}

std::string check_json(const std::vector<PointError>& errors, const ErrorSummary& summary,
                       const std::vector<std::string>& notes) {
  const Json report = {{"holds", holds(summary)},
                       {"mean_absolute_error", summary.mean_absolute},
                       {"percentile_95", summary.percentile_95},
                       {"points", errors},
                       {"notes", notes}};
  return report.dump(2) + "\n";
}

std::string noise_json(const NoiseRecord& noise, const std::string& network) {
  Json report = noise;
  report["network"] = network;
  return report.dump(2) + "\n";
}

std::string summary_json(const Calibration& calibration, const std::string& profile_path) {
  const ProfileFits& fits = calibration.fits;
  // Throughput is compared at the middle one of the measured batches.
  const std::int64_t batch = calibration.plan.batches[calibration.plan.batches.size() / 2];
  const auto samples = static_cast<double>(batch);
  Json compute = Json::array();
  for (const ComputeFit& fit : fits.compute)
    compute.push_back({{"cores", fit.cores},
                       {"intercept_s", fit.intercept},
                       {"slope_s_per_sample", fit.slope_per_sample},
                       {"batch", batch},
                       {"samples_per_s", samples / law_seconds(fit, samples).value()},
                       {"optimizer_step_s", fit.optimizer_step},
                       {"leave_one_out_error", fit.leave_one_out_error}});
  const Json summary = {{"profile", profile_path},
                        {"network", calibration.network.name},
                        {"cpu_model", calibration.machine.cpu_model},
                        {"compute", compute},
                        {"server_accumulate_bytes_per_s", fits.server_accumulate_rate},
                        {"server_step_bytes_per_s", fits.server_step_rate},
                        {"iteration_cv", fits.jitter.iteration_cv},
                        {"run_cv", fits.jitter.run_cv},
                        {"dropped", calibration.plan.dropped},
                        {"other_load", calibration.other_load},
                        {"warnings", warnings_about(calibration)}};
  return summary.dump(2) + "\n";
}

}  // namespace paceline::calibrate
