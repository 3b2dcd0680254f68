// What the gate simulates beside what it measures: cycles of iterations, with messages in them.
#include "calibrate/validation/live_gate.hpp"

#include <fstream>
#include <memory>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "calibrate/validation/gate_simulation.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/study/input_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline {
namespace {

// Two workers without any noise, with what messages cost.
LoadedScenario noiseless(const char* communication, const char* wait_of_second) {
  constexpr const char* text = R"(
name: cycles
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 400, test_samples: 50}}
  optimizer: {{learning_rate: 0.01}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1, message_wait: {}}}]
  network: {{topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}
synchronization: [{{policy: bsp, transport: server}}]
batching: {{controller: uniform, initial: 10}}
jitter: {{run: 0 %, worker: 0 %, iteration: 0 %}}
communication: {{{}}}
learner: {{kind: network}}
evaluation: {{every: 200 samples, who_pays: free}}
stop: {{epochs: 3}}
)";
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "cycles.yaml")
      << fmt::format(fmt::runtime(text), PACELINE_CHECKOUT, wait_of_second, communication);
  return load_scenario(folder.path() / "cycles.yaml", {});
}

std::vector<live::CycleTime> cycles(const char* communication, const char* wait_of_second) {
  const LoadedScenario loaded = noiseless(communication, wait_of_second);
  InputFiles files;
  return simulated_cycles(loaded, *files.profiles_of(loaded), WaitsFor::nobody,
                          live::initial_batches(loaded.scenario));
}

}  // namespace

TEST_CASE("what messages take of a worker lies between simulated iterations, and counts once") {
  // It was taken off iterations that did not hold it: those predicted were a tenth too long, waits too short.
  // Two messages of 200 us lie between two iterations, which stay what they are.
  const std::vector<live::CycleTime> free = cycles("per_message: 0 us", "0 us");
  const std::vector<live::CycleTime> costly = cycles("per_message: 200 us", "0 us");
  REQUIRE(free.size() == 2);
  for (std::size_t w = 0; w < 2; ++w) {
    CHECK(costly[w].iteration.value() == doctest::Approx(free[w].iteration.value()).epsilon(0.01));
    CHECK(costly[w].between.value() == doctest::Approx(free[w].between.value() + 400e-6).epsilon(0.05));
  }
}

TEST_CASE("messages of a worker with a wait of its own lengthen its cycles by twice the wait, no other's") {
  // 1 ms in the mean, exponential: of a thousand messages and more within a tenth.
  const std::vector<live::CycleTime> alike = cycles("per_message: 0 us", "0 us");
  const std::vector<live::CycleTime> waits = cycles("per_message: 0 us", "1 ms");
  CHECK(waits[0].between <= alike[0].between);  // less, where both came to the server at once
  CHECK(waits[1].between.value() == doctest::Approx(alike[1].between.value() + 2e-3).epsilon(0.1));
  CHECK(waits[1].iteration.value() == doctest::Approx(alike[1].iteration.value()).epsilon(0.01));
}

TEST_CASE("what a server interrupts makes simulated iterations vary, jitter that is stated does not") {
  LoadedScenario loaded = noiseless("server_request: 300 us", "400 us");
  InputFiles files;
  const std::shared_ptr<const Profiles> profiles = files.profiles_of(loaded);
  loaded.scenario.jitter.iteration_cv = 0.3;
  loaded.scenario.jitter.iteration_fixed = Seconds{1e-3};
  loaded.scenario.jitter.spells = Spells{0.2, Seconds{0.1}};
  // Of single iterations or, where they come and go in a rhythm, of spells.
  const auto found = [&] {
    const calibrate::StepVariation variation =
        simulated_variation(loaded, *profiles, live::initial_batches(loaded.scenario));
    return variation.iteration_cv + (variation.spells ? variation.spells->cv : 0.0);
  };
  CHECK(found() == doctest::Approx(0.0));
  // Two workers who do not keep step, since one's messages wait, and the server, on one core: now and then
  // 300 us of it fall into an iteration, or a turn of the other.
  loaded.scenario.cluster.machines = {{.cores = 1,
                                       .is_shared = true,
                                       .speeds = {1.0, 0.5},
                                       .hosts_servers = true,
                                       .turns = Turns{Seconds{0.4e-3}, true}}};
  CHECK(found() > 0.01);
}

TEST_CASE("iterations measured with two batches tell what of their variation does not grow, with fetching") {
  // c = 5 % and s = 60 us: of 1 ms σ² = 0.0025 + 0.0036, of 0.4 ms 0.0025 + 0.0225. Nothing of a job without
  // jitter explains any of it. Of each time 0.1 ms is fetching, where the profile knows that.
  const LoadedScenario loaded = noiseless("per_message: 0 us", "0 us");
  InputFiles files;
  Profiles profiles = *files.profiles_of(loaded);
  const auto varied = [](double log_variance) {
    return calibrate::StepVariation{.iteration_cv = std::sqrt(std::expm1(log_variance))};
  };
  const auto found = [&](double smallest_s, double initial_s) {
    std::vector<live::AloneTime> alone(2);
    alone[0].computing.batch = 4;
    alone[0].computing.wall.seconds = smallest_s;
    alone[1].computing.batch = 10;
    alone[1].computing.wall.seconds = initial_s;
    return own_variation(loaded, profiles, varied(0.0061), varied(0.025), alone);
  };
  const auto check_parts = [](const calibrate::StepVariation& parts) {
    CHECK(std::log1p(parts.iteration_cv * parts.iteration_cv) == doctest::Approx(0.0025));
    CHECK(parts.iteration_fixed.value() == doctest::Approx(60e-6));
  };
  check_parts(found(0.4e-3, 1e-3));
  for (Profile& profile : profiles.distinct)
    profile.loading = LoadingFit{.data = "images", .intercept = Seconds{0.1e-3}, .per_sample = Seconds{}};
  check_parts(found(0.3e-3, 0.9e-3));
}

TEST_CASE("a controller is predicted to end with batches of which all take as long, in a job of their own") {
  // Of two workers, one at half the speed, dynamic batches end where c(b0) = 2·c(b1), to within a dead band
  // of 5 % for each: in a job with these batches iterations of both take as long, to within 10 %. The larger
  // one is lowered by a sample where the two could not share their sum evenly: 35 and 32 become 34 and 32.
  // Batches that do not change stay as they are, and slow workers take twice as long.
  LoadedScenario loaded = noiseless("per_message: 0 us", "0 us");
  Scenario& scenario = loaded.scenario;
  scenario.cluster.workers[1].speed = 0.5;
  scenario.batching.controller = BatchControllerChoice("dynamic");
  scenario.batching.initial_samples = 32;
  scenario.batching.minimum_samples = 8;
  scenario.batching.maximum_samples = 128;
  scenario.stop.epochs = 100.0;
  const std::shared_ptr<const Profiles> profiles = InputFiles().profiles_of(loaded);
  const std::vector<std::int64_t> batches = batches_in_step(loaded, *profiles);
  REQUIRE(batches.size() == 2);
  CHECK((batches[0] + batches[1]) % 2 == 0);
  CHECK(batches[0] > 32);
  CHECK(batches[1] < 32);
  const std::vector<live::CycleTime> cycles = simulated_cycles(loaded, *profiles, WaitsFor::all, batches);
  CHECK(cycles[0].iteration.value() == doctest::Approx(cycles[1].iteration.value()).epsilon(0.1));
  scenario.batching.maximum_samples = 35;
  scenario.batching.minimum_samples = 32;
  CHECK(batches_in_step(loaded, *profiles) == std::vector<std::int64_t>{34, 32});
  scenario.batching.controller = BatchControllerChoice("uniform");
  CHECK(batches_in_step(loaded, *profiles) == std::vector<std::int64_t>{32, 32});
  const std::vector<live::CycleTime> equal =
      simulated_cycles(loaded, *profiles, WaitsFor::all, live::initial_batches(scenario));
  CHECK(equal[1].iteration.value() == doctest::Approx(2.0 * equal[0].iteration.value()).epsilon(0.01));
}

TEST_CASE("small batches whose variation was not measured tell nothing of it") {
  const LoadedScenario loaded = noiseless("per_message: 0 us", "0 us");
  InputFiles files;
  const std::shared_ptr<const Profiles> profiles = files.profiles_of(loaded);
  const calibrate::StepVariation together{.iteration_cv = 0.05};
  for (const std::optional<calibrate::StepVariation>& of_smallest :
       {std::optional<calibrate::StepVariation>(), std::optional(calibrate::StepVariation{})}) {
    const calibrate::StepVariation own = own_variation(loaded, *profiles, together, of_smallest, {});
    CHECK(own.iteration_cv == doctest::Approx(0.05));
    CHECK(own.iteration_fixed == Seconds{});
  }
}

TEST_CASE("a server whose messages were measured is predicted to write to sockets, and that is said") {
  // Short messages leave one after the other. Of the fit, what a request costs.
  LoadedScenario loaded = noiseless("per_message: 0 us", "0 us");
  loaded.scenario.communication.reset();
  REQUIRE(loaded.scenario.cluster.servers.sends == ServerSends::together);
  GateFigures figures;
  const live::CommunicationFit fit{
      .server = {.fixed_s = 1e-4}, .applying = {}, .worker = {.fixed_s = 6e-5}, .connection = {}};
  adopt_communication(loaded.scenario, fit, figures);
  CHECK(loaded.scenario.cluster.servers.sends == ServerSends::sockets);
  CHECK(loaded.scenario.communication.value().server_request == Seconds{1e-4});
  CHECK(loaded.scenario.communication->per_message == Seconds{3e-5});
  CHECK(figures.stated.find("servers: {sends: sockets}") != std::string::npos);
}

TEST_CASE("a machine that has become slower is predicted with iterations that take as much longer") {
  // Both workers' profiles once more by a factor, 1.1, beside what they were corrected by, 1.2 and 1.
  LoadedScenario loaded = noiseless("per_message: 0 us", "0 us");
  const test::TemporaryFolder folder;
  LiveGate gate(folder.path(), {}, 0.6, Seconds{});
  std::shared_ptr<const Profiles> profiles = InputFiles().profiles_of(loaded);
  const auto iteration = [&](std::uint64_t worker) {
    return ComputeTimes(profiles->distinct, profiles->of_worker, loaded.scenario.cluster.workers, {}, {1, 0},
                        DataLoading::free)
        .mean_iteration(WorkerId{worker}, 10);
  };
  live::AloneTime alone{};
  alone.computing.batch = 10;
  alone.computing.steps = 100;
  alone.computing.wall = {.seconds = iteration(0).value(), .half_width_s = 0.0};
  const double before_s = iteration(0).value();
  const GateFigures figures{
      .alone = {{alone}, {alone}}, .calibrated = profiles, .factors = {{{10, 1.2}}, {{10, 1.0}}}};
  gate.slow_down(loaded, profiles, figures, 1.1);
  CHECK(iteration(0).value() == doctest::Approx(1.2 * 1.1 * before_s));
  CHECK(iteration(1).value() == doctest::Approx(1.1 * before_s));
}

TEST_CASE(
    "a worker is corrected by what its own batch took, and by the smallest one only if that is smaller") {
  // 1.2 times with 32 and 1 with 8 before. With 60 samples 2.2 ms are measured where 2 are predicted:
  // 1.2 · 1.1 times; with 8, 0.9 where 1: 0.9 times. Who ends with 8 itself, or with less, is not held
  // against all with 8.
  const BesideOthers before{{8, 1.0}, {32, 1.2}};
  const auto took = [](std::int64_t batch, double measured_ms, double predicted_ms) {
    return TogetherTime{batch, {Seconds{1e-3 * measured_ms}, {}}, {Seconds{1e-3 * predicted_ms}, {}}};
  };
  const TogetherTime small = took(8, 0.9, 1.0);
  const BesideOthers both = held_against(before, took(60, 2.2, 2.0), &small);
  REQUIRE(both.size() == 2);
  CHECK(both.at(60) == doctest::Approx(1.32));
  CHECK(both.at(8) == doctest::Approx(0.9));
  for (const std::int64_t batch : {8, 5}) {
    const BesideOthers own = held_against(before, took(batch, 1.1, 1.0), &small);
    REQUIRE(own.size() == 1);
    CHECK(own.at(batch) == doctest::Approx(1.1));
  }
  CHECK(held_against(before, took(32, 2.0, 2.0), nullptr).at(32) == doctest::Approx(1.2));
}

TEST_CASE("others cost small batches a share of their own: what is predicted passes through both") {
  // Timed alone at 8 and 32 samples as the profile has it; beside others 1.5 times as long with 8, as long
  // with 32, and at 16, halfway on a logarithmic scale, 1.25 times. Two times determine a factor and an
  // offset.
  LoadedScenario loaded = noiseless("per_message: 0 us", "0 us");
  loaded.scenario.batching.initial_samples = 32;
  const test::TemporaryFolder folder;
  LiveGate gate(folder.path(), {}, 0.6, Seconds{});
  std::shared_ptr<const Profiles> profiles = InputFiles().profiles_of(loaded);
  const auto iteration_s = [&](std::uint64_t worker, std::int64_t batch) {
    return ComputeTimes(profiles->distinct, profiles->of_worker, loaded.scenario.cluster.workers, {}, {1, 0},
                        DataLoading::free)
        .mean_iteration(WorkerId{worker}, batch)
        .value();
  };
  const auto timed_alone = [&](std::int64_t batch) {
    live::AloneTime alone{};
    alone.computing.batch = batch;
    alone.computing.steps = 100;
    alone.computing.wall = {.seconds = iteration_s(0, batch), .half_width_s = 0.0};
    return alone;
  };
  const std::vector<live::AloneTime> alone = {timed_alone(8), timed_alone(32)};
  const BesideOthers beside{{8, 1.5}, {32, 1.0}};
  CHECK(factor_of(beside, 16) == doctest::Approx(1.25));
  CHECK(factor_of(beside, 4) == 1.5);
  CHECK(factor_of(beside, 8) == 1.5);
  CHECK(factor_of(beside, 64) == 1.0);
  CHECK(factor_of({{20, 1.1}}, 64) == 1.1);
  const double of_8_s = iteration_s(0, 8);
  const double of_32_s = iteration_s(0, 32);
  const GateFigures figures{
      .alone = {alone, alone}, .calibrated = profiles, .factors = {beside, {{32, 1.0}}}};
  gate.slow_down(loaded, profiles, figures, 1.0);
  CHECK(iteration_s(0, 8) == doctest::Approx(1.5 * of_8_s));
  CHECK(iteration_s(0, 32) == doctest::Approx(of_32_s));
  CHECK(iteration_s(1, 8) == doctest::Approx(of_8_s));
}

}  // namespace paceline
