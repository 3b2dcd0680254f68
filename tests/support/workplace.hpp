// A folder of its own for one test of a program, with files in it, in which the program runs as a user would
// run it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::test {

class Workplace {
 public:
  // Files by name, with what they hold.
  using Files = std::vector<std::pair<std::string, std::string>>;

  explicit Workplace(std::string program, const Files& files = {});

  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  // Runs the program to its end.
  [[nodiscard]] ProgramResult paceline(const std::vector<std::string>& arguments) const;
  // Starts it and leaves it running; it ends with the returned object.
  [[nodiscard]] Process start(const std::vector<std::string>& arguments) const;
  // Lines of a shell script.
  [[nodiscard]] ProgramResult shell(const std::string& script) const;

 private:
  std::string program_;
  TemporaryFolder folder_;
};

}  // namespace paceline::test
