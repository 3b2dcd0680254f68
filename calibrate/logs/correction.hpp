// A profile corrected by a user's own training loop.
//
// Models:      an iteration of the loop as one of the profile, times a factor, plus an offset: another build
//              of the libraries, or a front end that takes its time each iteration.
// Equation:    measured(b) = factor · profile(b) + offset, profile(b) = law(b) (+ optimizer step). One batch
//              size tells only one of them: the offset where the loop is slower, else the factor, unless
//              asked for. Several: both, by relative least squares, each at least 0.
//              corrected: intercept' = factor · intercept + offset, slopes' = factor · slopes, the optimizer
//              step' = factor · optimizer step where the loop makes it.
// Units:       seconds, samples.
// Assumptions: what holds on the measured core count holds on all; jitter, memory, loading and server rates
//              stay as they were.
// Not modelled: a loop whose excess grows with the batch otherwise than the profile.
// Source:      calibrate/logs/statistics.hpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/logs/own_steps.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

enum class CorrectBy { whatever_fits, factor, offset };
enum class StepClock { wall, processor };

struct CorrectionRequest {
  int cores = 1;
  StepClock clock = StepClock::wall;
  CorrectBy by = CorrectBy::whatever_fits;
  bool with_optimizer_step = true;
};

struct CorrectedPoint {
  OwnBatchTime own;
  double measured_s = 0.0;  // by the clock asked for
  double half_width_s = 0.0;
  double profile_s = 0.0;
  double corrected_s = 0.0;
};

struct Correction {
  CorrectionRequest request;
  double factor = 1.0;
  double offset_s = 0.0;
  std::vector<CorrectedPoint> points;
  double relative_half_width = 0.0;  // the widest of the measured means
  double error = 0.0;                // mean relative residual; 0 for one batch size
};

// Throws UserError where the profile has no law for these cores or has been corrected already.
void check_correctable(const Profile& profile, int cores);
// Throws what that does, and UserError where the loop's times cannot be explained like that.
[[nodiscard]] Correction correct(const Profile& profile, const std::vector<OwnBatchTime>& times,
                                 const CorrectionRequest& request);

struct CorrectionOrigin {
  std::string source;  // the command, or the log
  std::string date;
  std::size_t warm_up = 0;
};
// "by a factor of 1.2 and 3 ms an iteration, from 400 steps of `python3 train.py`, ± 1 %"
[[nodiscard]] std::string correction_words(const Correction& correction, const std::string& source);
// The profile's file, with its fits corrected and the correction named.
[[nodiscard]] std::string corrected_profile_text(const std::filesystem::path& profile,
                                                 const Correction& correction,
                                                 const CorrectionOrigin& origin);

}  // namespace paceline::calibrate
