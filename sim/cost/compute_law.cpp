#include "sim/cost/compute_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {

const ComputeFit& nearest_fit(const Profile& profile, int cores) {
  check(!profile.compute.empty(), "a profile has a measured core count");
  return *std::ranges::min_element(profile.compute, {},
                                   [&](const ComputeFit& fit) { return std::abs(fit.cores - cores); });
}

ComputeFit scaled(ComputeFit fit, double factor) {
  fit.intercept = factor * fit.intercept;
  fit.slope_per_sample = factor * fit.slope_per_sample;
  if (fit.knee) fit.knee->extra_slope = factor * fit.knee->extra_slope;
  return fit;
}

Seconds law_seconds(const ComputeFit& fit, double batch_samples) {
  const Seconds beyond_knee =
      fit.knee ? std::max(0.0, batch_samples - fit.knee->at_samples) * fit.knee->extra_slope : Seconds{};
  return fit.intercept + batch_samples * fit.slope_per_sample + beyond_knee;
}

std::optional<ComputeFit> fit_for_cores(const Profile& profile, int cores) {
  if (const ComputeFit* fit = profile.find(cores)) return *fit;
  if (!profile.core_scaling) return std::nullopt;
  const CoreLaw& law = profile.core_scaling->law;
  const ComputeFit& measured = nearest_fit(profile, cores);
  const double ratio = time_ratio(law, cores) / time_ratio(law, measured.cores);
  ComputeFit fit = scaled(measured, ratio);
  fit.cores = cores;
  fit.optimizer_step = ratio * fit.optimizer_step;
  fit.relative_half_width.reset();
  return fit;
}

std::vector<std::string> core_law_notes(const Profile& profile, const std::vector<int>& cores) {
  std::vector<std::string> notes;
  if (profile.correction)
    notes.push_back(fmt::format("{}: times are corrected {}", profile.path, profile.correction->summary));
  if (!profile.core_scaling) return notes;
  const CoreScalingFit& scaling = *profile.core_scaling;
  const std::string error =
      scaling.leave_one_out_error
          ? fmt::format("which misses left-out counts by {:.0f} %", 100.0 * *scaling.leave_one_out_error)
          : "of unknown error: it was fitted on fewer than 3 counts";
  for (const int count : std::set<int>(cores.begin(), cores.end())) {
    if (profile.find(count) != nullptr) continue;
    // A law of other counts carries times away from those that the profile has.
    const bool outside = count < scaling.cores_min || count > scaling.cores_max ||
                         count < profile.compute.front().cores || count > profile.compute.back().cores;
    notes.push_back(fmt::format("{} core{}: {} from the {} law fitted on {} to {} cores, {}", count,
                                count == 1 ? "" : "s", outside ? "extrapolated" : "interpolated",
                                law_name(scaling.law), scaling.cores_min, scaling.cores_max, error));
  }
  return notes;
}

Profile drawn_profile(const Profile& profile, const std::vector<int>& cores, Seed seed) {
  if (profile.ensemble.empty())
    throw UserError(fmt::format("{} holds no ensemble of parameters: the uncertainty of its fits is unknown",
                                profile.path),
                    "calibrate again with this version, with at least 3 processes");
  RandomStream stream(seed, Purpose::profile_draw);
  const ProfileDraw& draw = profile.ensemble[stream.below(profile.ensemble.size())];
  Profile drawn = profile;
  for (ComputeFit& fit : drawn.compute) {
    const auto member = std::ranges::find(draw.compute, fit.cores, &ComputeFit::cores);
    check(member != draw.compute.end(), "a draw has every measured core count");
    fit.intercept = member->intercept;
    fit.slope_per_sample = member->slope_per_sample;
    fit.knee = member->knee;
  }
  if (!profile.core_scaling) return drawn;
  const double z = stream.normal(0.0, 1.0);
  const double error = profile.core_scaling->leave_one_out_error.value_or(assumed_core_law_error);
  std::vector<ComputeFit> added;
  for (const int count : std::set<int>(cores.begin(), cores.end())) {
    if (profile.find(count) != nullptr) continue;
    const double doublings =
        std::abs(std::log2(static_cast<double>(count) / nearest_fit(profile, count).cores));
    added.push_back(scaled(*fit_for_cores(drawn, count), std::exp(error * z * doublings)));
  }
  std::ranges::move(added, std::back_inserter(drawn.compute));
  std::ranges::sort(drawn.compute, {}, &ComputeFit::cores);
  return drawn;
}

}  // namespace paceline
