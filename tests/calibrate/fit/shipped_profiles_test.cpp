// The profiles that come with the program: every number of a derived one has its source, and the published
// figures come out of it again.
#include <filesystem>

#include <doctest/doctest.h>

#include "calibrate/fit/report.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;
const fs::path folder = fs::path(PACELINE_CHECKOUT) / "scenarios/profiles";

double images_per_s(const Profile& profile, int cores, double batch) {
  return batch / law_seconds(fit_for_cores(profile, cores).value(), batch).value();
}

}  // namespace

TEST_CASE("every shipped profile can be read and shown, and a derived one names its sources") {
  int derived = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().string());
    const MeasuredProfile measured = read_measured_profile(entry.path());
    CHECK_FALSE(profile_report(measured).empty());
    if (!measured.profile.is_derived) continue;
    ++derived;
    CHECK(measured.sources.size() >= 4);
  }
  CHECK(derived >= 4);
}

TEST_CASE("the derived profiles give the published throughputs within 3 %") {
  // OmniLearn, ACSOS 2020, figure 5
  const Profile p100 = read_profile(folder / "p100-resnet50-cifar.json");
  for (const auto& [batch, rate] : {std::pair{512, 391}, {1024, 531}, {2048, 638}, {3072, 687}, {4096, 690}})
    CHECK(images_per_s(p100, 1, batch) == doctest::Approx(rate).epsilon(0.03));
  const Profile xeon = read_profile(folder / "xeon-48core-resnet50-cifar.json");
  for (const auto& [batch, rate] : {std::pair{64, 69}, {128, 92}, {256, 111}, {512, 97}, {1024, 83}})
    CHECK(images_per_s(xeon, 48, batch) == doctest::Approx(rate).epsilon(0.03));
}

TEST_CASE("the recorded ASP iteration of one worker comes out of the K80 profile") {
  // 0.0238 s a mini-batch of 128 with 8 workers
  const Profile k80 = read_profile(folder / "k80-resnet32.json");
  CHECK(images_per_s(k80, 1, 128.0) == doctest::Approx(128.0 / (8 * 0.0238)).epsilon(0.01));
}

}  // namespace paceline::calibrate
