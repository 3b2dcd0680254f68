#include "sim/learning/statistical_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/json_field.hpp"

namespace paceline {
namespace {

constexpr const char* format_name = "paceline-learner";
constexpr std::int64_t format_version = 3;
constexpr std::int64_t oldest_version = 2;
constexpr const char* hint =
    "`paceline fit` writes learner files; fit the runs again if this one is of another version";

// What files of version 2 call a member.
struct Renamed {
  std::string_view name;
  std::string_view before;
};
constexpr std::array renamed{Renamed{"staleness_penalty", "damage"},
                             Renamed{"critical_period_exponent", "memory_exponent"},
                             Renamed{"noise_accuracy", "heat_accuracy"},
                             Renamed{"noise_staleness_exponent", "heat_exponent"},
                             Renamed{"noise_temperature_exponent", "cooling_exponent"},
                             Renamed{"staleness_discount", "penalty"},
                             Renamed{"noise_exponent", "heat_exponent"}};

JsonField member_of(const JsonField& field, std::string_view name, std::int64_t version) {
  const auto found = std::ranges::find(renamed, name, &Renamed::name);
  return field.member(std::string(version < 3 && found != renamed.end() ? found->before : name));
}

LearnerSource source_of(const JsonField& field) {
  const std::string text = field.text();
  if (text == "recorded") return LearnerSource::recorded;
  if (text != "assumed") field.fail(fmt::format("must be \"recorded\" or \"assumed\", is \"{}\"", text));
  return LearnerSource::assumed;
}

const FormDescription* form_of(const JsonField& field) {
  const std::string name = field.text();
  if (name == "efficiency")
    field.fail(
        fmt::format("the form \"efficiency\" was removed; fit the runs again with one of {}", form_names()));
  const FormDescription* form = find_form(name);
  if (form == nullptr) field.fail(fmt::format("there is no form \"{}\"; there are {}", name, form_names()));
  return form;
}

std::vector<double> values_of(const FormDescription& form, const JsonField& parameters,
                              std::int64_t version) {
  std::vector<double> values;
  for (const FormParameter& parameter : form.parameters) {
    const JsonField field = member_of(parameters, parameter.name, version);
    const double value = field.non_negative();
    if (value < parameter.lower || value > parameter.upper)
      field.fail(fmt::format("must be within {:g} … {:g}, is {:g}", parameter.lower, parameter.upper, value));
    values.push_back(value);
  }
  return values;
}

std::vector<JsonField> range_of(const JsonField& field) {
  std::vector<JsonField> ends = field.elements();
  if (ends.size() != 2) field.fail("must be [minimum, maximum]");
  return ends;
}

LearnerValidity validity_of(const JsonField& field) {
  LearnerValidity validity;
  const std::vector<JsonField> workers = range_of(field.member("workers"));
  validity.workers_min = workers[0].integer(1);
  validity.workers_max = workers[1].integer(validity.workers_min);
  const std::vector<JsonField> samples = range_of(field.member("update_samples"));
  validity.update_samples_min = samples[0].positive();
  validity.update_samples_max = samples[1].positive();
  validity.staleness_max = field.member("staleness_max").non_negative();
  const std::vector<JsonField> momentum = range_of(field.member("momentum"));
  validity.momentum_min = momentum[0].non_negative();
  validity.momentum_max = momentum[1].non_negative();
  if (validity.momentum_max < validity.momentum_min)
    field.member("momentum").fail("must be [minimum, maximum]");
  validity.learning_rate_max = field.member("learning_rate_max").positive();
  validity.samples_max = field.member("samples_max").positive();
  return validity;
}

StatisticalModel model_of(const JsonField& root, const std::string& path) {
  if (root.member("format").text() != format_name) root.member("format").fail("is not a paceline learner");
  const std::int64_t version = root.member("version").integer(oldest_version, format_version);
  StatisticalModel model;
  model.path = path;
  model.name = root.member("name").text();
  model.source = source_of(root.member("source"));
  for (const JsonField& group : root.member("fitted_on").elements()) model.fitted_on.push_back(group.text());
  if (model.source == LearnerSource::recorded && model.fitted_on.empty())
    root.member("fitted_on").fail("a recorded learner names the runs it was fitted on");
  if (model.source == LearnerSource::recorded) model.command = root.member("command").text();
  model.form = form_of(root.member("form"));
  model.values = values_of(*model.form, root.member("parameters"), version);
  model.classes = static_cast<int>(root.member("classes").integer(2, 1'000'000));
  const JsonField spread = root.member("spread");
  model.spread = {spread.member("ceiling").non_negative(),
                  member_of(spread, "staleness_penalty", version).non_negative(),
                  spread.member("speed").non_negative()};
  const JsonField noise = root.member("evaluation_noise");
  model.noise = {noise.member("scale").non_negative(), noise.member("exponent").non_negative(),
                 noise.member("least").non_negative()};
  model.validity = validity_of(root.member("validity"));
  return model;
}

}  // namespace

double EvaluationNoise::deviation(double fluctuation) const {
  return fluctuation > 0.0 ? std::max(least, scale * std::pow(fluctuation, exponent)) : least;
}

StatisticalModel read_statistical_model(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) throw UserError(fmt::format("{}: is not JSON", path.string()), hint);
  return model_of(JsonField(document, path.string(), hint), path.string());
}

std::string statistical_model_json(const StatisticalModel& model) {
  nlohmann::ordered_json json;
  json["format"] = format_name;
  json["version"] = format_version;
  json["name"] = model.name;
  json["source"] = model.source == LearnerSource::recorded ? "recorded" : "assumed";
  json["fitted_on"] = model.fitted_on;
  if (!model.command.empty()) json["command"] = model.command;
  json["form"] = model.form->name;
  for (std::size_t i = 0; i < model.values.size(); ++i)
    json["parameters"][std::string(model.form->parameters[i].name)] = model.values[i];
  json["classes"] = model.classes;
  json["spread"] = {{"ceiling", model.spread.ceiling},
                    {"staleness_penalty", model.spread.staleness_penalty},
                    {"speed", model.spread.speed}};
  json["evaluation_noise"] = {
      {"scale", model.noise.scale}, {"exponent", model.noise.exponent}, {"least", model.noise.least}};
  const LearnerValidity& validity = model.validity;
  json["validity"] = {{"workers", {validity.workers_min, validity.workers_max}},
                      {"update_samples", {validity.update_samples_min, validity.update_samples_max}},
                      {"staleness_max", validity.staleness_max},
                      {"learning_rate_max", validity.learning_rate_max},
                      {"momentum", {validity.momentum_min, validity.momentum_max}},
                      {"samples_max", validity.samples_max}};
  return json.dump(2) + "\n";
}

std::vector<std::string> outside_validity(const StatisticalModel& model, const LearnerUse& use) {
  const LearnerValidity& valid = model.validity;
  std::vector<std::string> notes;
  const auto outside = [&](const std::string& what, double least, double most, double allowed_least,
                           double allowed_most) {
    constexpr double rounding = 1e-9;
    if (least >= allowed_least * (1.0 - rounding) && most <= allowed_most * (1.0 + rounding)) return;
    notes.push_back(fmt::format("{}: fitted on {} of {:g} to {:g}, used with {:g} to {:g}: an extrapolation",
                                model.path.empty() ? model.name : model.path, what, allowed_least,
                                allowed_most, least, most));
  };
  outside("worker counts", static_cast<double>(use.workers), static_cast<double>(use.workers),
          static_cast<double>(valid.workers_min), static_cast<double>(valid.workers_max));
  outside("updates (samples)", use.update_samples_min, use.update_samples_max, valid.update_samples_min,
          valid.update_samples_max);
  outside("staleness (updates)", 0.0, use.staleness, 0.0, valid.staleness_max);
  outside("learning rates", 0.0, use.learning_rate_max, 0.0, valid.learning_rate_max);
  outside("momentum", use.momentum_min, use.momentum_max, valid.momentum_min, valid.momentum_max);
  outside("workloads (samples)", 0.0, use.samples, 0.0, valid.samples_max);
  return notes;
}

RunEffects run_effects(const RunSpread& spread, double z1, double z2) {
  const double variance = std::log1p(spread.staleness_penalty * spread.staleness_penalty);
  return {spread.ceiling * z1, std::exp(std::sqrt(variance) * z2 - 0.5 * variance),
          std::exp(-spread.speed * z2)};
}

RunEffects draw_run_effects(const RunSpread& spread, Seed seed) {
  RandomStream random(seed, Purpose::learning_curve, 0);
  const double z1 = random.normal(0.0, 1.0);
  const double z2 = random.normal(0.0, 1.0);
  return run_effects(spread, z1, z2);
}

}  // namespace paceline
