// What an update does to the parameters, on f(x) = ½ (x₀² + 2 x₁²) from x = (8, 4): g(x) = (x₀, 2 x₁), first
// (8, 8). All values are exact in binary, so that the hand-computed traces are compared with ==. Unless said
// otherwise the learning rate is ¼ and the momentum m is ½.
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "tests/support/quadratic_learner.hpp"

using namespace paceline;
using paceline::test::QuadraticLearner;

namespace {

using Point = std::vector<float>;

constexpr WorkerId w0{0};
constexpr WorkerId w1{1};
constexpr ServerId s0{0};
constexpr ServerId s1{1};
constexpr GradientId a{0};
constexpr GradientId b{1};
constexpr GradientId c{2};
constexpr GradientId d{3};
constexpr Hyperparameters quarter{.learning_rate = 0.25, .momentum = 0.5};
constexpr Hyperparameters without_momentum{.learning_rate = 0.25, .momentum = 0.0};

constexpr ParameterStoreConfig two_workers{.worker_count = 2};
constexpr ParameterStoreConfig momentum_at_workers{.worker_count = 2, .momentum_at = MomentumPlace::workers};

void push(QuadraticLearner& learner, WorkerId worker, GradientId gradient,
          const Hyperparameters& hyperparameters = quarter, ServerId server = s0) {
  learner.apply(server, std::array{WeightedGradient{gradient, worker, 1.0}}, hyperparameters);
}

void pull_and_compute(QuadraticLearner& learner, WorkerId worker, GradientId gradient) {
  learner.pull(worker, s0);
  learner.compute(worker, 1, gradient);
}

// One update with the mean of two gradients.
void step_with_both(QuadraticLearner& learner, GradientId of_w0, GradientId of_w1,
                    const Hyperparameters& hyperparameters = quarter) {
  learner.apply(s0, std::array{WeightedGradient{of_w0, w0, 0.5}, WeightedGradient{of_w1, w1, 0.5}},
                hyperparameters);
}

// Two workers compute at (8, 4) and push one after the other.
QuadraticLearner& after_two_pushes(QuadraticLearner& learner,
                                   const Hyperparameters& hyperparameters = quarter) {
  learner.compute(w0, 1, a);
  learner.compute(w1, 1, b);
  push(learner, w0, a, hyperparameters);
  push(learner, w1, b, hyperparameters);
  return learner;
}

}  // namespace

TEST_CASE("momentum at the server: one velocity remembers the pushes of all workers") {
  // v ← v/2 + g, x ← x − v/4
  // w0: g = (8, 8)           v = (8, 8)    x = (6, 2)
  // w1: g = (8, 8), stale    v = (12, 12)  x = (3, −1)
  // w0: g(3, −1) = (3, −2)   v = (9, 4)    x = (0.75, −2)
  QuadraticLearner learner(two_workers);
  CHECK(after_two_pushes(learner).x() == Point{3.0F, -1.0F});
  pull_and_compute(learner, w0, c);
  push(learner, w0, c);
  CHECK(learner.x() == Point{0.75F, -2.0F});
}

TEST_CASE("momentum at the workers: each velocity remembers its worker's gradients only") {
  // v_w ← v_w/2 + g, x ← x − v_w/4
  // w0: g = (8, 8)           v₀ = (8, 8)   x = (6, 2)
  // w1: g = (8, 8), stale    v₁ = (8, 8)   x = (4, 0)
  // w0: g(4, 0) = (4, 0)     v₀ = (8, 4)   x = (2, −1)
  QuadraticLearner learner(momentum_at_workers);
  CHECK(after_two_pushes(learner).x() == Point{4.0F, 0.0F});
  pull_and_compute(learner, w0, c);
  push(learner, w0, c);
  CHECK(learner.x() == Point{2.0F, -1.0F});
}

TEST_CASE("a worker's velocity moves when its gradient is applied, not when it is computed or discarded") {
  // a is dropped: v₀ is still 0 when c is applied, so x = (8, 4) − (8, 8)/4
  QuadraticLearner learner(momentum_at_workers);
  learner.compute(w0, 1, a);
  learner.discard(a);
  pull_and_compute(learner, w0, c);
  push(learner, w0, c);
  CHECK(learner.x() == Point{6.0F, 2.0F});
}

TEST_CASE("with constant weights, updates of all workers are the same wherever momentum is kept") {
  // Velocities are linear in the gradients: Σ λ_i v_i = v.
  // 1: g = (8, 8), (8, 8)                   v = (8, 8)     x = (6, 2)
  // 2: g(6, 2) = (6, 4), w1 stale (8, 8)    v = (11, 10)   x = (3.25, −0.5)
  for (const ParameterStoreConfig& config : {two_workers, momentum_at_workers}) {
    QuadraticLearner learner(config);
    learner.compute(w0, 1, a);
    learner.compute(w1, 1, b);
    step_with_both(learner, a, b);
    CHECK(learner.x() == Point{6.0F, 2.0F});
    pull_and_compute(learner, w0, c);
    learner.compute(w1, 1, d);
    step_with_both(learner, c, d);
    CHECK(learner.x() == Point{3.25F, -0.5F});
  }
}

TEST_CASE("Nesterov looks ahead along the velocity, wherever that is kept") {
  // direction g + v/2 instead of v
  // w0: g = (8, 8)           v = (8, 8)     direction (12, 12)   x = (5, 1)
  // w1: g = (8, 8), stale    server:  v = (12, 12), direction (14, 14), x = (1.5, −2.5)
  //                          workers: v₁ = (8, 8),  direction (12, 12), x = (2, −2)
  QuadraticLearner at_server({.worker_count = 2, .nesterov = true});
  CHECK(after_two_pushes(at_server).x() == Point{1.5F, -2.5F});
  QuadraticLearner at_workers({.worker_count = 2, .momentum_at = MomentumPlace::workers, .nesterov = true});
  CHECK(after_two_pushes(at_workers).x() == Point{2.0F, -2.0F});
}

TEST_CASE("weight decay is part of the gradient, and as stale as the gradient") {
  // g = ∇f(x_w) + x_w/2, no momentum
  // w0: g = (8 + 4, 8 + 2) = (12, 10)                          x = (5, 1.5)
  // w1 computes after that, on its old copy (8, 4): (12, 10)   x = (2, −1)
  QuadraticLearner learner({.worker_count = 2, .weight_decay = 0.5});
  learner.compute(w0, 1, a);
  push(learner, w0, a, without_momentum);
  CHECK(learner.x() == Point{5.0F, 1.5F});
  learner.compute(w1, 1, b);
  CHECK(learner.gradient(b) == Point{12.0F, 10.0F});
  push(learner, w1, b, without_momentum);
  CHECK(learner.x() == Point{2.0F, -1.0F});
}

TEST_CASE("weight decay enters the velocity with the gradient") {
  // w0: g = (12, 10)                            v = (12, 10)     x = (5, 1.5)
  // w0: g = (5 + 2.5, 3 + 0.75) = (7.5, 3.75)   v = (13.5, 8.75) x = (1.625, −0.6875)
  QuadraticLearner learner({.worker_count = 2, .weight_decay = 0.5});
  learner.compute(w0, 1, a);
  push(learner, w0, a);
  pull_and_compute(learner, w0, b);
  push(learner, w0, b);
  CHECK(learner.x() == Point{1.625F, -0.6875F});
}

TEST_CASE("accumulate and step once, or step at each push: equal without momentum at equal reach, else not") {
  // Once: x ← x − 2·η·mean(g) = (8, 4) − (8, 8)/2 = (4, 0), with or without momentum: the velocity was 0.
  // Each, no momentum: (6, 2), then (4, 0). Each, with momentum at the server: (3, −1) as in the first trace
  // above.
  for (const double momentum : {0.0, 0.5}) {
    CAPTURE(momentum);
    QuadraticLearner once(two_workers);
    once.compute(w0, 1, a);
    once.compute(w1, 1, b);
    step_with_both(once, a, b, {.learning_rate = 0.5, .momentum = momentum});
    CHECK(once.x() == Point{4.0F, 0.0F});
    QuadraticLearner each(two_workers);
    const bool plain = momentum == 0.0;
    CHECK(after_two_pushes(each, {.learning_rate = 0.25, .momentum = momentum}).x() ==
          (plain ? Point{4.0F, 0.0F} : Point{3.0F, -1.0F}));
  }
}

TEST_CASE("the learning rate is the one of the apply: the same gradients, other steps") {
  // a at ¼: (6, 2); b, computed at the same time, at ½ and without momentum: (2, −2)
  QuadraticLearner learner(two_workers);
  learner.compute(w0, 1, a);
  learner.compute(w1, 1, b);
  push(learner, w0, a, without_momentum);
  push(learner, w1, b, {.learning_rate = 0.5, .momentum = 0.0});
  CHECK(learner.x() == Point{2.0F, -2.0F});
}

TEST_CASE("at a switch velocities are kept, zeroed or scaled, at the server and at the workers") {
  // w0: g = (8, 8)           v = (8, 8)                         x = (6, 2)
  // switch                   v ← f · v
  // w0: g(6, 2) = (6, 4)     f = 1: v = (10, 8)                 x = (3.5, 0)
  //                          f = 0: v = (6, 4)                  x = (4.5, 1)
  //                          f = ½: v = (8, 6)                  x = (4, 0.5)
  for (const ParameterStoreConfig& config : {two_workers, momentum_at_workers}) {
    for (const auto& [factor, expected] :
         {std::pair{1.0, Point{3.5F, 0.0F}}, std::pair{0.0, Point{4.5F, 1.0F}},
          std::pair{0.5, Point{4.0F, 0.5F}}}) {
      CAPTURE(factor);
      QuadraticLearner learner(config);
      learner.compute(w0, 1, a);
      push(learner, w0, a);
      learner.scale_velocity(factor);
      pull_and_compute(learner, w0, b);
      push(learner, w0, b);
      CHECK(learner.x() == expected);
    }
  }
}

TEST_CASE("a copy pulled from two servers at different versions gives a gradient of that mixture") {
  // Server 0 holds x₀, server 1 holds x₁; no momentum.
  // w1: g = (8, 8), applied on server 0 only                 x = (6, 4)
  // w0 pulls both shards: copy (6, 4): version 1 of x₀, version 0 of x₁
  // w1's gradient applied on server 1                        x = (6, 2)
  // w0: g(6, 4) = (6, 8) on both servers                     x = (4.5, 0)
  QuadraticLearner learner({.worker_count = 2, .server_count = 2});
  learner.compute(w1, 1, a);
  push(learner, w1, a, without_momentum, s0);
  CHECK(learner.x() == Point{6.0F, 4.0F});
  learner.pull(w0, s0);
  learner.pull(w0, s1);
  push(learner, w1, a, without_momentum, s1);
  CHECK(learner.x() == Point{6.0F, 2.0F});
  CHECK(learner.x_of(w0) == Point{6.0F, 4.0F});
  learner.compute(w0, 1, b);
  push(learner, w0, b, without_momentum, s1);
  push(learner, w0, b, without_momentum, s0);
  CHECK(learner.x() == Point{4.5F, 0.0F});
}

TEST_CASE("the shards of a gradient carry their velocities in any order of the servers") {
  // The trace of two pushes with momentum, wherever kept, on two servers that see the pushes in opposite
  // orders: both gradients are (8, 8), so x is as with one server.
  for (const MomentumPlace place : {MomentumPlace::server, MomentumPlace::workers}) {
    QuadraticLearner learner({.worker_count = 2, .server_count = 2, .momentum_at = place});
    learner.compute(w0, 1, a);
    learner.compute(w1, 1, b);
    push(learner, w0, a, quarter, s0);
    push(learner, w1, b, quarter, s1);
    push(learner, w1, b, quarter, s0);
    push(learner, w0, a, quarter, s1);
    CHECK(learner.x() == (place == MomentumPlace::server ? Point{3.0F, -1.0F} : Point{4.0F, 0.0F}));
  }
}

TEST_CASE("a gradient is held until each of its shards was applied once") {
  QuadraticLearner learner({.worker_count = 2, .server_count = 2});
  learner.compute(w0, 1, a);
  push(learner, w0, a, quarter, s0);
  CHECK(learner.gradient(a) == Point{8.0F, 8.0F});
  CHECK_THROWS_AS(push(learner, w0, a, quarter, s0), ProgrammingError);
  CHECK_THROWS_AS(learner.apply_locally(w0, a, quarter), ProgrammingError);
  push(learner, w0, a, quarter, s1);
  CHECK_THROWS_AS(push(learner, w0, a, quarter, s1), ProgrammingError);
  CHECK_THROWS_AS(learner.discard(a), ProgrammingError);
}

TEST_CASE("a gradient whose job stops between two shards can be discarded") {
  QuadraticLearner learner({.worker_count = 2, .server_count = 2});
  learner.compute(w0, 1, a);
  push(learner, w0, a, quarter, s1);
  learner.discard(a);
  CHECK(learner.x() == Point{8.0F, 2.0F});
}

TEST_CASE("parameter exchange: local steps with a velocity of one's own, and the last writer wins") {
  // w0: g = (8, 8)          v₀ = (8, 8)    x₀ = (6, 2)     the global parameters stay (8, 4)
  // w0: g(6, 2) = (6, 4)    v₀ = (10, 8)   x₀ = (3.5, 0)
  // w1: g = (8, 8)          v₁ = (8, 8)    x₁ = (6, 2)
  // w0 writes: x = (3.5, 0); w1 writes: x = (6, 2), w0's two steps are lost
  // w0 pulls (6, 2): g = (6, 4), its velocity goes on: v₀ = (11, 8), x₀ = (3.25, 0)
  for (const ParameterStoreConfig& config : {two_workers, momentum_at_workers}) {
    QuadraticLearner learner(config);
    learner.compute(w0, 1, a);
    learner.apply_locally(w0, a, quarter);
    CHECK(learner.x_of(w0) == Point{6.0F, 2.0F});
    learner.compute(w0, 1, b);
    learner.apply_locally(w0, b, quarter);
    learner.compute(w1, 1, c);
    learner.apply_locally(w1, c, quarter);
    CHECK(learner.x() == Point{8.0F, 4.0F});
    learner.overwrite(s0, w0);
    CHECK(learner.x() == Point{3.5F, 0.0F});
    learner.overwrite(s0, w1);
    CHECK(learner.x() == Point{6.0F, 2.0F});
    pull_and_compute(learner, w0, d);
    learner.apply_locally(w0, d, quarter);
    CHECK(learner.x_of(w0) == Point{3.25F, 0.0F});
  }
}

TEST_CASE("on two servers the last writer may differ from shard to shard") {
  // w0 after one local step: (6, 2); w1 after none: (8, 4)
  QuadraticLearner learner({.worker_count = 2, .server_count = 2});
  learner.compute(w0, 1, a);
  learner.apply_locally(w0, a, quarter);
  learner.overwrite(s0, w1);
  learner.overwrite(s0, w0);
  learner.overwrite(s1, w0);
  learner.overwrite(s1, w1);
  CHECK(learner.x() == Point{6.0F, 4.0F});
}

TEST_CASE("shards cover all parameters once, also when they do not divide evenly") {
  // 7 parameters on 3 servers; every parameter moves by −1
  ParameterStore store(std::vector<float>(7, 5.0F), {.worker_count = 1, .server_count = 3});
  store.hold(w0, a, std::vector<float>(7, 1.0F));
  for (std::uint64_t server = 0; server < 3; ++server) {
    store.apply(ServerId{server}, std::array{WeightedGradient{a, w0, 1.0}}, {.learning_rate = 1.0});
  }
  CHECK(std::vector<float>(store.global().begin(), store.global().end()) == std::vector<float>(7, 4.0F));
  for (std::uint64_t server = 0; server < 3; ++server) store.pull(w0, ServerId{server});
  CHECK(std::vector<float>(store.copy_of(w0).begin(), store.copy_of(w0).end()) ==
        std::vector<float>(7, 4.0F));
}

TEST_CASE("gradients, workers and servers that do not exist are programming errors") {
  QuadraticLearner learner(two_workers);
  learner.compute(w0, 1, a);
  CHECK_THROWS_AS(learner.compute(w0, 1, a), ProgrammingError);
  CHECK_THROWS_AS(push(learner, w1, a), ProgrammingError);  // another worker's
  CHECK_THROWS_AS(push(learner, w0, b), ProgrammingError);
  CHECK_THROWS_AS(push(learner, w0, a, quarter, s1), ProgrammingError);
  CHECK_THROWS_AS(learner.apply(s0, {}, quarter), ProgrammingError);
  CHECK_THROWS_AS(learner.apply_locally(w1, a, quarter), ProgrammingError);
  CHECK_THROWS_AS(learner.pull(WorkerId{2}, s0), ProgrammingError);
  CHECK_THROWS_AS(learner.overwrite(s1, w0), ProgrammingError);
}
