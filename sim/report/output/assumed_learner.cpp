#include "sim/report/output/assumed_learner.hpp"

#include <fmt/format.h>

namespace paceline {

std::string AssumedLearners::marked(const std::string& name, bool is_assumed) const {
  return is_assumed && assumed_ < rows_ ? name + " (assumed learner)" : name;
}

std::string AssumedLearners::note() const {
  if (assumed_ == 0) return {};
  const std::string which = assumed_ == rows_ ? "" : fmt::format(" in {} of {}", assumed_, rows_);
  return fmt::format(
      "Assumed learner{}: no recorded runs stand behind its accuracies, nor behind the times to them.\n",
      which);
}

}  // namespace paceline
