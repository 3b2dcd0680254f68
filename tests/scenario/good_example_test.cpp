#include "tests/scenario/good_example.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <stdlib.h>

#include "sim/base/atomic_file.hpp"

namespace paceline::test {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "paceline-test-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Folder::write(std::string_view name, std::string_view text) const {
  write_file_atomically(path_ / name, text);
  return path_ / name;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != text.npos, "not in the example: ", std::string(from));
  REQUIRE_MESSAGE(text.find(from, at + 1) == text.npos, "twice in the example: ", std::string(from));
  return std::string(text).replace(at, from.size(), to);
}

LoadedScenario load_text(std::string_view text, const std::vector<std::string>& overrides) {
  const Folder folder;
  return load_scenario(folder.write("scenario.yaml", text), overrides);
}

std::string complaint(std::string_view text, const std::vector<std::string>& overrides) {
  const Folder folder;
  const std::filesystem::path file = folder.write("scenario.yaml", text);
  try {
    (void)load_scenario(file, overrides);
    return "";
  } catch (const UserError& error) {
    std::string message = error.what();
    const std::string prefix = folder.path().string() + "/";
    for (std::size_t at = message.find(prefix); at != message.npos; at = message.find(prefix))
      message.erase(at, prefix.size());
    return message;
  }
}

ResolvedValue value_of(const LoadedScenario& loaded, std::string_view key) {
  const auto found = std::find_if(loaded.values.begin(), loaded.values.end(),
                                  [&](const ResolvedValue& value) { return value.key == key; });
  REQUIRE_MESSAGE(found != loaded.values.end(), "no value under ", std::string(key));
  return *found;
}

// The example stands for "accepted" in every other test: each of them changes one thing.
TEST_CASE("the good example is accepted without a warning, and every value arrives") {
  const LoadedScenario loaded = load_text(good_example);
  CHECK(loaded.warnings.empty());
  const Scenario& s = loaded.scenario;
  CHECK(s.name == "quickstart-bsp");
  CHECK(s.question == "Which policy reaches 80 % first?");
  CHECK(s.seed == 1);
  CHECK(s.replications == 5);
  CHECK(s.job.network == "small-cnn");
  CHECK(s.job.profile == s.file.parent_path() / "profiles/this.json");
  CHECK(s.job.dataset.kind == "built-in-images");
  CHECK(s.job.dataset.train_samples == 8192);
  CHECK(s.job.dataset.test_samples == 1000);
  CHECK(s.job.optimizer.learning_rate == 0.05);
  CHECK(s.job.optimizer.momentum == 0.9);
  CHECK(s.job.optimizer.weight_decay == 1e-4);
  CHECK_FALSE(s.job.optimizer.nesterov);
  CHECK(s.job.optimizer.worker_scaling == RateScaling::linear);
  CHECK(s.job.optimizer.batch_scaling == RateScaling::sqrt);
  CHECK(s.job.optimizer.momentum_at == MomentumPlace::workers);
  CHECK(s.job.optimizer.velocity_at_switch == VelocityAtSwitch::scale);
  CHECK(s.job.optimizer.velocity_scale == 0.125);
  CHECK(s.job.optimizer.batch_norm == BatchNormRule::per_push);
  CHECK(s.job.optimizer.schedule.basis == ScheduleBasis::epoch);
  CHECK(s.job.optimizer.schedule.milestones == std::vector<double>{15, 18});
  CHECK(s.job.optimizer.schedule.factor == 0.2);
  CHECK(s.job.optimizer.schedule.warmup == 0.5);
  CHECK(s.cluster.workers == std::vector<Worker>{{2, 1.0}, {1, 1.0}, {1, 0.5}, {1, 0.25}});
  CHECK(s.cluster.network.bandwidth.value() == 1e9 / 8);
  CHECK(s.cluster.network.latency.value() == 50e-6);
  CHECK(s.cluster.network.server_bandwidth.value() == 10e9 / 8);
  REQUIRE(s.synchronization.size() == 2);
  CHECK(s.synchronization[0].config.policy == "bsp");
  CHECK(s.synchronization[0].config.transport == Transport::ring);
  CHECK(s.synchronization[0].share == 0.25);
  CHECK(s.synchronization[1].config.policy == "asp");
  CHECK(s.synchronization[1].config.transport == Transport::server);
  CHECK(s.synchronization[1].share == 0.75);
  CHECK(s.synchronization[1].switching.time.value() == 0.5);
  CHECK(s.batching.controller == "dynamic");
  CHECK(s.batching.initial_samples == 32);
  CHECK(s.batching.minimum_samples == 8);
  CHECK(s.batching.maximum_samples == 256);
  const Parameters& parameters = s.batching.controller.parameters();
  CHECK(parameters.value("dead_band") == plain_of(0.05));
  CHECK(parameters.value("smoothing") == plain_of(0.2));
  CHECK(parameters.value("adjust_every") == plain_of(EveryIterations{10}));
  CHECK(s.batching.weighting == GradientWeighting::by_batch);
  CHECK(s.jitter.run_cv == 0.01);
  CHECK(s.jitter.worker_cv == 0.0);
  CHECK(s.jitter.iteration_cv == 0.04);
  CHECK(s.learner.kind == LearnerKind::network);
  CHECK(s.evaluation.every.value == 2048);
  CHECK(s.evaluation.every.unit == CountUnit::samples);
  CHECK(s.evaluation.who_pays == EvaluationPayer::free);
  CHECK(s.stop.epochs == 20);
  CHECK(s.stop.accuracy == 0.8);
}

}  // namespace paceline::test
