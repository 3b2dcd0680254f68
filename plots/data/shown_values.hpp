// What a figure of a study shows of each run: its metric, or how far that is from the same run of a reference.
//
// Models:      runs paired by replication and by everything varied but the series.
// Equation:    shown = metric, or metric - metric of the run with the reference's label.
//              Of n differences: mean ± t(0.975, n - 1) · sd / √n (Student's t).
// Assumptions: differences are independent and nearly normal.
// Not modelled: pairs of which one failed or never reached: they are left out. So are the end, and the core hours until
//              then, of a job that diverged or stalled: it would look fast.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plots/data/study_runs.hpp"
#include "sim/base/csv.hpp"

namespace paceline::plots {

inline constexpr double never_reached = std::numeric_limits<double>::infinity();

class ShownValues {
 public:
  // `columns`: what tells the study's combinations apart. All three outlive this.
  ShownValues(const CsvFile& runs, const StudyFigureSpec& spec, const std::vector<std::string>& columns);

  // A reference shows nothing of its own.
  [[nodiscard]] bool is_reference(const CsvRow& row) const;
  // Nothing: the run failed, has no such metric (a lag where nothing changed), or no twin to be compared with.
  [[nodiscard]] std::optional<double> of(const CsvRow& row) const;
  // Left out since the metric is how long the job took, and it never did its work.
  [[nodiscard]] bool is_cut_short(const CsvRow& row) const;

 private:
  [[nodiscard]] std::optional<double> metric(const CsvRow& row) const;
  [[nodiscard]] std::string twin(const CsvRow& row) const;

  const CsvFile& runs_;
  const StudyFigureSpec& spec_;
  const std::vector<std::string>& columns_;
  std::map<std::string, double> references_;  // by twin
};

struct MeanInterval {
  double mean = 0.0;
  double half_width = 0.0;  // of the 95 % interval; 0 for one value
};
// Of at least one value.
[[nodiscard]] MeanInterval mean_interval(const std::vector<double>& values);

}  // namespace paceline::plots
