// How tables say that nobody's recorded runs stand behind a learner: rows by name where only some have such a learner,
// and a line below in any case. Source: design section 5 (an assumed learner must be declared, and results say so).
#pragma once

#include <cstddef>
#include <string>

namespace paceline {

class AssumedLearners {
 public:
  // Every row is counted before the first name is asked for.
  void count(bool is_assumed) {
    ++rows_;
    if (is_assumed) ++assumed_;
  }

  // The name of a row.
  [[nodiscard]] std::string marked(const std::string& name, bool is_assumed) const;
  // The line below a table; empty when no row has an assumed learner.
  [[nodiscard]] std::string note() const;

 private:
  std::size_t rows_ = 0;
  std::size_t assumed_ = 0;
};

}  // namespace paceline
