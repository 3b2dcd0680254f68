#include "tests/support/program.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::test {

ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::filesystem::path& folder) {
  const TemporaryFolder outputs;
  const ProgramPlace place{folder, outputs.path() / "out", outputs.path() / "err"};
  const pid_t pid = start_program(program, arguments, place);
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(place.out),
          read_file(place.err)};
}

pid_t start_program(const std::string& program, const std::vector<std::string>& arguments,
                    const ProgramPlace& place) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) {
    if (chdir(place.folder.c_str()) != 0) _exit(126);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(place.out.c_str(), O_CREAT | O_WRONLY, 0600), 1);
    dup2(open(place.err.c_str(), O_CREAT | O_WRONLY, 0600), 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  return pid;
}

}  // namespace paceline::test
