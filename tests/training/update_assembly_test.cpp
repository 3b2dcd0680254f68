#include "sim/training/update_assembly.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"

using namespace paceline;

namespace {

const ServerId first{0};
const ServerId second{1};

CombinedGradient gradient_of(std::uint64_t worker, std::int64_t samples, Versions pulled) {
  return {WorkerId{worker}, GradientId{worker}, samples, std::move(pulled)};
}

}  // namespace

TEST_CASE("staleness of a shard is its version at the application less the version pulled") {
  // Two servers; worker 0 and 1 pull version 0 of both. Server 0 applies 0 then 1, server 1 applies 1 then 0:
  // each is stale by 0 where it comes first and by 1 where it comes second. Over both shards: at most 1, on
  // average 0.5.
  UpdateAssembly assembly(2, GradientWeighting::equal);
  const UpdateId a = assembly.begin({gradient_of(0, 10, {0, 0})}, 2);
  const UpdateId b = assembly.begin({gradient_of(1, 10, {0, 0})}, 2);
  CHECK(assembly.apply(a, first, false, {}).gradients.at(0).staleness == 0);
  CHECK(assembly.apply(b, second, false, {}).gradients.at(0).staleness == 0);
  for (const Apply& last : {assembly.apply(b, first, true, {}), assembly.apply(a, second, true, {})}) {
    CHECK(last.gradients.at(0).staleness == 1);
    CHECK(last.gradients.at(0).largest_staleness == 1);
    CHECK(last.gradients.at(0).mean_staleness == 0.5);
  }
  CHECK(std::ranges::equal(assembly.versions(), std::vector<std::uint64_t>{2, 2}));
}

TEST_CASE("gradients weigh as much as their share of the update's samples") {
  // 30 and 10 of 40 samples: 0.75 and 0.25.
  UpdateAssembly assembly(1, GradientWeighting::by_batch);
  const UpdateId id = assembly.begin({gradient_of(0, 30, {0}), gradient_of(1, 10, {0})}, 1);
  CHECK(assembly.at(id).samples() == 40);
  const Apply apply = assembly.apply(id, first, true, {});
  CHECK(apply.gradients.at(0).weight == 0.75);
  CHECK(apply.gradients.at(1).weight == 0.25);
}

TEST_CASE("who is late waits for the latest update under way, then for its coordination, else for nothing") {
  UpdateAssembly assembly(1, GradientWeighting::equal);
  const std::vector<WorkerId> late{WorkerId{2}};
  CHECK_FALSE(assembly.wait_for_latest(first, late));
  const UpdateId id = assembly.begin({gradient_of(0, 10, {0})}, 1);
  CHECK(assembly.wait_for_latest(first, late));
  CHECK(assembly.at(id).release.at(0) == late);
  assembly.erase(id);
  assembly.begin_coordination(id, {WorkerId{0}});
  CHECK(assembly.wait_for_latest(first, late));
  CHECK(assembly.end_coordination(id) == std::vector{WorkerId{0}, WorkerId{2}});
  CHECK(assembly.nothing_under_way());
  CHECK_THROWS_AS(static_cast<void>(assembly.end_coordination(id)), ProgrammingError);
}

TEST_CASE("nobody who has left is released by an update or its coordination") {
  UpdateAssembly assembly(1, GradientWeighting::equal);
  const UpdateId id = assembly.begin({gradient_of(0, 10, {0})}, 1);
  assembly.at(id).release.at(0) = {WorkerId{0}, WorkerId{1}};
  assembly.begin_coordination(UpdateId{9}, {WorkerId{1}, WorkerId{2}});
  assembly.forget(WorkerId{1});
  CHECK(assembly.at(id).release.at(0) == std::vector{WorkerId{0}});
  CHECK(assembly.end_coordination(UpdateId{9}) == std::vector{WorkerId{2}});
}

TEST_CASE("weights follow the samples and sum to one") {
  // λ = b / Σb
  const auto weight = [](std::int64_t batch) {
    return aggregation_weight(GradientWeighting::by_batch, batch, 20 + 40 + 40, 3);
  };
  CHECK(weight(20) == 0.2);
  CHECK(weight(40) == 0.4);
  CHECK(weight(20) + 2.0 * weight(40) == doctest::Approx(1.0));
}

TEST_CASE("equal weights are 1/n whatever the batches") {
  CHECK(aggregation_weight(GradientWeighting::equal, 20, 80, 2) == 0.5);
  CHECK(aggregation_weight(GradientWeighting::equal, 60, 80, 2) == 0.5);
}

TEST_CASE("a gradient that is an update by itself counts fully, whatever its batch") {
  CHECK(aggregation_weight(GradientWeighting::by_batch, 48, 48, 1) == 1.0);
  CHECK(aggregation_weight(GradientWeighting::equal, 48, 48, 1) == 1.0);
}
