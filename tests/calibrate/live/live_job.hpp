// What tests of live jobs share.
#pragma once

#include <csignal>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "sim/report/output/packed_run.hpp"
#include "sim/study/input_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::live_test {

// Tests run on machines where everything takes a minute.
inline constexpr Seconds on_any_machine{900.0};

struct LoadedJob {
  LoadedScenario loaded;
  InputFiles files;
  std::shared_ptr<const Profiles> profiles;
};

// `text` names the checkout as {}.
inline LoadedJob load_job(const char* text) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "live.yaml") << fmt::format(fmt::runtime(text), PACELINE_CHECKOUT);
  LoadedJob job{load_scenario(folder.path() / "live.yaml", {}), {}, {}};
  job.profiles = job.files.profiles_of(job.loaded);
  return job;
}

// How long servers were busy is the only thing in a result that the events do not determine.
inline std::string decisions(RunResult result) {
  result.resources.clear();
  return pack(result);
}

inline bool is_alive(int process) {
  return kill(process, 0) == 0;
}

}  // namespace paceline::live_test
