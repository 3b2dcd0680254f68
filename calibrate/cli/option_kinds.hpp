// Kinds of options that several commands have: lists, times with their units, whole numbers.
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/base/number_text.hpp"

namespace paceline::calibrate {

inline constexpr double longest_s = 86400.0;
inline constexpr int most_parameters = 1 << 30;  // of a gradient: 4 GiB

// CLI11's own check would name the largest double.
inline const CLI::Validator above_zero(
    [](const std::string& text) { return to_number(text).value_or(0.0) > 0.0 ? "" : "must be above 0"; }, "");

// A list of numbers in one word: 8,16,32.
template <class Numbers>
CLI::Option* add_list(CLI::App& app, const std::string& name, Numbers& numbers, const std::string& help,
                      int largest = 1 << 20) {
  return app.add_option(name, numbers, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, largest))
      ->type_name("LIST");
}

// A duration with its unit; `seconds` is a double or an optional one.
template <class Seconds>
CLI::Option* add_time(CLI::App& app, const std::string& name, Seconds& seconds, const std::string& help) {
  const std::map<std::string, double> units = {
      {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
  const auto in_range = [](const std::string& text) {
    const double value = to_number(text).value_or(0.0);
    return value > 0.0 && value <= longest_s ? "" : "must be above 0 s and at most 24 h";
  };
  return app.add_option(name, seconds, help)
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Validator(in_range, ""))
      ->type_name("TIME (ms, s, min, h)");
}

// A whole number; `number` is one or an optional one.
template <class Number>
CLI::Option* add_count(CLI::App& app, const std::string& name, Number& number, int lowest, int highest,
                       const std::string& help, const std::string& type = "N") {
  return app.add_option(name, number, help)->check(CLI::Range(lowest, highest))->type_name(type);
}

inline void add_profile(CLI::App& app, std::string& profile) {
  app.add_option("PROFILE", profile, "A file written by `paceline calibrate`")->required();
}

inline void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "Print for machines");
}

}  // namespace paceline::calibrate
