// Runs a program as a user would, and keeps what it said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline::test {

struct ProgramResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// Runs `program` in `folder`, without a shell, without a terminal.
[[nodiscard]] ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                                        const std::filesystem::path& folder);

// Where a program runs, and the files that take what it says.
struct ProgramPlace {
  std::filesystem::path folder;
  std::filesystem::path out;
  std::filesystem::path err;
};

// Starts it and leaves it running: whoever asked waits for it.
[[nodiscard]] pid_t start_program(const std::string& program, const std::vector<std::string>& arguments,
                                  const ProgramPlace& place);

}  // namespace paceline::test
