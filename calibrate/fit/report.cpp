#include "calibrate/fit/report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "calibrate/logs/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
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

namespace {

constexpr double holds_mean_error = 0.05;
constexpr double holds_percentile_95 = 0.10;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

std::string percent_or(const std::optional<double>& share, const char* otherwise) {
  return share ? percent(*share) : std::string(otherwise);
}

std::string law_text(const ComputeFit& fit) {
  std::string text = fmt::format("{} + b · {}", duration_text(fit.intercept.value()),
                                 duration_text(fit.slope_per_sample.value()));
  if (!fit.knee) return text;
  const double extra = fit.knee->extra_slope.value();
  return text + fmt::format(" {} max(0, b − {:g}) · {}", extra < 0.0 ? "−" : "+", fit.knee->at_samples,
                            duration_text(std::abs(extra)));
}

std::string range_text(const ComputeFit& fit, bool is_derived) {
  const char* known = is_derived ? "known" : "measured";
  if (fit.batch_min_samples == fit.batch_max_samples)
    return fmt::format("{} at b = {} only", known, fit.batch_min_samples);
  return fmt::format("{} b = {} … {}", known, fit.batch_min_samples, fit.batch_max_samples);
}

std::string compute_text(const Profile& profile) {
  std::string text = "iteration (forward and backward) of a batch b:\n";
  for (const ComputeFit& fit : profile.compute)
    text += fmt::format(
        "  {:>3} core{} {}   {}; misses left-out batches by {}; 95 % interval ± {}; optimizer step {}\n",
        fit.cores, fit.cores == 1 ? ": " : "s:", law_text(fit), range_text(fit, profile.is_derived),
        fit.leave_one_out_error > 0.0 ? percent(fit.leave_one_out_error) : std::string("an unknown share"),
        percent_or(fit.relative_half_width, "unknown"), duration_text(fit.optimizer_step.value()));
  return text;
}

struct CoreLawText {
  std::string operator()(const AmdahlLaw& law) const {
    return fmt::format("Amdahl's law, serial share {}", percent(law.serial_share));
  }
  std::string operator()(const PowerLaw& law) const {
    return fmt::format("time ∝ cores^−{:.3f}", law.exponent);
  }
  std::string operator()(const UniversalLaw& law) const {
    return fmt::format("universal law, serial share {}, coherence {:.2g}", percent(law.serial_share),
                       law.coherence);
  }
};

std::string core_scaling_text(const Profile& profile) {
  if (!profile.core_scaling) return "other core counts: none (one count was measured)\n";
  const CoreScalingFit& scaling = *profile.core_scaling;
  return fmt::format("other core counts: {}, fitted on {} to {}; {}\n",
                     std::visit(CoreLawText{}, scaling.law), scaling.cores_min, scaling.cores_max,
                     scaling.leave_one_out_error
                         ? fmt::format("misses left-out counts by {}", percent(*scaling.leave_one_out_error))
                         : "its error is not known (fewer than 3 counts were measured)");
}

std::string jitter_text(const JitterFit& jitter) {
  const std::string run = jitter.run_cv ? percent(*jitter.run_cv)
                          : jitter.run_cv_upper
                              ? fmt::format("below the noise (at most {})", percent(*jitter.run_cv_upper))
                              : "unknown (needs 3 processes)";
  return fmt::format(
      "jitter: {} from iteration to iteration ({}), {} from process to process, {} from run to run\n",
      percent(jitter.iteration_cv),
      jitter.iteration_quantiles.empty() ? "log-normal" : "as measured: not log-normal",
      percent_or(jitter.process_cv, "not told apart"), run);
}

std::string memory_text(const MeasuredProfile& measured) {
  const std::optional<MemoryFit>& memory = measured.profile.memory;
  if (!memory) return "memory: not measured\n";
  std::string text = fmt::format("memory: {:.3g} GB + b · {:.3g} MB", memory->base.value() / 1e9,
                                 memory->per_sample.value() / 1e6);
  if (measured.machine_memory)
    text +=
        fmt::format("; the largest batch in this machine's {:.3g} GB: {}",
                    measured.machine_memory->value() / 1e9, memory->largest_batch(*measured.machine_memory));
  return text + "\n";
}

std::string loading_text(const std::optional<LoadingFit>& loading) {
  if (!loading) return "";
  return fmt::format("loading a batch of {}: {} + b · {}\n", loading->data,
                     duration_text(loading->intercept.value()), duration_text(loading->per_sample.value()));
}

std::string header_text(const MeasuredProfile& measured) {
  const Profile& profile = measured.profile;
  std::string text = fmt::format("{} on {} ({:.3g} MB of parameters)\n", profile.network, profile.cpu_model,
                                 profile.parameter_bytes.value() / 1e6);
  if (profile.is_derived) {
    text += "derived, not measured; its sources:\n";
    for (const std::string& source : measured.sources) text += fmt::format("  - {}\n", source);
    return text;
  }
  text += fmt::format("measured {} by `{}`, {} processes for each core count; {}\n", measured.date,
                      measured.command, profile.jitter.processes, measured.software);
  if (profile.correction)
    text += fmt::format("corrected {}; the points below are compared without that\n",
                        profile.correction->summary);
  for (const std::string& dropped : measured.plan.dropped) text += fmt::format("left out: {}\n", dropped);
  return text;
}

}  // namespace

std::vector<PointError> point_errors(const Profile& profile, const std::vector<Sample>& samples) {
  std::set<int> counts;
  for (const Sample& sample : samples)
    if (sample.operation == Operation::forward_backward && !sample.set_aside) counts.insert(sample.cores);
  std::vector<PointError> errors;
  for (const int cores : counts) {
    const std::optional<ComputeFit> fit = fit_for_cores(profile, cores);
    if (!fit) continue;
    const ProfileCorrection correction = profile.correction.value_or(ProfileCorrection{});
    for (const BatchTime& time : batch_times(counted(samples), cores)) {
      const Seconds corrected = law_seconds(*fit, static_cast<double>(time.batch_samples));
      errors.push_back({cores, time.batch_samples, time.seconds,
                        ((corrected - correction.offset) / correction.factor).value()});
    }
  }
  return errors;
}

ErrorSummary summarize(const std::vector<PointError>& errors) {
  check(!errors.empty(), "an error summary of something");
  std::vector<double> sizes;
  double sum = 0.0;
  for (const PointError& error : errors) {
    sizes.push_back(std::abs(error.relative()));
    sum += sizes.back();
  }
  return {sum / static_cast<double>(sizes.size()), quantile(sizes, 0.95)};
}

bool holds(const ErrorSummary& summary) {
  return summary.mean_absolute <= holds_mean_error && summary.percentile_95 <= holds_percentile_95;
}

std::string point_table(const std::vector<PointError>& errors) {
  std::string text = "cores   batch     measured    predicted     error   samples/s\n";
  for (const PointError& error : errors)
    text += fmt::format("{:>5}  {:>6}  {:>11}  {:>11}  {:>+6.1f} %  {:>10.0f}\n", error.cores, error.batch,
                        duration_text(error.measured_s), duration_text(error.predicted_s),
                        100.0 * error.relative(), static_cast<double>(error.batch) / error.measured_s);
  return text;
}

std::string profile_report(const MeasuredProfile& measured) {
  const Profile& profile = measured.profile;
  std::string text = header_text(measured) + "\n" + compute_text(profile) + core_scaling_text(profile);
  text += fmt::format("server: adds gradients at {:.3g} GB/s, updates parameters at {:.3g} GB/s\n",
                      profile.server_accumulate_rate.value() / 1e9, profile.server_step_rate.value() / 1e9);
  text += memory_text(measured) + loading_text(profile.loading) + jitter_text(profile.jitter);
  const std::vector<PointError> errors = point_errors(profile, measured.samples);
  if (errors.empty()) return text;
  const ErrorSummary summary = summarize(errors);
  return text + "\n" + point_table(errors) +
         fmt::format("residuals (not held out): mean {}, 95 % below {}\n", percent(summary.mean_absolute),
                     percent(summary.percentile_95));
}

std::string profile_report_json(const MeasuredProfile& measured, const std::vector<std::string>& warnings) {
  Json report = {{"profile", measured.profile.path}};
  report.update(Json::parse(read_file(measured.profile.path)));
  report.erase("samples");
  report["points"] = point_errors(measured.profile, measured.samples);
  report["warnings"] = warnings;
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

}  // namespace paceline::calibrate
