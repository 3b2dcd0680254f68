#include "sim/learning/statistical_learner.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

StatisticalModel small_model() {
  StatisticalModel model;
  model.name = "small";
  model.form = find_form("relaxation");
  for (const FormParameter& parameter : model.form->parameters) model.values.push_back(parameter.initial);
  model.classes = 10;
  model.spread = {0.01, 0.3, 0.2};
  model.noise = {0.5, 1.0, 0.001};
  model.validity = {4, 8, 128.0, 1024.0, 12.0, 0.8, 1e6, 0.9, 0.9};
  return model;
}

// Worker w computes under the ids w, w + workers, …: each worker has one gradient in flight. In turns, it
// meets the updates of the others: staleness 0, 1, …, workers - 1, then the last for ever.
void train_asynchronously(StatisticalLearner& learner, std::uint64_t workers, std::uint64_t updates) {
  for (std::uint64_t w = 0; w < workers; ++w) {
    learner.compute(WorkerId{w}, 128, GradientId{w});
  }
  for (std::uint64_t u = 0; u < updates; ++u) {
    const auto staleness = static_cast<double>(std::min(u, workers - 1));
    const WeightedGradient gradient{GradientId{u}, WorkerId{u % workers}, 1.0, staleness};
    learner.apply(ServerId{0}, {&gradient, 1}, {0.1, 0.9});
    learner.compute(WorkerId{u % workers}, 128, GradientId{u + workers});
  }
}

std::string message_of(const std::string& file) {
  try {
    static_cast<void>(read_statistical_model(file));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("where gradient noise costs all that could be learned, the job diverges instead of scattering") {
  // At so many times the rate fitted, and without annealing, noise holds the mean accuracy at guessing;
  // single evaluations would scatter over everything, and one of them above any target.
  const auto best_at = [](double rate) {
    StatisticalModel model = small_model();
    model.spread = {};
    const auto annealing = std::ranges::find(model.form->parameters, "annealing", &FormParameter::name);
    model.values[static_cast<std::size_t>(annealing - model.form->parameters.begin())] = 0.0;
    StatisticalLearner learner(model, 1, 1, {1, 0});
    double best = 0.0;
    for (std::uint64_t u = 0; u < 4000; ++u) {
      learner.compute(WorkerId{0}, 128, GradientId{u});
      const WeightedGradient gradient{GradientId{u}, WorkerId{0}, 1.0, 0.0};
      learner.apply(ServerId{0}, {&gradient, 1}, {rate, 0.9});
      const Evaluation evaluation = *learner.evaluate();
      if (!std::isfinite(evaluation.loss)) return -1.0;
      best = std::max(best, evaluation.accuracy);
    }
    return best;
  };
  const double ceiling = find_form("relaxation")->parameters.front().initial;
  CHECK(best_at(0.1) > 0.2);
  CHECK(best_at(0.1) <= ceiling + 3.0 * small_model().noise.least);
  CHECK(best_at(1000.0) == -1.0);
}

TEST_CASE("evaluations scatter about what is learned with the noise's deviation, and lean downwards by 0.5") {
  const EvaluationNoise noise{0.5, 1.0, 0.001};
  const FormReading reading{.loss = 1.0, .accuracy = 0.5, .fluctuation = 0.04};
  RandomStream random({1, 0}, Purpose::learning_curve, 2);
  double squares = 0.0;
  double cubes = 0.0;
  double sum = 0.0;
  constexpr int draws = 200'000;
  for (int i = 0; i < draws; ++i) {
    const double error = (noise.evaluated(reading, random) - 0.5) / (0.5 * 0.04);
    sum += error;
    squares += error * error;
    cubes += error * error * error;
  }
  // Standard errors: 1/√n = 0.0022; of the variance 0.0034, of the third moment about 0.02.
  CHECK(std::abs(sum / draws) < 0.007);
  CHECK(squares / draws == doctest::Approx(1.0).epsilon(0.012));
  CHECK(std::abs(cubes / draws + 0.5) < 0.06);
}

TEST_CASE("the learner gives its form the staleness, samples and weights of each update") {
  StatisticalModel model = small_model();
  model.spread = {};
  model.noise = {};
  StatisticalLearner learner(model, 4, 1, {1, 0});
  train_asynchronously(learner, 4, 1000);
  const auto form = model.form->make(model.values, {.classes = 10, .effects = {}});
  for (int u = 0; u < 1000; ++u) {
    const SeenGradient gradient{128.0, 1.0, std::min(u, 3) * 1.0};
    form->advance({{&gradient, 1}, 0.1, 0.9});
  }
  CHECK(learner.evaluate()->accuracy == form->read().accuracy);
  CHECK(learner.evaluate()->loss == form->read().loss);
}

TEST_CASE(
    "with several servers a gradient counts once, with the staleness it comes with to the last of them") {
  StatisticalModel model = small_model();
  model.spread = {};
  model.noise = {};
  StatisticalLearner learner(model, 2, 2, {1, 0});
  const ServerId first{0};
  const ServerId second{1};
  for (const std::uint64_t w : {0U, 1U}) {
    learner.compute(WorkerId{w}, 128, GradientId{w});
  }
  const auto apply = [&](ServerId server, std::uint64_t gradient, double staleness) {
    const WeightedGradient weighted{GradientId{gradient}, WorkerId{gradient}, 1.0, staleness};
    learner.apply(server, {&weighted, 1}, {0.1, 0.9});
  };
  // The first server applies 0 then 1, the second 1 then 0: the second shard of each is stale by 1, the mean
  // 0.5.
  apply(first, 0, 0.0);
  apply(second, 1, 0.0);
  apply(first, 1, 0.5);
  apply(second, 0, 0.5);
  const auto form = model.form->make(model.values, {.classes = 10, .effects = {}});
  const SeenGradient mean{128.0, 1.0, 0.5};
  form->advance({{&mean, 1}, 0.1, 0.9});
  form->advance({{&mean, 1}, 0.1, 0.9});
  CHECK(learner.evaluate()->loss == form->read().loss);
}

TEST_CASE("one seed gives one course, another seed another") {
  const StatisticalModel model = small_model();
  std::vector<double> finals;
  for (const std::uint32_t replication : {0U, 0U, 1U}) {
    StatisticalLearner learner(model, 4, 1, {7, replication});
    train_asynchronously(learner, 4, 500);
    finals.push_back(learner.evaluate()->accuracy);
  }
  CHECK(finals[0] == finals[1]);
  CHECK(finals[0] != finals[2]);
}

TEST_CASE("a gradient is computed before it is applied, and used once") {
  const StatisticalModel model = small_model();
  StatisticalLearner learner(model, 2, 1, {1, 0});
  const WeightedGradient unknown{GradientId{5}, WorkerId{0}, 1.0};
  CHECK_THROWS_AS(learner.apply(ServerId{0}, {&unknown, 1}, {0.1, 0.9}), ProgrammingError);
  learner.compute(WorkerId{0}, 128, GradientId{5});
  learner.discard(GradientId{5});
  CHECK_THROWS_AS(learner.apply(ServerId{0}, {&unknown, 1}, {0.1, 0.9}), ProgrammingError);
  CHECK_THROWS_AS(learner.discard(GradientId{5}), ProgrammingError);
  CHECK_THROWS_AS(learner.compute(WorkerId{2}, 128, GradientId{6}), ProgrammingError);
}

TEST_CASE("a staleness penalty far more uncertain than it is large is on average that of the mean run") {
  // Fitted to few runs the deviation of the penalty's factor came out as 107: cut off at zero its mean was
  // 43, not 1.
  for (const double spread : {0.3, 1.0}) {
    INFO(spread);
    constexpr int draws = 20000;
    double sum = 0.0;
    double squares = 0.0;
    for (std::uint32_t r = 0; r < draws; ++r) {
      const double factor = draw_run_effects({0.01, spread, 0.2}, {3, r}).penalty_factor;
      CHECK(factor >= 0.0);
      sum += factor;
      squares += (factor - 1.0) * (factor - 1.0);
    }
    // mean 1 within four standard errors, standard deviation the spread
    CHECK(std::abs(sum / draws - 1.0) < 4.0 * spread / std::sqrt(draws));
    CHECK(std::sqrt(squares / draws) == doctest::Approx(spread).epsilon(0.10));
  }
}

TEST_CASE("run effects have the spread asked for") {
  constexpr int draws = 4000;
  double sum = 0.0;
  double squares = 0.0;
  for (std::uint32_t r = 0; r < draws; ++r) {
    const double offset = draw_run_effects({0.01, 0.3, 0.2}, {3, r}).ceiling_offset;
    sum += offset;
    squares += offset * offset;
  }
  CHECK(std::abs(sum / draws) < 4.0 * 0.01 / std::sqrt(draws));
  CHECK(std::sqrt(squares / draws) == doctest::Approx(0.01).epsilon(0.05));
}

TEST_CASE("evaluation noise grows with the fluctuation and has a least value") {
  const EvaluationNoise noise{2.0, 2.0, 0.001};
  CHECK(noise.deviation(0.0) == 0.001);
  CHECK(noise.deviation(0.01) == 0.001);
  CHECK(noise.deviation(0.1) == doctest::Approx(0.02));
}

TEST_CASE("a learner file read back is the model that was written") {
  StatisticalModel model = small_model();
  model.source = LearnerSource::recorded;
  model.identity = {.network = "small-cnn", .parameter_count = 11162, .dataset = "cifar10"};
  model.fitted_on = {"setup/bsp", "setup/asp"};
  model.command = "paceline fit recorded";
  model.members = {model.values, model.values};
  model.model_error = ModelError{0.003, 0.1, 0.2};
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  write_file_atomically(file, statistical_model_json(model));
  const StatisticalModel back = read_statistical_model(file);
  CHECK(back.values == model.values);
  CHECK(back.members == model.members);
  CHECK(back.model_error->speed == 0.1);
  CHECK(back.fitted_on == model.fitted_on);
  CHECK(to_text(back.identity) == "small-cnn (11162 parameters) on cifar10 (10 classes)");
  CHECK(statistical_model_json(back) == statistical_model_json(model));
}

TEST_CASE("an error on policies not fitted that is unknown is not 0, nor in older files that say 0") {
  StatisticalModel model = small_model();
  model.members = {model.values};
  CHECK_FALSE(model.model_error);
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  std::string text = statistical_model_json(model);
  write_file_atomically(file, text);
  CHECK_FALSE(read_statistical_model(file).model_error);
  const std::string null = "\"model_error\": null";
  REQUIRE(text.find(null) != std::string::npos);
  text.replace(text.find(null), null.size(),
               R"("model_error": {"final_accuracy": 0, "speed": 0, "noise": 0})");
  write_file_atomically(file, text);
  CHECK(read_statistical_model(file).model_error);
  text.replace(text.find("\"version\": 7"), 12, "\"version\": 6");
  write_file_atomically(file, text);
  CHECK_FALSE(read_statistical_model(file).model_error);
  // Nothing unknown is drawn.
  CHECK(draw_fit(0, std::nullopt, {5, 0}).speed_factor == 1.0);
}

TEST_CASE("a learner file of version 4 has no members, and a member lacks no parameter") {
  StatisticalModel model = small_model();
  model.members = {model.values};
  std::string text = statistical_model_json(model);
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  const std::string version = "\"version\": 7";
  std::string before = text;
  write_file_atomically(file, before.replace(before.find(version), version.size(), "\"version\": 4"));
  CHECK(read_statistical_model(file).members.empty());
  model.members.front().pop_back();
  write_file_atomically(file, statistical_model_json(model));
  CHECK(message_of(file.string()).find("members") != std::string::npos);
}

TEST_CASE("a learner file of version 2, with the names it had then, is the same model") {
  StatisticalModel model = small_model();
  model.values.back() = drift_parameter.lower;  // of which it knew nothing
  std::string text = statistical_model_json(model);
  const auto put = [&](const std::string& now, const std::string& before) {
    std::size_t places = 0;
    for (std::size_t at = text.find(now); at != std::string::npos; at = text.find(now), ++places)
      text.replace(at, now.size(), before);
    REQUIRE(places > 0);
  };
  put("\"version\": 7", "\"version\": 2");
  put("\"form\":", "\"classes\": 10, \"form_name\":");
  put("form_name", "form");
  put("\"staleness_penalty\"", "\"damage\"");  // of the parameters and of the spread
  put("\"critical_period_exponent\"", "\"memory_exponent\"");
  put("\"noise_accuracy\"", "\"heat_accuracy\"");
  put("\"noise_staleness_exponent\"", "\"heat_exponent\"");
  put("\"noise_temperature_exponent\"", "\"cooling_exponent\"");
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  write_file_atomically(file, text);
  const StatisticalModel back = read_statistical_model(file);
  CHECK(back.values == model.values);
  CHECK(statistical_model_json(back) == statistical_model_json(model));
}

TEST_CASE("a broken learner file is refused with file and field") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  const std::string good = statistical_model_json(small_model());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_file_atomically(file, text.replace(at, from.size(), to));
    return message_of(file.string());
  };
  CHECK(with("\"relaxation\"", "\"guess\"").find("form: there is no form \"guess\"") != std::string::npos);
  CHECK(with("\"relaxation\"", "\"efficiency\"").find("the form \"efficiency\" was removed; fit") !=
        std::string::npos);
  CHECK(with("\"version\": 7", "\"version\": 1").find("version: must be") != std::string::npos);
  CHECK(with("\"assumed\"", "\"recorded\"").find("fitted_on: a recorded learner names the runs") !=
        std::string::npos);
  CHECK(with("\"source\": \"assumed\",\n", "").find("source: is missing") != std::string::npos);
  CHECK(with("\"assumed\",\n  \"fitted_on\": []", "\"recorded\", \"fitted_on\": [\"bsp\"]")
            .find("command: is missing") != std::string::npos);
  CHECK(with("\"ceiling\": 0.9", "\"ceiling\": 7").find("parameters.ceiling: must be within") !=
        std::string::npos);
  CHECK(with("\"slowing\"", "\"slow\"").find("parameters.slowing: is missing") != std::string::npos);
  CHECK(with("{", "[").find("is not JSON") != std::string::npos);
}

TEST_CASE("each fitted range stands beside what is asked, with one word") {
  const StatisticalModel model = small_model();
  LearnerValidity use{.workers_min = 8.0,
                      .workers_max = 8.0,
                      .update_samples_min = 128.0,
                      .update_samples_max = 1024.0,
                      .staleness_max = 7.0,
                      .learning_rate_max = 0.8,
                      .samples_max = 1e6,
                      .momentum_min = 0.9,
                      .momentum_max = 0.9};
  for (const ValidityRow& row : validity_rows(model, use)) CHECK(row.validity() == Validity::inside);
  use.workers_min = use.workers_max = 16.0;
  use.staleness_max = 15.0;
  use.learning_rate_max = 1.6;
  use.momentum_min = 0.0;
  const std::vector<ValidityRow> rows = validity_rows(model, use);
  REQUIRE(rows.size() == 6);
  // 16 of 4 to 8 workers; 15 of at most 12 updates is beyond by 1.25; a rate of 1.6 of 0.8; momentum 0 of
  // 0.9.
  const std::vector<Validity> expected{Validity::outside, Validity::inside,  Validity::near,
                                       Validity::outside, Validity::outside, Validity::inside};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].quantity);
    CHECK(rows[i].validity() == expected[i]);
  }
}

TEST_CASE("each run draws one of the members, the same whatever is trained, and all of them are drawn") {
  // Two members that differ in the ceiling only, without run effects: a run ends at one or the other.
  StatisticalModel model = small_model();
  model.spread = {};
  const auto ceiling = [&](double value) {
    std::vector<double> member = model.values;
    member.front() = value;
    return member;
  };
  model.members = {ceiling(0.7), ceiling(0.8)};
  const auto end_of = [&](std::uint32_t replication, std::uint64_t updates) {
    const std::unique_ptr<LearningForm> form = make_run(model, {5, replication});
    const SeenGradient gradient{1e6, 1.0, 0.0};
    for (std::uint64_t u = 0; u < updates; ++u) form->advance({{&gradient, 1}, 1.0, 0.0});
    return form->read().accuracy;
  };
  int high = 0;
  for (std::uint32_t r = 0; r < 200; ++r) {
    const DrawnFit drawn = draw_fit(model.members.size(), model.model_error, {5, r});
    REQUIRE(drawn.member.has_value());
    high += static_cast<int>(*drawn.member);
    // Little trained or much: the draw belongs to the seed.
    const double expected = *drawn.member == 1 ? 0.8 : 0.7;
    if (r < 5) CHECK(end_of(r, 5000) == doctest::Approx(expected).epsilon(0.02));
  }
  // Binomial(200, 1/2): beyond ± 4 standard deviations of 7.07 once in 16,000.
  CHECK(high > 100 - 29);
  CHECK(high < 100 + 29);
}

TEST_CASE("the model's error moves the end and the speed of a run by as much as the file says") {
  const ModelError error{0.01, 0.2, 0.3};
  double offsets = 0.0;
  double speeds = 0.0;
  double noises = 0.0;
  constexpr std::uint32_t runs = 2000;
  for (std::uint32_t r = 0; r < runs; ++r) {
    const DrawnFit drawn = draw_fit(0, error, {5, r});
    CHECK_FALSE(drawn.member.has_value());
    offsets += drawn.ceiling_offset * drawn.ceiling_offset / runs;
    speeds += std::log(drawn.speed_factor) * std::log(drawn.speed_factor) / runs;
    noises += std::log(drawn.noise_factor) * std::log(drawn.noise_factor) / runs;
  }
  // A variance of 2,000 draws is known within 3.2 %: four times that.
  CHECK(std::sqrt(offsets) == doctest::Approx(0.01).epsilon(0.07));
  CHECK(std::sqrt(speeds) == doctest::Approx(0.2).epsilon(0.07));
  CHECK(std::sqrt(noises) == doctest::Approx(0.3).epsilon(0.07));
  // Without error nothing moves.
  CHECK(draw_fit(0, {}, {5, 0}).ceiling_offset == 0.0);
  CHECK(draw_fit(0, {}, {5, 0}).speed_factor == 1.0);
}
