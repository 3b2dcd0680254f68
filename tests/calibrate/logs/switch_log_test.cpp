// What a recorded switch cost.
#include <fstream>

#include <doctest/doctest.h>

#include "calibrate/logs/recorded_times.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/recorded_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::calibrate {
namespace {

std::filesystem::path written(const test::TemporaryFolder& folder, const char* text) {
  const std::filesystem::path path = folder.path() / "phases.csv";
  std::ofstream(path) << text;
  return path;
}

constexpr const char* three_gaps =
    "setup,policy,gap_before_s\none,a,\none,b,100\nother,b,500\none,b,120\none,b,110\n";

}  // namespace

TEST_CASE("a switch costs the median gap of its setup without the sleep") {
  // Gaps 100, 120, 110 s of this setup: 110 - 90 = 20 s.
  const test::TemporaryFolder folder;
  const SwitchGaps gaps = read_switch_gaps(written(folder, three_gaps), "one", 90.0);
  CHECK(gaps.gaps_s == std::vector{100.0, 120.0, 110.0});
  CHECK(gaps.cost_s() == doctest::Approx(20.0));
  CHECK(read_switch_gaps(folder.path() / "phases.csv", "unknown", 90.0).gaps_s.empty());
}

TEST_CASE("a sleep longer than a gap, a column too few, a number that is none: named with their line") {
  const test::TemporaryFolder folder;
  const auto complaint = [&](const char* text, double sleep_s) {
    CHECK_THROWS_AS(static_cast<void>(read_switch_gaps(written(folder, text), "one", sleep_s)), UserError);
  };
  complaint(three_gaps, 105.0);
  complaint("setup,policy\none,b\n", 0.0);
  complaint("setup,policy,gap_before_s\none,b\n", 0.0);
  complaint("setup,policy,gap_before_s\none,b,soon\n", 0.0);
}

TEST_CASE("the recorded switches of ResNet-50 cost 97 to 99 s besides the sleep of 90 s") {
  const std::optional<std::filesystem::path> data = recorded_data();
  if (!data) return;
  const SwitchGaps gaps = read_switch_gaps(*data / "phases.csv", "resnet50-cifar100-8", 90.0);
  CHECK(gaps.gaps_s.size() == 5);
  CHECK(gaps.cost_s() > 96.0);
  CHECK(gaps.cost_s() < 99.5);
}

}  // namespace paceline::calibrate
