#include "tests/support/program.hpp"

#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::test {

ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::filesystem::path& folder) {
  // Files, not pipes: what a program leaves running in the background must not keep its caller waiting.
  const TemporaryFolder outputs;
  const std::filesystem::path out = outputs.path() / "out";
  const std::filesystem::path err = outputs.path() / "err";
  Command command{
      {"/bin/sh", "-c", R"(out=$1; err=$2; shift 2; exec "$@" >"$out" 2>"$err")", "sh", out, err, program},
      folder};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  const int status = run_process(command).status;
  return {status, read_file(out), read_file(err)};
}

}  // namespace paceline::test
