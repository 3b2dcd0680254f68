// The checks of random jobs are checked: each notices what it is there for, and the smallest job is small.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/property/counting_learner.hpp"
#include "tests/property/invariants.hpp"
#include "tests/property/shrink.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

bool is_noticed(const RandomJob& random, Sabotage sabotage, const std::string& complaint) {
  return std::ranges::any_of(run_and_check(random, sabotage).violations, [&](const std::string& violation) {
    return violation.find(complaint) != std::string::npos;
  });
}

// K-sync of 1 discards gradients in every round.
RandomJob wasteful() {
  RandomJob random;
  random.job.phases = {{.policy = {"k-sync", {{"gradients", 1}}}}};
  return random;
}

}  // namespace

TEST_CASE("a gradient that is neither applied nor discarded is noticed") {
  CHECK(run_and_check(wasteful()).violations.empty());
  CHECK(is_noticed(wasteful(), Sabotage::hides_discards, "neither applied nor discarded"));
}

TEST_CASE("an update that is applied twice is noticed") {
  const RandomJob plain;
  CHECK(run_and_check(plain).violations.empty());
  CHECK(is_noticed(plain, Sabotage::shows_updates_twice, "changes shard 0 twice"));
  CHECK(is_noticed(plain, Sabotage::shows_updates_twice, "applied after its end"));
}

TEST_CASE("a clock that goes back is noticed") {
  CHECK(is_noticed({}, Sabotage::turns_the_clock_back, "the clock goes back"));
}

TEST_CASE("a step that is left out and a byte that is lost are noticed") {
  CHECK(is_noticed({}, Sabotage::skips_a_step, "begins step 2 after 1 steps"));
  CHECK(is_noticed({}, Sabotage::loses_a_byte, "links carried"));
}

TEST_CASE("a job that stalls is noticed") {
  RandomJob random;
  for (std::uint64_t w = 0; w < random.job.workers.size(); ++w)
    random.job.heterogeneity.membership.push_back({Seconds{15.0}, w, MembershipEvent::leaves});
  CHECK(is_noticed(random, Sabotage::none, "the job stalls: every worker has left"));
}

TEST_CASE("the learner's accounts notice what is applied without being held, applied twice, or kept") {
  std::vector<std::string> complaints;
  const RandomJob random;  // one server
  CountingLearner learner(random, [&](std::string text) { complaints.push_back(std::move(text)); });
  const std::vector<WeightedGradient> first{{GradientId{0}, WorkerId{0}, 1.0}};
  learner.apply(ServerId{0}, first, {});
  CHECK(complaints.size() == 1);
  learner.compute(WorkerId{0}, 10, GradientId{0});
  learner.apply(ServerId{0}, first, {});
  CHECK(complaints.size() == 1);
  learner.apply(ServerId{0}, first, {});
  CHECK(complaints.size() == 2);
  learner.discard(GradientId{0});
  CHECK(complaints.size() == 3);
  learner.compute(WorkerId{0}, 10, GradientId{1});
  learner.check_nothing_is_held();
  CHECK(complaints.size() == 4);
}

TEST_CASE("a failure shrinks to the one thing that causes it") {
  // Whatever else a job has: it "fails" when worker 0 straggles. What is left is one worker, one phase, the
  // straggler.
  RandomJob random = random_job(7, 3);
  random.job.heterogeneity.stragglers.push_back(
      {.worker = 0, .from = Seconds{5.0}, .duration = Seconds{9.0}});
  const Fails has_straggler = [](const RandomJob& candidate) {
    return std::ranges::any_of(candidate.job.heterogeneity.stragglers,
                               [](const Straggler& straggler) { return straggler.duration == Seconds{9.0}; });
  };
  const RandomJob smallest = shrink(random, has_straggler);
  CHECK(has_straggler(smallest));
  CHECK(smallest.job.workers.size() == 1);
  CHECK(smallest.job.phases.size() == 1);
  CHECK(smallest.job.servers == 1);
  CHECK(smallest.job.total_samples == 1);
  CHECK(smallest.job.heterogeneity.stragglers.size() == 1);
  CHECK(smallest.job.heterogeneity.membership.empty());
  CHECK(smallest.job.heterogeneity.trace.empty());
  CHECK(smallest.job.costs.coordination.is_free());
  CHECK(in_words(smallest).find("straggler 0 from 5 s for 9 s") != std::string::npos);
}
