// Rules over several keys: each broken one is reported at the place of the key to change.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

using Changes = std::vector<std::pair<const char*, std::string>>;

std::string changed(const Changes& changes) {
  std::string text(good_example);
  for (const auto& [from, to] : changes) text = replaced(text, from, to);
  return text;
}

void check_refused(const Changes& changes, const char* first_line) {
  const std::string said = complaint(changed(changes));
  CAPTURE(said);
  CHECK(said.starts_with(fmt::format("scenario.yaml:{}\n", first_line)));
}

const char* const workers = "[{cores: 2}, {cores: 1}, {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}]";
const char* const first_phase = "  - {policy: bsp, transport: ring, share: 25 %}\n";

TEST_CASE("the shares of several phases sum to 100 %, within rounding") {
  check_refused({{"share: 25 %", "share: 20 %"}},
                "17:45: error: the shares of the phases sum to 95 %, not to 100 %");
  CHECK(complaint(changed({{"share: 25 %", "share: 33.3 %"}, {"share: 75 %", "share: 66.7 %"}})).empty());
}

TEST_CASE("a phase that another follows needs a share or a length, the last one takes the rest") {
  check_refused({{", share: 25 %", ""}}, "16:5: error: missing key `share`: another phase follows");
  check_refused({{"share: 25 %", "share: 25 %, length: 5 epochs"}},
                "16:57: error: a phase has a `share` or a `length`, not both");
  CHECK(complaint(changed({{"share: 25 %", "length: 400 updates"}, {", share: 75 %", ""}})).empty());
  CHECK(complaint(changed({{"share: 25 %", "length: 10 min"}})).empty());
  CHECK(complaint(changed({{"share: 25 %", "length: 25 %"}})).find("write it as `share`") !=
        std::string::npos);
  const LoadedScenario one =
      load_text(changed({{first_phase, ""}, {", share: 75 %, switch_cost: 0.5 s", ""}}));
  CHECK_FALSE(one.scenario.synchronization.at(0).share.has_value());
  CHECK(value_of(one, "synchronization.0.share").origin == "default");
  check_refused({{first_phase, ""}, {", switch_cost: 0.5 s", ""}},
                "16:45: error: the shares of the phases sum to 75 %, not to 100 %");
}

TEST_CASE("a length that ends the job early, or that nothing can follow, gets a warning") {
  const auto warnings = [](const Changes& changes) {
    std::string all;
    for (const std::string& warning : load_text(changed(changes)).warnings) all += warning;
    return all;
  };
  CHECK(warnings({{"share: 75 %", "length: 5 epochs"}}).find("the job ends with this phase") !=
        std::string::npos);
  CHECK(warnings({{"share: 25 %", "length: 40 epochs"}, {", share: 75 %", ""}})
            .find("the phases after this one are never reached: the job ends at epoch 20") !=
        std::string::npos);
}

TEST_CASE("K-sync and backup workers say how many gradients count, and there are enough workers") {
  const auto policy = [](const char* text) { return Changes{{"policy: bsp, transport: ring", text}}; };
  check_refused(policy("policy: k-sync, transport: server"),
                "16:5: error: missing key `gradients` in `synchronization.0`");
  check_refused(policy("policy: k-sync, transport: server, gradients: 5"),
                "16:52: error: there are only 4 workers");
  check_refused(policy("policy: backup-workers, transport: server"),
                "16:5: error: missing key `backups` in `synchronization.0`");
  check_refused(policy("policy: backup-workers, transport: server, backups: 4"),
                "16:58: error: of 4 workers at least one must count");
  check_refused(policy("policy: bsp, transport: server, exchange: parameters"),
                "16:48: error: `exchange: parameters` needs `policy: asp`");
  CHECK(complaint(changed(policy("policy: k-sync, transport: server, gradients: 3"))).empty());
  CHECK(complaint(changed(policy("policy: backup-workers, transport: server, backups: 1"))).empty());
}

TEST_CASE("heterogeneity names workers that exist, one value for each, and changes something") {
  const auto with = [](const char* heterogeneity) {
    return Changes{{"jitter:", fmt::format("heterogeneity: {}\njitter:", heterogeneity)}};
  };
  check_refused(with("{schedule: [{at: 5 epochs, speed: [1, 2]}]}"), "27:50: error: 2 entries for 4 workers");
  check_refused(with("{schedule: [{at: 5 epochs, workers: [4], speed: [1]}]}"),
                "27:53: error: there is no worker 4: they are 0 to 3");
  check_refused(with("{schedule: [{at: 30 %}]}"), "27:28: error: a level that changes nothing");
  check_refused(with("{stragglers: [{worker: 1, from: 1 s, duration: 5 s}]}"),
                "27:30: error: a straggler that is not slower");
  check_refused(
      with("{membership: [{at: 1 s, worker: 1, event: leaves}, {at: 2 s, worker: 1, event: leaves}]}"),
      "27:67: error: worker 1 is gone already");
  const auto said = [&](const char* heterogeneity, const char* what) {
    CAPTURE(heterogeneity);
    CHECK(complaint(changed(with(heterogeneity))).find(what) != std::string::npos);
  };
  said("{membership: [{at: 0 s, worker: 1, event: leaves}]}", "error: the job has not begun yet");
  said("{membership: [{at: 20 s, worker: 1, event: joins}, {at: 10 s, worker: 1, event: leaves}]}",
       "error: the changes of worker 1 must follow each other");
  said("{schedule: [{at: 5 s, workers: [0, 0], speed: [1, 2]}]}", "error: a worker is named twice");
  said("{stragglers: [{worker: 1, from: 1 s, duration: 5 s, added_latency: 1 ms, round_trips: 0}]}",
       "error: a straggler that is not slower");
  CHECK(complaint(changed(with("{schedule: [{at: 1 s, workers: [2], speed: [0.5], bandwidth: [0.1]}]}")))
            .empty());
  CHECK(
      complaint(changed(with("{random_stragglers: {probability: 1 %, window: 10 s, slowdown: 4}}"))).empty());
}

TEST_CASE("a ring is for bsp and for at least two workers") {
  check_refused({{"asp, transport: server", "asp, transport: ring"}},
                "17:30: error: an all-reduce needs `policy: bsp`: all workers must take part");
  check_refused({{workers, "[{cores: 2}]"}}, "16:30: error: an all-reduce needs at least 2 workers");
}

TEST_CASE("minimum <= initial <= maximum") {
  check_refused({{"minimum: 8", "minimum: 33"}}, "21:12: error: `minimum` (33) is above `initial` (32)");
  check_refused({{"maximum: 256", "maximum: 31"}}, "22:12: error: `maximum` (31) is below `initial` (32)");
  CHECK(complaint(changed({{"minimum: 8", "minimum: 32"}, {"maximum: 256", "maximum: 32"}})).empty());
}

// Bounds that nobody wrote and no controller uses do not stand in the way.
TEST_CASE("default bounds count only for controllers that use them") {
  const Changes unbounded{{"  minimum: 8\n  maximum: 256\n", ""}, {"initial: 32", "initial: 2048"}};
  check_refused(unbounded, "20:12: error: `maximum` (1024, the default) is below `initial` (2048)");
  Changes uniform = unbounded;
  uniform.push_back({"dynamic\n", "uniform\n"});
  CHECK(complaint(changed(uniform)).empty());
}

TEST_CASE("milestones ascend") {
  check_refused({{"[15, 18]", "[15, 15]"}}, "11:59: error: milestones must ascend: 15 follows 15");
}

TEST_CASE("rests after which going on costs ascend") {
  const std::string said = complaint(std::string(good_example) +
                                     "resume: [{rest: 4 ms, time: 0.5 ms}, {rest: 2 ms, time: 0.3 ms}]\n");
  CHECK(said.find("error: 2 ms does not lie beyond the rest before it, 4 ms") != std::string::npos);
  CHECK(said.find("hint: list rests from the shortest to the longest") != std::string::npos);
}

TEST_CASE("a milestone after the end is a warning, with its place") {
  const LoadedScenario loaded = load_text(changed({{"[15, 18]", "[15, 20]"}}));
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(loaded.warnings[0].find(
            "scenario.yaml:11:59: warning: milestone 20 is never reached: the job ends at epoch 20") !=
        std::string::npos);
}

// 4160 updates: see the test of the first evaluation below.
TEST_CASE("a milestone or warm-up that the job does not reach is a warning in every basis") {
  const char* const schedule = "basis: epoch, milestones: [15, 18], factor: 0.2, warmup: 0.5";
  const auto warnings = [&](const char* changed_schedule) {
    return load_text(changed({{schedule, changed_schedule}})).warnings;
  };
  const auto only_warning = [&](const char* changed_schedule) {
    const std::vector<std::string> all = warnings(changed_schedule);
    REQUIRE(all.size() == 1);
    return all.front();
  };
  CHECK(warnings("basis: step, milestones: [1000, 4159], factor: 0.2, warmup: 4159").empty());
  CHECK(only_warning("basis: step, milestones: [1000, 4160], factor: 0.2")
            .find("11:60: warning: milestone 4160 is never reached: the job has about 4160 updates") !=
        std::string::npos);
  CHECK(warnings("basis: progress, milestones: [50 %, 99.9 %], factor: 0.2, warmup: 5 %").empty());
  CHECK(only_warning("basis: progress, milestones: [50 %, 100 %], factor: 0.2")
            .find("warning: milestone 100 % is never reached: the job ends there") != std::string::npos);
  CHECK(only_warning("basis: epoch, milestones: [15, 18], factor: 0.2, warmup: 20")
            .find("warning: the end of the warm-up at 20 is never reached: the job ends at epoch 20") !=
        std::string::npos);
}

TEST_CASE("milestones are written as their basis asks") {
  const char* const schedule = "basis: epoch, milestones: [15, 18]";
  check_refused(
      {{schedule, "basis: epoch, milestones: [15, 50 %]"}},
      "11:59: error: `job.learning_rate_schedule.milestones.1`: expected a number above 0, found `50 %`");
  check_refused(
      {{schedule, "basis: step, milestones: [15, 18.5]"}},
      "11:58: error: `job.learning_rate_schedule.milestones.1`: expected a whole number, at least 1, in "
      "plain digits; found `18.5`");
  check_refused({{schedule, "basis: progress, milestones: [50, 75 %]"}, {"warmup: 0.5", "warmup: 5 %"}},
                "11:58: error: `job.learning_rate_schedule.milestones.0`: `50` has no unit");
  const LoadedScenario loaded = load_text(
      changed({{schedule, "basis: progress, milestones: [50 %, 75 %]"}, {"warmup: 0.5", "warmup: 5 %"}}));
  CHECK(loaded.scenario.job.optimizer.schedule.milestones == std::vector{0.5, 0.75});
  CHECK(loaded.scenario.job.optimizer.schedule.warmup == 0.05);
  CHECK(value_of(loaded, "job.learning_rate_schedule.milestones").value == "[50 %, 75 %]");
}

TEST_CASE("a cosine has an end after its warm-up instead of milestones and a factor") {
  const char* const schedule = "basis: epoch, milestones: [15, 18], factor: 0.2";
  const LoadedScenario loaded = load_text(changed({{schedule, "basis: epoch, shape: cosine, end: 18"}}));
  CHECK(loaded.scenario.job.optimizer.schedule.shape == ScheduleShape::cosine);
  CHECK(loaded.scenario.job.optimizer.schedule.end == 18.0);
  CHECK(loaded.scenario.job.optimizer.schedule.least == 0.0);
  check_refused({{schedule, "basis: epoch, shape: cosine"}},
                "11:3: error: missing key `end` in `job.learning_rate_schedule`");
  check_refused({{schedule, "basis: epoch, factor: 0.2"}},
                "11:3: error: missing key `milestones` in `job.learning_rate_schedule`");
  check_refused({{schedule, "basis: epoch, shape: cosine, end: 0.5"}},
                "11:62: error: the rate falls from the end of the warm-up on: `end` must come after it");
  CHECK(load_text(changed({{schedule, "basis: epoch, shape: cosine, end: 18, factor: 0.2"}}))
            .warnings.front()
            .find("`factor` is only used with `shape: steps`") != std::string::npos);
}

TEST_CASE("nesterov needs momentum") {
  check_refused({{"momentum: 0.9", "momentum: 0"}, {"nesterov: false", "nesterov: true"}},
                "10:79: error: `nesterov` needs `momentum` above 0");
}

TEST_CASE("AdamW has no momentum, and no statistical learner knows it") {
  const auto with_adamw = [](const char* learner) {
    return changed({{"momentum: 0.9", "kind: adamw, beta1: 0.95"}, {"{kind: network}", learner}});
  };
  const LoadedScenario loaded = load_text(with_adamw("{kind: network}"));
  CHECK(loaded.scenario.job.optimizer.kind == OptimizerKind::adamw);
  CHECK(loaded.scenario.job.optimizer.adamw.beta1 == 0.95);
  CHECK(std::ranges::any_of(loaded.warnings, [](const std::string& warning) {
    return warning.find("`momentum_at` is only used with `kind: sgd`") != std::string::npos;
  }));
  CHECK(complaint(with_adamw("{kind: statistical, model: learner.json}"))
            .find("no recorded runs say what AdamW does to a statistical learner") != std::string::npos);
}

TEST_CASE("velocities are scaled by a factor, which nothing else uses") {
  const char* const scaled = "velocity_at_switch: scale, velocity_scale: 0.125";
  check_refused({{scaled, "velocity_at_switch: scale"}},
                "10:175: error: `velocity_at_switch: scale` needs `velocity_scale`");
  for (const char* unused : {"velocity_at_switch: zero, velocity_scale: 2", "velocity_scale: 2"}) {
    const LoadedScenario loaded = load_text(changed({{scaled, unused}}));
    REQUIRE(loaded.warnings.size() == 1);
    CHECK(loaded.warnings[0].find("`velocity_scale` is only used by `velocity_at_switch: scale`") !=
          std::string::npos);
  }
}

TEST_CASE("a momentum rule in stages says how long they are, and no other rule has any") {
  const char* const scaled = "velocity_at_switch: scale, velocity_scale: 0.125";
  check_refused({{scaled, "momentum_at_switch: staged"}},
                "10:175: error: this rule needs `momentum_stage`: how long a stage lasts");
  const LoadedScenario staged =
      load_text(changed({{scaled, "momentum_at_switch: additive, momentum_stage: 0.5 epochs"}}));
  CHECK(staged.warnings.empty());
  CHECK(staged.scenario.job.optimizer.momentum_at_switch.rule == MomentumRule::additive);
  CHECK(staged.scenario.job.optimizer.momentum_at_switch.stage->value == 0.5);
  const LoadedScenario unused =
      load_text(changed({{scaled, "momentum_at_switch: zero, momentum_stage: 0.5 epochs"}}));
  REQUIRE(unused.warnings.size() == 1);
  CHECK(unused.warnings[0].find("`momentum_stage` is only used by") != std::string::npos);
}

TEST_CASE("rules for a momentum that is not there are warnings") {
  const LoadedScenario loaded = load_text(changed({{"momentum: 0.9", "momentum: 0"}}));
  REQUIRE(loaded.warnings.size() == 2);
  CHECK(loaded.warnings[0].find("`job.optimizer.momentum_at` has no effect: `momentum` is 0") !=
        std::string::npos);
}

TEST_CASE("files need a folder, generated images have none") {
  check_refused({{"kind: built-in-images", "kind: cifar10"}}, "9:19: error: dataset `cifar10` needs `path`");
  check_refused({{"kind: built-in-images", "kind: built-in-images, path: data"}},
                "9:42: error: built-in data is generated: `path` has no meaning");
  const LoadedScenario loaded =
      load_text(changed({{"kind: built-in-images", "kind: mnist, path: data/mnist"}}));
  CHECK(loaded.scenario.job.dataset.path == (loaded.scenario.file.parent_path() / "data/mnist").string());
}

TEST_CASE("a statistical or assumed learner needs its file, and the others use none") {
  check_refused({{"learner: {kind: network}", "learner: {kind: statistical}"}},
                "28:10: error: missing key `model`: this kind of learner is read from a file");
  check_refused({{"learner: {kind: network}", "learner: {kind: assumed}"}},
                "28:10: error: missing key `model`: this kind of learner is read from a file");
  const LoadedScenario read =
      load_text(changed({{"learner: {kind: network}", "learner: {kind: statistical, model: l.json}"}}));
  CHECK(read.scenario.learner.kind == LearnerKind::statistical);
  CHECK(read.scenario.learner.model.ends_with("l.json"));
  for (const std::string& warning : read.warnings) CHECK(warning.find("`model`") == std::string::npos);
  check_refused({{"learner: {kind: network}", "learner: {kind: network, model: l.json}"}},
                "28:33: error: the learner `network` trains a TorchScript file, which ends in .pt");
}

TEST_CASE("a learner fitted on gradients is not used with the exchange of parameters") {
  check_refused({{"learner: {kind: network}", "learner: {kind: statistical, model: l.json}"},
                 {"policy: asp, transport: server", "policy: asp, transport: server, exchange: parameters"}},
                "17:48: error: this learner knows gradients only, not the exchange of parameters");
}

TEST_CASE("the network learner needs a dataset to learn and to be tested on") {
  check_refused({{"kind: built-in-images, ", ""}}, "28:17: error: `kind: network` needs `job.dataset.kind`");
  check_refused({{", test_samples: 1000", ""}},
                "28:17: error: `kind: network` needs `job.dataset.test_samples` above 0");
}

TEST_CASE("a target accuracy needs a learner, without either, sizes alone are enough") {
  check_refused({{"{kind: network}", "{kind: none}"}},
                "30:30: error: a job with `learner: {kind: none}` has no accuracy to reach");
  CHECK(complaint(changed({{"{kind: network}", "{kind: none}"},
                           {", accuracy: 0.80", ""},
                           {"kind: built-in-images, ", ""},
                           {", test_samples: 1000", ""}}))
            .empty());
}

// 20 epochs of 8192 samples: 163840 samples; 25 % in BSP updates of 4·32, 75 % in ASP updates of 32:
// 320 + 3840 = 4160 updates.
TEST_CASE("the first evaluation comes before the end, in each unit") {
  check_refused({{"2048 samples", "163841 samples"}},
                "29:21: error: the job ends before its first evaluation: it has only 163840 samples");
  check_refused({{"2048 samples", "20.5 epochs"}},
                "29:21: error: the job ends before its first evaluation: it has only 20 epochs");
  check_refused({{"2048 samples", "4161 updates"}},
                "29:21: error: the job ends before its first evaluation: it has only 4160 updates");
  for (const char* every : {"163840 samples", "20 epochs", "4160 updates", "1 update", "0.25 epochs"})
    CHECK(complaint(changed({{"2048 samples", every}})).empty());
}

TEST_CASE("a job that trains locally has fewer updates to evaluate at, or for a schedule to reach") {
  // 320 BSP updates become ⌈320 / 64⌉ = 5; by speed, three of four workers may take a single step: at most
  // ⌈320 / (67/4)⌉ = 20. 3840 ASP updates become 3840 / 4 / 2 = 480 in buffers of two.
  const auto most = [](const char* transport, const char* local, int updates) {
    const auto with = [&](int every) {
      return Changes{{transport, fmt::format("{}, local: {}", transport, local)},
                     {"2048 samples", fmt::format("{} updates", every)}};
    };
    CHECK(complaint(changed(with(updates))).empty());
    check_refused(
        with(updates + 1),
        fmt::format("29:21: error: the job ends before its first evaluation: it has only {} updates", updates)
            .c_str());
  };
  most("transport: ring", "{steps: 64}", 5 + 3840);
  most("transport: ring", "{steps: 64, by_speed: true}", 20 + 3840);
  most("transport: server", "{steps: 4, outer: {every: 2}}", 320 + 480);
}

TEST_CASE("the workload is at least one batch on every worker") {
  check_refused(
      {{"train_samples: 8192", "train_samples: 6"}, {"2048 samples", "1 updates"}},
      "30:16: error: the workload (120 samples) is less than one batch on every worker (128 samples)");
}

TEST_CASE("what is written and not used is a warning") {
  const LoadedScenario loaded =
      load_text(changed({{"controller: dynamic", "controller: static"},
                         {"ring, share: 25 %", "ring, share: 25 %, switch_cost: 1 s"}}));
  REQUIRE(loaded.warnings.size() == 4);
  CHECK(loaded.warnings[0].find(":16:62: warning: `switch_cost` of the first phase is not used") !=
        std::string::npos);
  CHECK(
      loaded.warnings[1].find(
          ": warning: `dead_band` is only used with `controller: dynamic` or `controller: omnilearn-code` or "
          "`controller: proportional-repair`") != std::string::npos);
}

// A study overrides the controller of its base again and again; the base's other keys are not a mistake.
TEST_CASE("keys left behind by an overridden controller are no warning") {
  CHECK(load_text(good_example, {"batching.controller=uniform"}).warnings.empty());
}

TEST_CASE("a value that failed does not cause a second message") {
  const std::string said = complaint(changed({{"initial: 32", "initial: x"}, {"share: 25 %", "share: 25"}}));
  CHECK(said.ends_with("\n2 errors in scenario.yaml\n"));
}

TEST_CASE("warnings are shown beside errors and counted apart") {
  const std::string said = complaint(changed({{"[15, 18]", "[15, 20]"}, {"seed: 1", "seed: x"}}));
  CHECK(said.ends_with("\n1 error, 1 warning in scenario.yaml\n"));
}

}  // namespace
}  // namespace paceline::test
