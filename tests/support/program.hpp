// Runs a program as a user would, and keeps what it said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/process.hpp"

namespace paceline::test {

struct ProgramResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// Runs `program` in `folder`, without a terminal.
[[nodiscard]] ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                                        const std::filesystem::path& folder);

}  // namespace paceline::test
