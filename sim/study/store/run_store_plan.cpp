// The plan of a store: what is to be run.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"
#include "sim/study/store/run_store.hpp"
#include "sim/study/store/run_store_sql.hpp"

namespace paceline {
namespace {

using json = nlohmann::json;
using sqlite::quoted_name;
using sqlite::Statement;
using sqlite::Transaction;

json facts_of(const PlannedPoint& point) {
  json facts = {{"replications", point.replications},
                {"seed", point.seed},
                {"cores", point.cores},
                {"workload_epochs", point.workload_epochs},
                {"epoch_samples", point.epoch_samples},
                {"policy", point.policy},
                {"learning_rate", point.learning_rate},
                {"momentum", point.momentum},
                {"learns", point.learns},
                {"assumed_learner", point.has_assumed_learner}};
  if (point.target_accuracy) facts["target_accuracy"] = *point.target_accuracy;
  return facts;
}

void read_facts(const json& facts, PlannedPoint& point) {
  point.replications = facts.at("replications");
  point.seed = facts.at("seed");
  point.cores = facts.at("cores");
  point.workload_epochs = facts.at("workload_epochs");
  point.epoch_samples = facts.at("epoch_samples");
  point.policy = facts.at("policy");
  point.learning_rate = facts.at("learning_rate");
  point.momentum = facts.at("momentum");
  point.learns = facts.at("learns");
  point.has_assumed_learner = facts.value("assumed_learner", false);  // older stores do not know
  if (facts.contains("target_accuracy")) point.target_accuracy = facts.at("target_accuracy").get<double>();
}

void check_columns(const std::vector<std::string>& columns) {
  const std::vector<std::string>& metrics = run_metric_names();
  constexpr std::array own = {"point", "name", "digest", "facts", "replication", "run", "status", "message"};
  for (const std::string& column : columns)
    if (std::ranges::count(metrics, column) > 0 || std::ranges::count(own, column) > 0)
      throw UserError(fmt::format("the results have a column `{}` of their own", column),
                      "give what is varied another `name`");
}

}  // namespace

void RunStore::write_plan(const PlannedStudy& study) {
  check_columns(study.columns);
  Transaction transaction(*database_);
  database_->execute(
      "DROP VIEW IF EXISTS results; DROP TABLE IF EXISTS points; DELETE FROM plan; DELETE FROM study");
  std::string labels;
  std::string places;
  std::string in_view;
  for (const std::string& column : study.columns) {
    labels += fmt::format(", {} TEXT", quoted_name(column));
    places += ", ?";
    in_view += fmt::format("points.{}, ", quoted_name(column));
  }
  database_->execute(fmt::format(
      "CREATE TABLE points (point INTEGER PRIMARY KEY, name TEXT, digest TEXT, facts TEXT{})", labels));
  database_->execute(
      fmt::format("CREATE VIEW results AS SELECT plan.point, {}plan.replication, plan.run, "
                  "COALESCE(runs.status, 'missing') AS "
                  "status, {}, runs.message FROM plan JOIN points USING (point) LEFT JOIN runs USING (run)",
                  in_view, metric_list("runs.")));
  Statement put(*database_, "INSERT INTO study VALUES (?, ?)");
  const auto put_text = [&](const char* key, const std::string& value) {
    put.bind(1, std::string(key)).bind(2, value).run();
  };
  put_text("name", study.name);
  put_text("question", study.question);
  put_text("command", study.command);
  put_text("figures", study.figures);
  put_text("columns", json(study.columns).dump(-1, ' ', false, json::error_handler_t::replace));
  Statement point(*database_, fmt::format("INSERT INTO points VALUES (?, ?, ?, ?{})", places));
  Statement run(*database_, "INSERT INTO plan VALUES (?, ?, ?)");
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const PlannedPoint& one = study.points[i];
    const auto number = static_cast<std::int64_t>(i);
    point.bind(1, number).bind(2, one.name).bind(3, one.digest).bind(4, facts_of(one).dump());
    for (std::size_t c = 0; c < one.labels.size(); ++c) point.bind(5 + static_cast<int>(c), one.labels[c]);
    point.run();
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(one.replications); ++r)
      run.bind(1, number).bind(2, static_cast<std::int64_t>(r)).bind(3, run_id(one.digest, r)).run();
  }
  transaction.commit();
}

std::optional<PlannedStudy> RunStore::plan() {
  PlannedStudy study;
  bool any = false;
  Statement values(*database_, "SELECT key, value FROM study");
  while (values.next()) {
    any = true;
    const std::string key = values.text(0);
    if (key == "name") study.name = values.text(1);
    if (key == "question") study.question = values.text(1);
    if (key == "command") study.command = values.text(1);
    if (key == "figures") study.figures = values.text(1);
    if (key == "columns") study.columns = json::parse(values.text(1)).get<std::vector<std::string>>();
  }
  if (!any) return std::nullopt;
  Statement points(*database_, "SELECT * FROM points ORDER BY point");
  while (points.next()) {
    PlannedPoint point;
    point.name = points.text(1);
    point.digest = points.text(2);
    read_facts(json::parse(points.text(3)), point);
    for (std::size_t c = 0; c < study.columns.size(); ++c)
      point.labels.push_back(points.text(4 + static_cast<int>(c)));
    study.points.push_back(std::move(point));
  }
  return study;
}

}  // namespace paceline
