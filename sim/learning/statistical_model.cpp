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
constexpr std::int64_t format_version = 7;
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

double checked_value(const FormParameter& parameter, const JsonField& field) {
  const double value = field.non_negative();
  if (value < parameter.lower || value > parameter.upper)
    field.fail(fmt::format("must be within {:g} … {:g}, is {:g}", parameter.lower, parameter.upper, value));
  return value;
}

std::vector<double> values_of(const FormDescription& form, const JsonField& parameters,
                              std::int64_t version) {
  std::vector<double> values;
  for (const FormParameter& parameter : form.parameters) {
    values.push_back(version < parameter.since_version
                         ? parameter.lower
                         : checked_value(parameter, member_of(parameters, parameter.name, version)));
  }
  return values;
}

// Parameters that came with a later version stand at the end.
std::vector<std::vector<double>> members_of(const FormDescription& form, const JsonField& members,
                                            std::int64_t version) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      form.parameters, [&](const FormParameter& parameter) { return version >= parameter.since_version; }));
  std::vector<std::vector<double>> all;
  for (const JsonField& member : members.elements()) {
    const std::vector<JsonField> fields = member.elements();
    if (fields.size() != count)
      member.fail(fmt::format("must have {} parameters, has {}", count, fields.size()));
    all.emplace_back();
    for (std::size_t i = 0; i < form.parameters.size(); ++i)
      all.back().push_back(i < count ? checked_value(form.parameters[i], fields[i])
                                     : form.parameters[i].lower);
  }
  return all;
}

enum class RangeOf { counts, positive, non_negative };
struct ValidRange {
  std::string_view member;         // [least, most], or the most alone
  std::string_view what;           // as outputs name it
  double LearnerValidity::*least;  // null: 0
  double LearnerValidity::*most;
  RangeOf values;
  std::int64_t since_version = oldest_version;  // of the file; before that 0
};
constexpr std::array valid_ranges{
    ValidRange{"workers", "workers", &LearnerValidity::workers_min, &LearnerValidity::workers_max,
               RangeOf::counts},
    ValidRange{"update_samples", "update (samples)", &LearnerValidity::update_samples_min,
               &LearnerValidity::update_samples_max, RangeOf::positive},
    ValidRange{"staleness_max", staleness_quantity, nullptr, &LearnerValidity::staleness_max,
               RangeOf::non_negative},
    ValidRange{"learning_rate_max", "learning rate", nullptr, &LearnerValidity::learning_rate_max,
               RangeOf::positive},
    ValidRange{"momentum", "momentum", &LearnerValidity::momentum_min, &LearnerValidity::momentum_max,
               RangeOf::non_negative},
    ValidRange{"samples_max", "workload (samples)", nullptr, &LearnerValidity::samples_max,
               RangeOf::positive},
    ValidRange{"local_steps_max", "local steps", nullptr, &LearnerValidity::local_steps_max,
               RangeOf::non_negative, drift_parameter.since_version}};

double end_of(const JsonField& field, RangeOf values) {
  if (values == RangeOf::counts) return static_cast<double>(field.integer(1));
  return values == RangeOf::positive ? field.positive() : field.non_negative();
}

LearnerValidity validity_of(const JsonField& field, std::int64_t version) {
  LearnerValidity validity;
  for (const ValidRange& range : valid_ranges) {
    if (version < range.since_version) continue;
    const JsonField member = field.member(std::string(range.member));
    if (range.least == nullptr) {
      validity.*range.most = end_of(member, range.values);
      continue;
    }
    const std::vector<JsonField> ends = member.elements();
    if (ends.size() != 2) member.fail("must be [minimum, maximum]");
    validity.*range.least = end_of(ends[0], range.values);
    validity.*range.most = end_of(ends[1], range.values);
    if (validity.*range.most < validity.*range.least) member.fail("must be [minimum, maximum]");
  }
  return validity;
}

nlohmann::ordered_json validity_json(const LearnerValidity& validity) {
  nlohmann::ordered_json json;
  for (const ValidRange& range : valid_ranges) {
    const auto end = [&](double LearnerValidity::*member) {
      const double value = validity.*member;
      return range.values == RangeOf::counts ? nlohmann::ordered_json(static_cast<std::int64_t>(value))
                                             : nlohmann::ordered_json(value);
    };
    json[std::string(range.member)] =
        range.least == nullptr ? end(range.most)
                               : nlohmann::ordered_json::array({end(range.least), end(range.most)});
  }
  return json;
}

std::optional<ModelError> error_of(const JsonField& field, std::int64_t version) {
  if (field.is_null()) return std::nullopt;
  const ModelError error{field.member("final_accuracy").non_negative(), field.member("speed").non_negative(),
                         field.has("noise") ? field.member("noise").non_negative() : 0.0};
  const bool says_nothing = error.final_accuracy == 0.0 && error.speed == 0.0 && error.noise == 0.0;
  if (version < 7 && says_nothing) return std::nullopt;
  return error;
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
  const JsonField classes = version < 4 ? root.member("classes") : root.member("dataset").member("classes");
  model.classes = static_cast<int>(classes.integer(2, 1'000'000));
  if (version >= 4) model.identity = read_identity(root);
  model.identity.classes = model.classes;
  const JsonField spread = root.member("spread");
  model.spread = {spread.member("ceiling").non_negative(),
                  member_of(spread, "staleness_penalty", version).non_negative(),
                  spread.member("speed").non_negative()};
  const JsonField noise = root.member("evaluation_noise");
  model.noise = {noise.member("scale").non_negative(), noise.member("exponent").non_negative(),
                 noise.member("least").non_negative()};
  if (version >= 5) {
    model.members = members_of(*model.form, root.member("members"), version);
    model.model_error = error_of(root.member("model_error"), version);
  }
  model.validity = validity_of(root.member("validity"), version);
  return model;
}

}  // namespace

double EvaluationNoise::deviation(double fluctuation) const {
  return fluctuation > 0.0 ? std::max(least, scale * std::pow(fluctuation, exponent)) : least;
}

double EvaluationNoise::evaluated(const FormReading& reading, RandomStream& random) const {
  constexpr double shape = 16.0;
  const double z = random.normal(0.0, 1.0);
  const double root = 1.0 - 1.0 / (9.0 * shape) - z / (3.0 * std::sqrt(shape));
  const double error = std::sqrt(shape) * (1.0 - root * root * root);
  if (!std::isfinite(reading.loss)) return reading.accuracy;
  const double highest = std::clamp(reading.reachable + 3.0 * least, 0.0, 1.0);
  return std::clamp(reading.accuracy + deviation(reading.fluctuation) * error, 0.0, highest);
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
  const Identity& identity = model.identity;
  const auto or_null = [](const auto& known) {
    return known ? nlohmann::ordered_json(*known) : nlohmann::ordered_json(nullptr);
  };
  json["network"] = {{"name", or_null(identity.network)},
                     {"parameter_count", or_null(identity.parameter_count)}};
  json["dataset"] = {{"name", or_null(identity.dataset)}, {"classes", model.classes}};
  json["source"] = model.source == LearnerSource::recorded ? "recorded" : "assumed";
  json["fitted_on"] = model.fitted_on;
  if (!model.command.empty()) json["command"] = model.command;
  json["form"] = model.form->name;
  for (std::size_t i = 0; i < model.values.size(); ++i)
    json["parameters"][std::string(model.form->parameters[i].name)] = model.values[i];
  json["spread"] = {{"ceiling", model.spread.ceiling},
                    {"staleness_penalty", model.spread.staleness_penalty},
                    {"speed", model.spread.speed}};
  json["evaluation_noise"] = {
      {"scale", model.noise.scale}, {"exponent", model.noise.exponent}, {"least", model.noise.least}};
  json["members"] = model.members;
  json["model_error"] = nullptr;
  if (const std::optional<ModelError>& error = model.model_error)
    json["model_error"] = {
        {"final_accuracy", error->final_accuracy}, {"speed", error->speed}, {"noise", error->noise}};
  json["validity"] = validity_json(model.validity);
  return json.dump(2) + "\n";
}

std::vector<ValidityRow> validity_rows(const StatisticalModel& model, const LearnerValidity& use) {
  std::vector<ValidityRow> rows;
  for (const ValidRange& range : valid_ranges) {
    const bool concerns_neither = model.validity.*range.most == 0.0 && use.*range.most == 0.0;
    if (concerns_neither && range.since_version > oldest_version) continue;
    const auto of = [&](const LearnerValidity& ranges) {
      return ValueRange{range.least == nullptr ? 0.0 : ranges.*range.least, ranges.*range.most};
    };
    rows.push_back(
        {std::string(range.what), model.path.empty() ? model.name : model.path, of(model.validity), of(use)});
  }
  return rows;
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

DrawnFit draw_fit(std::size_t members, const std::optional<ModelError>& error, Seed seed) {
  DrawnFit fit;
  if (members > 0) fit.member = RandomStream(seed, Purpose::learning_curve, 3).below(members);
  if (!error) return fit;
  RandomStream random(seed, Purpose::learning_curve, 4);
  fit.ceiling_offset = random.normal(0.0, error->final_accuracy);
  fit.speed_factor = std::exp(random.normal(0.0, error->speed));
  fit.noise_factor = std::exp(random.normal(0.0, error->noise));
  return fit;
}

RunEffects with_fit(RunEffects effects, const DrawnFit& fit) {
  effects.ceiling_offset += fit.ceiling_offset;
  effects.speed_factor *= fit.speed_factor;
  effects.noise_factor *= fit.noise_factor;
  return effects;
}

std::unique_ptr<LearningForm> make_run(const StatisticalModel& model, Seed seed) {
  const DrawnFit fit = draw_fit(model.members.size(), model.model_error, seed);
  return model.form->make(
      fit.member ? model.members[*fit.member] : model.values,
      {.classes = model.classes, .effects = with_fit(draw_run_effects(model.spread, seed), fit)});
}

}  // namespace paceline
