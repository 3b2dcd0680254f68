// Asynchronous jobs and exchanges predicted from recorded ones of other configurations.
//
// Models:      the time of a training by the server's queue, its accuracy by exposure; many draws of
//              machines, campaign, service time and run for the range of one training.
// Equation:    duration: the queue with mean values; its 5 % and 95 % quantiles over draws are the range.
//              Drawn are the campaign's rate (unless the same cluster is meant), the job's, the service time
//              between its ends, the position on the evaluator's grid. Times to accuracy: the first
//              evaluation at or above it. Workers may join and leave at given times; the rate is that of all
//              workers named, whoever is there.
// Units:       seconds; accuracy 0 to 1.
// Assumptions: normal logarithms; draws are shared by all configurations.
// Not modelled: starts; a chief that leaves, which ends the job.
// Source:      server_queue.hpp, speed_model.hpp, accuracy_model.hpp, exchange_model.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/asynchronous/accuracy_model.hpp"
#include "calibrate/asynchronous/speed_model.hpp"

namespace paceline {

// Mean and range of one run.
struct RunRange {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

struct AsynchronousPrediction {
  std::string configuration;
  std::string joins;  // as set_times() reads them
  std::string leaves;
  std::optional<RunRange> duration_s;
  std::optional<RunRange> accuracy;
  std::optional<RunRange> to_85_s;  // of the runs that reach it
  std::optional<RunRange> to_90_s;
  std::optional<double> reach_90;
  std::optional<double> mean_staleness;
  std::string note;  // why a field is empty, or what was assumed
};

struct PredictionOptions {
  bool same_cluster = false;  // no variation between campaigns
  int draws = 100;
  std::uint32_t seed = 1;
};

class AsynchronousPredictor {
 public:
  // `further`: runs of another campaign for the accuracy alone.
  AsynchronousPredictor(const AsynchronousRecords& records, const std::vector<AccuracyRun>& further,
                        const PredictionOptions& options, const std::string& left_out = "");

  // For the campaign named, of which other configurations may be recorded; else for another like it, or for
  // the recorded cluster.
  [[nodiscard]] AsynchronousPrediction predict(const Configuration& configuration,
                                               const std::string& campaign = "") const;
  // The same of a name. One that is not understood is refused.
  [[nodiscard]] AsynchronousPrediction predict(const std::string& name,
                                               const std::string& campaign = "") const;
  [[nodiscard]] const SpeedModel& speed() const { return speed_; }
  [[nodiscard]] const AccuracyModel& accuracy() const { return accuracy_; }

 private:
  void predict_job(const Configuration& configuration, const std::string& campaign_name,
                   AsynchronousPrediction& prediction) const;
  // `exposures`: until each evaluation; `evaluation_s`: when these come, by draw.
  void predict_accuracy(const std::vector<double>& exposures,
                        const std::vector<std::vector<double>>& evaluation_s,
                        AsynchronousPrediction& prediction) const;

  const AsynchronousRecords& records_;
  PredictionOptions options_;
  std::string left_out_;
  SpeedModel speed_;
  AccuracyModel accuracy_;
};

// Columns as the recorded folders describe a prediction, and what this program adds.
[[nodiscard]] std::string predictions_csv(const std::vector<AsynchronousPrediction>& predictions);
// Times to an accuracy may have no columns. Throws UserError naming the place of what is wrong.
[[nodiscard]] std::vector<AsynchronousPrediction> read_predictions(const std::string& file);

}  // namespace paceline
