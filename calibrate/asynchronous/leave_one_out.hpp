// Recorded configurations beside what was predicted for them: from fits without them, or in a file.
//
// Equation:    error = predicted / recorded mean - 1 for times, predicted - recorded mean for accuracies;
//              null models: linear (rates of workers alone add up), a line of accuracy from one worker to
//              eight at .8918, 36,000 of 64,000 updates until .90, the ring; coverage = share of single runs
//              inside the 90 % range, with its exact binomial interval; width = mean width of the ranges
//              over the mean of 3.29 standard deviations of the recorded runs (a normal distribution's 5-95 %
//              spread), times relative to their recorded mean, groups of at least 5 runs.
// Units:       seconds, accuracy 0 to 1.
// Assumptions: runs of one configuration differ by chance and campaign.
// Source:      Brown, Cai and DasGupta 2001 for the interval (Jeffreys).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/asynchronous/prediction.hpp"

namespace paceline {

enum class PredictedQuantity { duration, accuracy, to_85, to_90 };

struct LeftOutRow {
  std::string configuration;
  PredictedQuantity quantity = PredictedQuantity::duration;
  RunRange predicted;
  double recorded = 0.0;  // mean over runs
  double standard_error = 0.0;
  std::optional<double> fitted{};  // predicted by the fit that includes it
  std::optional<double> null;
  std::vector<double> runs;
  int inside = 0;
};

struct LeaveOneOut {
  std::vector<LeftOutRow> rows;
  StepDeviation machine_deviation;  // of trainings
  StepDeviation series_deviation;   // of series
  StepDeviation campaign_deviation;
};

// Each configuration of the records with a prediction, from a fit without it.
[[nodiscard]] LeaveOneOut leave_one_out(const AsynchronousRecords& records,
                                        const std::vector<AccuracyRun>& further,
                                        const PredictionOptions& options);
[[nodiscard]] std::string leave_one_out_text(const LeaveOneOut& result);
[[nodiscard]] std::string leave_one_out_csv(const LeaveOneOut& result);

// Predictions of a file beside the recorded runs of the same configurations; those without any are left out.
[[nodiscard]] std::vector<LeftOutRow> score_predictions(
    const AsynchronousRecords& records, const std::vector<AsynchronousPrediction>& predictions);
[[nodiscard]] std::string scores_text(const std::vector<LeftOutRow>& rows);

}  // namespace paceline
