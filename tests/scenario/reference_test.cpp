// The checked-in reference pages, and the examples at their tops.
#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

TEST_CASE("docs/scenario-reference.md is what the program prints") {
  INFO("refresh it with: paceline reference scenario > docs/scenario-reference.md");
  CHECK(read_file(PACELINE_DOCS "/scenario-reference.md") == scenario_reference());
}

TEST_CASE("docs/study-reference.md is what the program prints") {
  INFO("refresh it with: paceline reference study > docs/study-reference.md");
  CHECK(read_file(PACELINE_DOCS "/study-reference.md") == study_reference());
}

TEST_CASE("the examples of the references are valid, without a warning") {
  const Folder folder;
  const LoadedScenario scenario = load_scenario(folder.write("scenario.yaml", scenario_example()), {});
  CHECK(scenario.warnings.empty());
  // 2 variants x (3 speeds x 3 bandwidths - 1 excluded).
  const std::vector<LoadedScenario> study = load_study(folder.write("study.yaml", study_example()), {});
  CHECK(study.size() == 2 * (3 * 3 - 1));
  for (const LoadedScenario& variant : study) CHECK(variant.warnings.empty());
}

}  // namespace
}  // namespace paceline::test
