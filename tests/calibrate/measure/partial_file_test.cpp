#include "calibrate/measure/partial_file.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::calibrate {
namespace {

const std::vector<Sample> first = {{1, 8, 0, Operation::forward_backward, {0.1, 1.0 / 3.0}, 2e8},
                                   {1, 8, 0, Operation::optimizer_step, {0.01}}};
const std::vector<Sample> second = {{2, 8, 0, Operation::forward_backward, {0.2}}};

PartialMeasurement beginning() {
  MeasurementPlan plan{"mlp", {1, 2}, {8, 16, 32}, 3, 0.3, 10};
  plan.budget_s = 120.0;
  plan.dropped = {"batch 64: too slow"};
  return {"mlp; Test CPU", "paceline calibrate mlp", plan};
}

}  // namespace

TEST_CASE("what was measured by whole processes is read back, with the plan") {
  const test::TemporaryFolder folder;
  const auto path = partial_path(folder.path() / "profile.json");
  CHECK(path.filename() == "profile.json.partial");
  CHECK_FALSE(read_partial(path).has_value());
  PartialFile file(path, beginning());
  file.append(first);
  file.append(second);
  const PartialMeasurement read = read_partial(path).value();
  CHECK(read.identity == "mlp; Test CPU");
  CHECK(read.command == "paceline calibrate mlp");
  CHECK(read.plan.cores == std::vector<int>{1, 2});
  CHECK(read.plan.batches == std::vector<std::int64_t>{8, 16, 32});
  CHECK(read.plan.budget_s == 120.0);
  CHECK(read.plan.dropped == std::vector<std::string>{"batch 64: too slow"});
  REQUIRE(read.samples.size() == 3);
  CHECK(read.samples[0].seconds == first[0].seconds);
  CHECK(read.samples[0].peak_memory_bytes == 2e8);
  CHECK(read.samples[2].cores == 2);
}

TEST_CASE("a process that was cut off anywhere is measured again, what came before is kept") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "p.partial";
  PartialFile file(path, beginning());
  file.append(first);
  const std::size_t kept = read_file(path).size();
  file.append(second);
  const std::string whole = read_file(path);
  for (std::size_t size = kept; size + 1 < whole.size(); ++size) {
    CAPTURE(size);
    std::ofstream(path, std::ios::trunc | std::ios::binary) << whole.substr(0, size);
    REQUIRE(read_partial(path)->samples.size() == 2);
  }
}

TEST_CASE("going on rewrites the file with what is kept, and appends to it") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "p.partial";
  PartialFile(path, beginning()).append(first);
  std::ofstream(path, std::ios::app) << "{\"cores\": 2, \"bat";  // cut off
  PartialFile(path, *read_partial(path)).append(second);
  CHECK(read_partial(path)->samples.size() == 3);
}

TEST_CASE("another file of that name is not overwritten but named") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "p.partial";
  std::ofstream(path) << "my notes\n";
  CHECK_THROWS_WITH_AS(static_cast<void>(read_partial(path)),
                       doctest::Contains("is not an interrupted calibration of this version"), UserError);
}

}  // namespace paceline::calibrate
