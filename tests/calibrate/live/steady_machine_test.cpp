#include "calibrate/live/steady_machine.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "calibrate/live/scheduling.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/process.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using namespace paceline::live;
using paceline::test::contains;

namespace {

// The least time to wake up that anybody asks for, as the kernel says it: 32 bits, us.
std::int32_t asked_for() {
  std::int32_t wake_up_us = -1;
  std::ifstream file(IdleControl{}.request, std::ios::binary);
  file.read(reinterpret_cast<char*>(&wake_up_us), sizeof wake_up_us);
  return wake_up_us;
}

}  // namespace

TEST_CASE("processors are asked to wake up at once as long as the request lives, and no longer") {
  const std::int32_t before = std::filesystem::exists(IdleControl{}.request) ? asked_for() : 0;
  {
    const AwakeProcessors awake;
    if (!awake.why_not().empty() || before == 0) {
      MESSAGE("left out: ", awake.why_not());
      return;
    }
    CHECK(asked_for() == 0);
  }
  CHECK(asked_for() == before);
}

TEST_CASE("where processors cannot be kept from idling, the reason is said") {
  const test::TemporaryFolder folder;
  const std::filesystem::path driver = folder.path() / "driver";
  const std::filesystem::path request = folder.path() / "request";
  const auto why_not = [&] { return AwakeProcessors({request, driver}).why_not(); };
  CHECK(contains(why_not(), "no driver for idle processors"));
  write_file_atomically(driver, "none\n");
  CHECK(contains(why_not(), "no driver for idle processors"));
  write_file_atomically(driver, "haltpoll\n");
  CHECK(contains(why_not(), "request: No such file or directory"));
  write_file_atomically(request, "");
  CHECK(why_not().empty());
  CHECK(read_file(request) == std::string(4, '\0'));
}

TEST_CASE("the server goes before processes that it starts, for as long as it wants to") {
  const Scheduling usual = scheduling();
  {
    const FirstInLine first;
    if (!first.why_not().empty()) {
      MESSAGE("left out: ", first.why_not());
      return;
    }
    CHECK(scheduling().nice == highest_usual_priority);
    if (usual.slice) CHECK(scheduling().slice == Seconds{1e-4});
    const Process worker({.words = {"sleep", "60"}});
    CHECK(getpriority(PRIO_PROCESS, static_cast<id_t>(worker.id())) == 0);
  }
  CHECK(scheduling().nice == usual.nice);
  CHECK(scheduling().slice == usual.slice);
}

TEST_CASE("nothing is asked of a machine that is to stay as it is, and that is said") {
  const int usual = scheduling().nice;
  const SteadyMachine machine(true);
  CHECK(scheduling().nice == usual);
  CHECK(machine.is_as_asked());
  CHECK(machine.text() == "the machine as it is (--as-it-is)");
  const SteadyMachine asked(false);
  CHECK(contains(asked.text(), "processors "));
  CHECK(contains(asked.text(), ", the server "));
}
