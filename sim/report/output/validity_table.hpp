// The section *validity* of outputs: what jobs ask of their profiles and learners beside what these were
// fitted on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/base/validity.hpp"
#include "sim/report/output/text_table.hpp"

namespace paceline {

// Rows of many runs as one for each quantity, file and range fitted: the widest range used, and in how many
// of the runs it was not inside.
class ValidityTable {
 public:
  void add(const std::vector<ValidityRow>& rows, std::size_t runs);
  // With a head; empty when there is nothing to compare.
  [[nodiscard]] TextRows rows() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  struct Line : ValidityRow {
    std::size_t not_inside = 0;
  };
  std::vector<Line> lines_;
  std::size_t runs_ = 0;
};

// [{quantity, file, fitted: [least, most], used: [least, most], validity}]
[[nodiscard]] nlohmann::ordered_json validity_json(const std::vector<ValidityRow>& rows);

}  // namespace paceline
