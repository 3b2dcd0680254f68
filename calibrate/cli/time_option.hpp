// Durations as arguments: a number with its unit.
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace paceline::calibrate {

inline constexpr const char* time_units_text = "TIME (ms, s, min, h)";

// Adds an option that takes a duration; `seconds` is a double or an optional one.
template <class Seconds>
void add_time_option(CLI::App& app, const std::string& name, Seconds& seconds, const std::string& help) {
  const std::map<std::string, double> units = {
      {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
  app.add_option(name, seconds, help)
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->type_name(time_units_text);
}

}  // namespace paceline::calibrate
