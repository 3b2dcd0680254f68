#include "tests/support/workplace.hpp"

#include "sim/base/atomic_file.hpp"

namespace paceline::test {

Workplace::Workplace(std::string program, const Files& files) : program_(std::move(program)) {
  for (const auto& [name, text] : files) write(name, text);
}

void Workplace::write(const std::string& name, const std::string& text) const {
  write_file_atomically(path() / name, text);
}

std::string Workplace::text(const std::string& name) const {
  return read_file(path() / name);
}

ProgramResult Workplace::paceline(const std::vector<std::string>& arguments) const {
  return run_program(program_, arguments, path());
}

Process Workplace::start(const std::vector<std::string>& arguments) const {
  Command command{{program_}, path()};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return Process(command);
}

ProgramResult Workplace::shell(const std::string& script) const {
  return run_program("/bin/sh", {"-c", script}, path());
}

}  // namespace paceline::test
