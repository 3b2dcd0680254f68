#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "sim/learning/learning_form.hpp"

using namespace paceline;

namespace {

// A form whose parameters are named one by one; the others keep their initial values.
struct Named {
  std::string_view name;
  double value;
};
std::unique_ptr<LearningForm> make(std::string_view form, const std::vector<Named>& chosen,
                                   const FormSetting& setting = {}) {
  const FormDescription* description = find_form(form);
  REQUIRE(description != nullptr);
  std::vector<double> values;
  for (const FormParameter& parameter : description->parameters) values.push_back(parameter.initial);
  for (const Named& named : chosen) {
    bool known = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (description->parameters[i].name != named.name) continue;
      values[i] = named.value;
      known = true;
    }
    REQUIRE(known);
  }
  return description->make(values, setting);
}

void advance(LearningForm& form, int updates, SeenGradient gradient, double rate, double momentum = 0.0) {
  for (int i = 0; i < updates; ++i) form.advance({{&gradient, 1}, rate, momentum});
}

// One unit of progress takes 1000 samples, noise vanishes, temperature 1 at rate 100 on 100 samples.
std::vector<Named> plain_relaxation() {
  return {{"ceiling", 0.9},
          {"staleness_penalty", 0.01},
          {"critical_period_exponent", 1.0},
          {"progress_samples", 1000.0},
          {"onset_exponent", 1.0},
          {"slowing", 0.5},
          {"rate_exponent", 0.0},
          {"noise_accuracy", 1e-9},
          {"floor_loss", 1e-9},
          {"exposure_limit", 1e3},
          {"reference_temperature", 1.0},
          {"relaxation_samples", 1e3}};
}

// The same with noise that falls with the square of the temperature and anneals by 0.3 % in a unit of work.
std::vector<Named> hot_relaxation(double exposure_limit) {
  std::vector<Named> named = plain_relaxation();
  named.push_back({"noise_temperature_exponent", 2.0});
  named.push_back({"annealing", 0.003});
  for (Named& parameter : named) {
    if (parameter.name == "noise_accuracy") parameter.value = 0.1;
    if (parameter.name == "exposure_limit") parameter.value = exposure_limit;
  }
  return named;
}

}  // namespace

TEST_CASE("every form starts at chance and its parameters start within their bounds") {
  for (const FormDescription& form : learning_forms()) {
    INFO(form.name);
    for (const FormParameter& parameter : form.parameters) {
      INFO(parameter.name);
      CHECK(parameter.lower <= parameter.initial);
      CHECK(parameter.initial <= parameter.upper);
      CHECK((!parameter.logarithmic || parameter.lower > 0.0));
    }
    const auto made = make(form.name, {}, {.classes = 100, .effects = {}});
    // accuracy = 1 / classes, loss = ln(classes), up to the floor of forms that carry one from the start
    CHECK(made->read().accuracy == doctest::Approx(0.01).epsilon(0.02));
    CHECK(made->read().loss >= std::log(100.0) - 1e-9);
    CHECK(made->read().loss <= std::log(100.0) + 0.2);
  }
}

TEST_CASE("relaxation: without staleness what is left to learn falls exponentially with samples") {
  const auto form = make("relaxation", plain_relaxation());
  advance(*form, 20, {100.0, 1.0, 0.0}, 100.0);
  // S = exp(-samples / progress_samples), accuracy = 0.1 + (ceiling - 0.1) · (1 - S), loss = ln(10) · S
  const double left = std::exp(-2.0);
  CHECK(form->read().accuracy == doctest::Approx(0.1 + 0.8 * (1.0 - left)).epsilon(1e-6));
  CHECK(form->read().loss == doctest::Approx(std::log(10.0) * left).epsilon(1e-6));
}

TEST_CASE("relaxation: staleness slows progress by 1 / (1 + slowing · exposure)") {
  const auto form = make("relaxation", plain_relaxation());
  // exposure x = tau · weight · rate / (1 - momentum) = 3 · 1 · 0.1 / 0.1 = 3: progress at 1 / (1 +
  // 0.5·3) = 0.4
  advance(*form, 20, {100.0, 1.0, 3.0}, 0.1, 0.9);
  CHECK(form->read().loss == doctest::Approx(std::log(10.0) * std::exp(-0.4 * 2.0)).epsilon(1e-6));
}

TEST_CASE("every form: local steps slow progress by 1 / (1 + drift · h · (k - 1) · rate²)") {
  // Two workers, three steps after they met, at 0.05 / (1 - 0.9) = 0.5: a drift of 3 · 1 · 0.25. Twice that
  // slows 1000 samples to 1000 / 2.5. At h = 0, and for a worker alone, nothing is lost.
  const auto loss_after = [](std::string_view name, std::vector<Named> named, double local_steps,
                             std::size_t workers) {
    named.push_back({"drift", 2.0});
    const auto form = make(name, named);
    const std::vector<SeenGradient> gradients(
        workers,
        {100.0 / static_cast<double>(workers), 1.0 / static_cast<double>(workers), 0.0, local_steps});
    for (int update = 0; update < 10; ++update) form->advance({gradients, 0.05, 0.9});
    return form->read().loss;
  };
  const auto relaxation = [&](double local_steps, std::size_t workers) {
    return loss_after("relaxation", plain_relaxation(), local_steps, workers);
  };
  CHECK(relaxation(3.0, 2) == doctest::Approx(std::log(10.0) * std::exp(-1.0 / 2.5)).epsilon(1e-6));
  CHECK(relaxation(0.0, 2) == relaxation(0.0, 1));
  CHECK(relaxation(3.0, 1) == relaxation(0.0, 1));
  // S = (1 + E / 1000)^-1 with E = 1000 / 2.5
  const std::vector<Named> power{
      {"scale_samples", 1000.0}, {"exponent", 1.0}, {"floor_loss", 1e-5}, {"reference_temperature", 1e3}};
  CHECK(loss_after("power-law", power, 3.0, 2) == doctest::Approx(std::log(10.0) / 1.4).epsilon(1e-4));
}

TEST_CASE("relaxation: staleness throughout takes penalty · exposure from the final accuracy") {
  const auto form = make("relaxation", plain_relaxation());
  advance(*form, 2000, {100.0, 1.0, 3.0}, 0.1, 0.9);
  // D = staleness_penalty · x · (1 - S) with S -> 0
  CHECK(form->read().accuracy == doctest::Approx(0.9 - 0.01 * 3.0).epsilon(1e-6));
}

TEST_CASE("relaxation: the order of stale and fresh work matters, and the first decides") {
  const auto stale_first = make("relaxation", plain_relaxation());
  advance(*stale_first, 1000, {100.0, 1.0, 3.0}, 0.1, 0.9);
  advance(*stale_first, 1000, {100.0, 1.0, 0.0}, 0.1, 0.9);
  const auto fresh_first = make("relaxation", plain_relaxation());
  advance(*fresh_first, 1000, {100.0, 1.0, 0.0}, 0.1, 0.9);
  advance(*fresh_first, 1000, {100.0, 1.0, 3.0}, 0.1, 0.9);
  // After 1000 updates S is exp(-40) or less: everything is remembered from the first half.
  CHECK(stale_first->read().accuracy == doctest::Approx(0.87).epsilon(1e-6));
  CHECK(fresh_first->read().accuracy == doctest::Approx(0.90).epsilon(1e-6));
}

TEST_CASE("relaxation: a drop of the learning rate removes noise by its temperature exponent") {
  const auto form = make("relaxation", hot_relaxation(1e3));
  advance(*form, 3000, {100.0, 1.0, 0.0}, 100.0);
  const double hot = form->read().fluctuation;
  advance(*form, 3000, {100.0, 1.0, 0.0}, 10.0);
  // without staleness fluctuation ~ t^2 · exp(-annealing · U) with U = 300, then 600
  CHECK(form->read().fluctuation / hot == doctest::Approx(0.01 * std::exp(-0.003 * 300.0)).epsilon(1e-4));
}

TEST_CASE("relaxation: noise anneals with the samples trained on, whether they were stale or not") {
  for (const double staleness : {0.0, 5.0}) {
    INFO(staleness);
    const auto form = make("relaxation", hot_relaxation(1e9));
    // Temperature 1 at rate 10 · (1 - momentum 0.9) a sample; the limit of exposure is far.
    advance(*form, 40000, {1.0, 1.0, staleness}, 0.1, 0.9);
    const double early = form->read().fluctuation;
    advance(*form, 40000, {1.0, 1.0, staleness}, 0.1, 0.9);
    // U grows by 40000 samples / 1000, though a stale job learns 3.5 times more slowly
    CHECK(form->read().fluctuation / early == doctest::Approx(std::exp(-0.003 * 40.0)).epsilon(1e-3));
  }
}

TEST_CASE("relaxation: single evaluations scatter without bound towards the limit of exposure") {
  const auto fresh = make("relaxation", hot_relaxation(10.0));
  const auto stale = make("relaxation", hot_relaxation(10.0));
  advance(*fresh, 60000, {1.0, 1.0, 0.0}, 0.1, 0.9);
  advance(*stale, 60000, {1.0, 1.0, 5.0}, 0.1, 0.9);
  // h = noise_accuracy · t^2 / (1 - x / limit): x = 5 · 0.1 / 0.1 = 5 of 10 doubles it
  CHECK(stale->read().fluctuation / fresh->read().fluctuation == doctest::Approx(2.0).epsilon(1e-3));
}

TEST_CASE("relaxation: beyond the exposure limit the job diverges, below it does not") {
  std::vector<Named> named = plain_relaxation();
  for (Named& parameter : named)
    if (parameter.name == "exposure_limit") parameter.value = 10.0;
  const auto above = make("relaxation", named);
  advance(*above, 5000, {100.0, 1.0, 11.0}, 0.1, 0.9);
  CHECK_FALSE(std::isfinite(above->read().loss));
  CHECK(above->read().accuracy == doctest::Approx(0.1));
  const auto below = make("relaxation", named);
  advance(*below, 5000, {100.0, 1.0, 9.0}, 0.1, 0.9);
  CHECK(std::isfinite(below->read().loss));
}

TEST_CASE("power law: effective samples are discounted by 1 + discount · staleness") {
  const auto form = make("power-law", {{"scale_samples", 1000.0},
                                       {"exponent", 2.0},
                                       {"staleness_discount", 0.5},
                                       {"floor_loss", 1e-5},
                                       {"reference_temperature", 1e-3}});
  advance(*form, 40, {100.0, 1.0, 2.0}, 0.1);
  // E = 4000 / (1 + 0.5·2) = 2000, S = (1 + 2)^-2
  CHECK(form->read().loss == doctest::Approx(std::log(10.0) / 9.0).epsilon(1e-4));
}

TEST_CASE("relaxation: half the weight at twice the staleness is the same exposure") {
  const auto whole = make("relaxation", plain_relaxation());
  advance(*whole, 10, {100.0, 1.0, 4.0}, 0.1, 0.9);
  const auto half = make("relaxation", plain_relaxation());
  advance(*half, 10, {100.0, 0.5, 8.0}, 0.1, 0.9);
  CHECK(half->read().accuracy == doctest::Approx(whole->read().accuracy));
  CHECK(half->read().loss == doctest::Approx(whole->read().loss));
}

TEST_CASE("relaxation: one update far beyond the exposure limit is not divergence, the mean over many is") {
  std::vector<Named> named = plain_relaxation();
  for (Named& parameter : named)
    if (parameter.name == "exposure_limit") parameter.value = 10.0;
  // Exposure 500 once, in a mean over 100 updates: 5, and no more than the loss of the beginning.
  const auto form = make("relaxation", named);
  advance(*form, 1, {100.0, 1.0, 500.0}, 0.1, 0.9);
  CHECK(form->read().loss <= std::log(10.0) + 1e-6);
}

TEST_CASE(
    "relaxation: a rate so high that noise costs all is survived for 100 updates, and diverges in 400") {
  // A rate of 1 with momentum 0.9 in updates of 1,000: 10 times the reference temperature, where noise costs
  // .4 · 10^1.3 = 8. g follows within one update, up and down.
  const auto after = [](int updates_too_high) {
    const std::vector<Named> named = {{"progress_samples", 1e5},      {"noise_accuracy", 0.4},
                                      {"annealing", 0.003},           {"relaxation_samples", 1000.0},
                                      {"exposure_limit", 1e3},        {"floor_loss", 1e-5},
                                      {"reference_temperature", 1e-3}};
    const auto form = make("relaxation", named);
    advance(*form, updates_too_high, {1000.0, 1.0, 0.0}, 1.0, 0.9);
    CHECK(form->read().accuracy == doctest::Approx(0.1));
    CHECK(form->read().fluctuation == 0.0);
    advance(*form, 2000, {1000.0, 1.0, 0.0}, 0.01, 0.9);
    return form->read();
  };
  CHECK(std::isfinite(after(100).loss));
  CHECK(after(100).accuracy > 0.5);
  CHECK_FALSE(std::isfinite(after(400).loss));
}

TEST_CASE("relaxation: beyond the noise batch a larger batch brings less for each sample") {
  // b_noise = n_ref = 100: a sample in an update of 300 brings (1 + 1) / (1 + 3) = 1/2 of one in an
  // update of 100.
  std::vector<Named> named = plain_relaxation();
  named.push_back({"noise_batch_samples", 100.0});
  named.push_back({"reference_samples", 100.0});
  const auto small = make("relaxation", named);
  advance(*small, 3, {100.0, 1.0, 0.0}, 100.0);
  const auto large = make("relaxation", named);
  advance(*large, 2, {300.0, 1.0, 0.0}, 300.0);
  CHECK(large->read().accuracy == doctest::Approx(small->read().accuracy));
}
