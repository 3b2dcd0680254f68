// `paceline-calibrate` as a user runs it, in a folder of its own. PACELINE_CALIBRATE is its path.
#pragma once

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/support/workplace.hpp"

namespace paceline {

struct Workplace : test::Workplace {
  Workplace() : test::Workplace(PACELINE_CALIBRATE) {}

  // As a line for a shell, with both outputs as one unless `errors` sends the second elsewhere.
  [[nodiscard]] test::ProgramResult run(const std::string& arguments,
                                        const std::string& errors = "2>&1") const {
    return shell("'" PACELINE_CALIBRATE "' " + arguments + " " + errors);
  }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path() / name; }
};

// The run ends with code 2, says `message`, and leaves nothing behind.
inline void check_refused(const std::string& arguments, const std::string& message) {
  CAPTURE(arguments);
  const Workplace workplace;
  const test::ProgramResult outcome = workplace.run(arguments);
  CHECK(outcome.exit_code == 2);
  CHECK_MESSAGE(outcome.out.substr(0, outcome.out.find('\n')).find("error: ") != std::string::npos,
                outcome.out);
  CHECK_MESSAGE(outcome.out.find(message) != std::string::npos, outcome.out);
  CHECK(std::filesystem::is_empty(workplace.path()));
}

// What a run that ends well prints.
inline nlohmann::json printed_json(const std::string& arguments) {
  const test::ProgramResult outcome = Workplace().run(arguments, "2>/dev/null");
  REQUIRE(outcome.exit_code == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace paceline
