#include "sim/report/output/read_results.hpp"

#include <array>

#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/description/units.hpp"
#include "sim/report/output/record_columns.hpp"
#include "sim/report/output/staged_folder.hpp"

namespace paceline {
namespace {

Cell cell_of(const CsvRow& row, const Column<RunSummary>& column) {
  if (row.text(column.name).empty()) return nullptr;
  if (std::string_view(column.type) == "TEXT") return row.text(column.name);
  return row.number(column.name);
}

// Of all workers together.
std::optional<double> price_in_manifest(const nlohmann::json& manifest) {
  std::optional<double> sum;
  const nlohmann::json values = manifest.value("scenario", nlohmann::json::object());
  constexpr std::array price{Dimension::price};
  for (const auto& [key, value] : values.items())
    if (key.starts_with("cluster.workers.") && key.ends_with(".price") && value.is_string()) {
      const Parsed<Amount> amount = parse_amount(value.get<std::string>(), price);
      if (const auto* parsed = std::get_if<Amount>(&amount)) sum = sum.value_or(0.0) + parsed->value;
    }
  return sum;
}

// Older results do not say.
std::vector<ValidityRow> validity_in_manifest(const nlohmann::json& manifest) {
  std::vector<ValidityRow> rows;
  if (!manifest.contains("validity")) return rows;
  for (const nlohmann::json& row : manifest["validity"]) {
    const auto range = [&](const char* key) { return ValueRange{row.at(key).at(0), row.at(key).at(1)}; };
    rows.push_back({row.at("quantity"), row.at("file"), range("fitted"), range("used")});
  }
  return rows;
}

}  // namespace

std::optional<Bottleneck> bottleneck_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "summary.json", ignored)) return std::nullopt;
  const nlohmann::json summary = nlohmann::json::parse(read_file(folder / "summary.json"), nullptr, false);
  const auto found = summary.find("bottleneck");
  if (!summary.is_object() || found == summary.end() || found->is_null()) return std::nullopt;
  return Bottleneck{found->at("resource"), found->at("saturated_percent").get<double>() / 100.0};
}

ComparedRuns read_compared_runs(const std::filesystem::path& folder) {
  const nlohmann::json manifest = manifest_in(folder);
  if (string_in(manifest, "format") != "paceline-results")
    throw UserError(fmt::format("{} holds no results", folder.string()),
                    "name a folder written by `paceline run` or `paceline study`");
  ComparedRuns compared;
  compared.name = string_in(manifest, "name");
  if (manifest.contains("target_accuracy")) manifest["target_accuracy"].get_to(compared.target_accuracy);
  compared.has_assumed_learner =
      manifest.value(nlohmann::json::json_pointer("/scenario/learner.kind"), "") == "assumed";
  compared.price_per_hour = price_in_manifest(manifest);
  compared.validity = validity_in_manifest(manifest);
  compared.bottleneck = bottleneck_in(folder);
  for (const CsvFile table(folder / "summary.csv"); const CsvRow& row : table.rows()) {
    RunSummary& run = compared.runs.emplace_back();
    run.seed.seed = static_cast<std::uint32_t>(row.count("seed"));
    run.seed.replication = static_cast<std::uint32_t>(row.count("replication"));
    for (const Column<RunSummary>& column : summary_columns())
      if (column.set && table.has(column.name))
        if (const Cell cell = cell_of(row, column); !cell.is_null()) column.set(run, cell);
  }
  if (compared.runs.empty()) throw UserError(fmt::format("{} holds no finished run", folder.string()), "");
  return compared;
}

}  // namespace paceline
