// The plan of a store: what is to be run.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/study/store/run_store_sql.hpp"

namespace paceline {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueRange, least, most)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValidityRow, quantity, file, fitted, used)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PlannedPoint, replications, seed, target_accuracy,
                                                workload_epochs, epoch_samples, policy, learning_rate,
                                                momentum, learns, has_assumed_learner, price_per_hour)

namespace {

constexpr std::pair<const char*, std::string PlannedStudy::*> study_texts[] = {
    {"name", &PlannedStudy::name},
    {"question", &PlannedStudy::question},
    {"command", &PlannedStudy::command},
    {"figures", &PlannedStudy::figures}};

void check_columns(const std::vector<std::string>& columns) {
  constexpr std::array own = {"point", "name", "digest", "facts", "replication", "run", "status", "message"};
  for (const std::string& column : columns)
    if (std::ranges::count(own, column) + std::ranges::count(summary_columns(), column, &ColumnText::name) >
        0)
      throw UserError(fmt::format("the results have a column `{}` of their own", column),
                      "give what is varied another `name`");
}

}  // namespace

void RunStore::write_plan(const PlannedStudy& study) {
  check_columns(study.columns);
  use([&](SQLite::Database& database) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec(
        "DROP VIEW IF EXISTS results; DROP TABLE IF EXISTS points; DELETE FROM plan; DELETE FROM study");
    std::string labels;
    std::string places;
    std::string in_view;
    for (const std::string& column : study.columns) {
      labels += fmt::format(", {} TEXT", quoted_name(column));
      places += ", ?";
      in_view += fmt::format("points.{}, ", quoted_name(column));
    }
    database.exec(fmt::format(
        "CREATE TABLE points (point INTEGER PRIMARY KEY, name TEXT, digest TEXT, facts TEXT{})", labels));
    database.exec(
        fmt::format("CREATE VIEW results AS SELECT plan.point, {}plan.replication, plan.run, "
                    "COALESCE(runs.status, 'missing') AS status, {}, runs.message FROM plan JOIN points "
                    "USING (point) LEFT JOIN runs USING (run)",
                    in_view, number_names("runs.")));
    SQLite::Statement study_row(database, "INSERT INTO study VALUES (?, ?)");
    SQLite::Statement point_row(database, fmt::format("INSERT INTO points VALUES (?, ?, ?, ?{})", places));
    SQLite::Statement plan_row(database, "INSERT INTO plan VALUES (?, ?, ?)");
    for (const auto& [key, member] : study_texts) execute(study_row, Cell::array({key, study.*member}));
    execute(
        study_row,
        Cell::array({"columns", Cell(study.columns).dump(-1, ' ', false, Cell::error_handler_t::replace)}));
    execute(study_row,
            Cell::array(
                {"conditions", Cell(study.conditions).dump(-1, ' ', false, Cell::error_handler_t::replace)}));
    for (std::size_t i = 0; i < study.points.size(); ++i) {
      const PlannedPoint& point = study.points[i];
      Cell facts = point;
      facts["validity"] = point.validity;
      Cell row = Cell::array({i, point.name, point.digest, facts.dump()});
      for (const std::string& label : point.labels) row.push_back(label);
      execute(point_row, row);
      for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(point.replications); ++r)
        execute(plan_row, Cell::array({i, r, run_id(point.digest, r)}));
    }
    transaction.commit();
  });
}

std::optional<PlannedStudy> RunStore::plan() {
  return use([&](SQLite::Database& database) -> std::optional<PlannedStudy> {
    PlannedStudy study;
    bool any = false;
    SQLite::Statement values(database, "SELECT key, value FROM study");
    while (values.executeStep()) {
      any = true;
      const std::string key = values.getColumn(0).getString();
      const std::string value = values.getColumn(1).getString();
      for (const auto& [name, member] : study_texts)
        if (key == name) study.*member = value;
      if (key == "columns") Cell::parse(value).get_to(study.columns);
      if (key == "conditions") Cell::parse(value).get_to(study.conditions);
    }
    if (!any) return std::nullopt;
    SQLite::Statement points(database, "SELECT * FROM points ORDER BY point");
    while (points.executeStep()) {
      const Cell facts = Cell::parse(points.getColumn(3).getString());
      auto point = facts.get<PlannedPoint>();
      if (facts.contains("validity")) facts.at("validity").get_to(point.validity);  // older stores have none
      point.name = points.getColumn(1).getString();
      point.digest = points.getColumn(2).getString();
      for (std::size_t c = 0; c < study.columns.size(); ++c)
        point.labels.push_back(points.getColumn(4 + static_cast<int>(c)).getString());
      study.points.push_back(std::move(point));
    }
    return study;
  });
}

}  // namespace paceline
