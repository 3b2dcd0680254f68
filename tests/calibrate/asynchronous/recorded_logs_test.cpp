// Service times from recorded series and jobs: told by the one group that saturates its server, refused
// elsewhere, and each group predicted without itself.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/asynchronous/service_report.hpp"
#include "tests/support/recorded_data.hpp"

namespace paceline::calibrate {
namespace {

int inside(const std::vector<LeftOutGroup>& groups) {
  return static_cast<int>(std::ranges::count_if(groups, [](const LeftOutGroup& left) {
    return left.group.rate >= left.predicted.low && left.group.rate <= left.predicted.high;
  }));
}

// Of the campaign in which one, two and three workers were recorded.
double mean_error(const std::vector<LeftOutGroup>& groups) {
  double errors = 0.0;
  double count = 0.0;
  for (const LeftOutGroup& left : groups)
    if (left.group.campaign == "scaling") {
      errors += std::abs(left.error());
      count += 1.0;
    }
  return errors / count;
}

}  // namespace

TEST_CASE("recorded logs: three V100 tell the service time of ResNet-32, nothing tells that of ResNet-15") {
  const std::optional<std::filesystem::path> folder = recorded_data("asp-scaling");
  if (!folder || !std::filesystem::exists(*folder / "speed.csv")) {
    MESSAGE("skipped: no recorded speeds; PACELINE_RECORDED_DATA names the folder above theirs");
    return;
  }
  const JobLogs logs = read_job_logs({*folder / "speed.csv", *folder / "runs.csv"},
                                     {.network = "resnet32", .pauses = KnownPauses{3.83, 4000.0}});
  const ServiceFit fit(logs.jobs, "resnet32");
  const auto service = fit.service();
  REQUIRE(service);
  CHECK(service->from->gpu == "v100");
  CHECK(service->from->workers == 3);
  // 35.2 updates/s of a server that has no pause: at most 28.4 ms.
  CHECK(service->seconds == doctest::Approx(0.0284).epsilon(0.01));
  CHECK(service->low_s < 0.022);
  const std::vector<LeftOutGroup> resnet32 = leave_groups_out(logs.jobs, "resnet32");
  CHECK(resnet32.size() == 8);
  CHECK(inside(resnet32) >= 6);
  CHECK(mean_error(resnet32) < 0.02);

  CHECK_FALSE(ServiceFit(logs.jobs, "resnet15").service());
  const std::vector<LeftOutGroup> resnet15 = leave_groups_out(logs.jobs, "resnet15");
  CHECK(resnet15.size() == 4);
  CHECK(inside(resnet15) >= 3);
  CHECK(mean_error(resnet15) < 0.05);
}

}  // namespace paceline::calibrate
