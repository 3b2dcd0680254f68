#include "calibrate/logs/correction.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/logs/statistics.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

const char* clock_word(StepClock clock) {
  return clock == StepClock::wall ? "wall" : "processor";
}

std::vector<CorrectedPoint> points_of(const ComputeFit& fit, const std::vector<OwnBatchTime>& times,
                                      const CorrectionRequest& request) {
  std::vector<CorrectedPoint> points;
  for (const OwnBatchTime& time : times) {
    const MeasuredMean& measured = request.clock == StepClock::wall ? time.wall : time.processor;
    if (measured.seconds <= 0.0)
      throw UserError(fmt::format("batch {}: its steps took no processor time", time.batch),
                      "print the time of the whole process, or leave --clock out");
    const Seconds optimizer = request.with_optimizer_step ? fit.optimizer_step : Seconds{};
    points.push_back({time, measured.seconds, measured.half_width_s,
                      (law_seconds(fit, static_cast<double>(time.batch)) + optimizer).value(), 0.0});
  }
  return points;
}

void fit_points(Correction& correction) {
  const std::vector<CorrectedPoint>& points = correction.points;
  CorrectBy by = correction.request.by;
  if (by == CorrectBy::whatever_fits && points.size() == 1)
    by = points[0].measured_s >= points[0].profile_s ? CorrectBy::offset : CorrectBy::factor;
  std::vector<LinearEquation> equations;
  for (const CorrectedPoint& point : points) {
    if (by == CorrectBy::offset && point.measured_s < point.profile_s)
      throw UserError(
          fmt::format("batch {}: the loop is faster than the profile, {} against {}", point.own.batch,
                      duration_text(point.measured_s), duration_text(point.profile_s)),
          "an offset cannot be negative: use --by factor");
    if (by == CorrectBy::offset)
      equations.push_back({point.measured_s - point.profile_s + 1e-12, {1.0}});
    else if (by == CorrectBy::factor)
      equations.push_back({point.measured_s, {point.profile_s}});
    else
      equations.push_back({point.measured_s, {point.profile_s, 1.0}});
  }
  const std::vector<double> x = relative_least_squares(equations).unknowns;
  correction.factor = by == CorrectBy::offset ? 1.0 : x[0];
  correction.offset_s = by == CorrectBy::offset ? x[0] : (by == CorrectBy::factor ? 0.0 : x[1]);
  constexpr double least_factor = 1e-3;
  if (correction.factor < least_factor)
    throw UserError("the loop's times do not grow with the batch as the profile's do",
                    "is it the same network? --by factor or --by offset corrects it all the same");
}

void scale(Json& number, double factor, double offset = 0.0) {
  number = factor * number.get<double>() + offset;
}

void correct_fits(Json& fits, const Correction& correction) {
  for (Json& fit : fits["compute"]) {
    scale(fit["intercept_s"], correction.factor, correction.offset_s);
    scale(fit["slope_s_per_sample"], correction.factor);
    if (fit.contains("knee") && !fit["knee"].is_null())
      scale(fit["knee"]["extra_slope_s_per_sample"], correction.factor);
  }
  if (correction.request.with_optimizer_step)
    for (Json& step : fits["optimizer_step"]) scale(step["seconds"], correction.factor);
  if (fits.contains("ensemble"))
    for (Json& draw : fits["ensemble"])
      for (Json& fit : draw) {  // cores, intercept, slope, knee, extra slope
        scale(fit[1], correction.factor, correction.offset_s);
        scale(fit[2], correction.factor);
        scale(fit[4], correction.factor);
      }
}

Json correction_json(const Correction& correction, const CorrectionOrigin& origin) {
  Json points = Json::array();
  for (const CorrectedPoint& point : correction.points)
    points.push_back({{"batch", point.own.batch},
                      {"steps", point.own.steps},
                      {"measured_s", point.measured_s},
                      {"half_width_s", point.half_width_s},
                      {"profile_s", point.profile_s},
                      {"wall_s", point.own.wall.seconds},
                      {"processor_s", point.own.processor.seconds}});
  return {{"factor", correction.factor},
          {"offset_s", correction.offset_s},
          {"relative_half_width", correction.relative_half_width},
          {"mean_error", correction.error},
          {"summary", correction_words(correction, origin.source)},
          {"clock", clock_word(correction.request.clock)},
          {"cores", correction.request.cores},
          {"with_optimizer_step", correction.request.with_optimizer_step},
          {"warm_up_steps", origin.warm_up},
          {"date", origin.date},
          {"points", points}};
}

}  // namespace

void check_correctable(const Profile& profile, int cores) {
  if (profile.correction)
    throw UserError(fmt::format("{} is corrected already, {}", profile.path, profile.correction->summary),
                    "correct the profile it was made from");
  if (!fit_for_cores(profile, cores))
    throw UserError(fmt::format("{} says nothing of {} cores", profile.path, cores),
                    "name the loop's cores with --cores");
}

Correction correct(const Profile& profile, const std::vector<OwnBatchTime>& times,
                   const CorrectionRequest& request) {
  check_correctable(profile, request.cores);
  const ComputeFit fit = fit_for_cores(profile, request.cores).value();
  Correction correction{.request = request, .points = points_of(fit, times, request)};
  fit_points(correction);
  for (CorrectedPoint& point : correction.points) {
    point.corrected_s = correction.factor * point.profile_s + correction.offset_s;
    correction.error +=
        std::abs(point.corrected_s / point.measured_s - 1.0) / static_cast<double>(correction.points.size());
    correction.relative_half_width =
        std::max(correction.relative_half_width, point.half_width_s / point.measured_s);
  }
  return correction;
}

std::string correction_words(const Correction& correction, const std::string& source) {
  std::size_t steps = 0;
  for (const CorrectedPoint& point : correction.points) steps += point.own.steps;
  std::string words;
  if (correction.factor != 1.0) words = fmt::format("by a factor of {:.4g}", correction.factor);
  if (correction.offset_s > 0.0 || words.empty())
    words +=
        fmt::format("{} {} an iteration", words.empty() ? "by" : " and", duration_text(correction.offset_s));
  return fmt::format(
      "{}, from {} steps of {} ({} time, ± {:.2g} %{})", words, steps, source,
      clock_word(correction.request.clock), 100.0 * correction.relative_half_width,
      correction.points.size() > 1 ? fmt::format(", misses them by {:.2g} %", 100.0 * correction.error) : "");
}

std::string corrected_profile_text(const std::filesystem::path& profile, const Correction& correction,
                                   const CorrectionOrigin& origin) {
  const Json before = Json::parse(read_file(profile));
  Json after = Json::object();
  for (const auto& [name, value] : before.items()) {
    after[name] = value;
    if (name == "fits") after["correction"] = correction_json(correction, origin);
  }
  correct_fits(after["fits"], correction);
  return profile_file_text(after);
}

}  // namespace paceline::calibrate
