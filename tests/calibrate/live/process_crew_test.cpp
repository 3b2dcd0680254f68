// Processes that do not come up. What comes after that is tested with whole jobs.
#include "calibrate/live/process_crew.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/temporary_folder.hpp"

namespace paceline::live {

TEST_CASE("a process that ends before it connects ends the start, with what it wrote") {
  const test::TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "worker";
  std::ofstream(program) << "#!/bin/sh\necho no library >&2\nexit 4\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto start = [&] { const ProcessCrew crew({.program = program, .setups = {WorkerSetup{}}}); };
  CHECK_THROWS_WITH(start(), "process 0 of the job exited with code 4 before it was ready: no library\n");
}

TEST_CASE("a process that never gets ready is waited for as long as asked, and ended") {
  const test::TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "worker";
  std::ofstream(program) << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto start = [&] {
    const ProcessCrew crew({.program = program, .setups = {WorkerSetup{}}, .start_patience = Seconds{0.3}});
  };
  CHECK_THROWS_WITH(start(), "process 0 of the job was not ready within 0.3 s");
}

}  // namespace paceline::live
