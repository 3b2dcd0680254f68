#include "sim/cost/profile_draw.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline {

Profile drawn_profile(const Profile& profile, const std::vector<int>& cores, Seed seed) {
  if (profile.ensemble.empty())
    throw UserError(
        fmt::format("{} does not say how sure it is: it holds no ensemble of parameters", profile.path),
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
