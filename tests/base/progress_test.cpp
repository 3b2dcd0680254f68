#include "sim/base/progress.hpp"

#include <cstdio>
#include <cstdlib>

#include <doctest/doctest.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

// What is written to stderr, which is a file meanwhile, while PACELINE_PROGRESS is `wanted`.
template <class Work>
std::string written(const char* wanted, Work work) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "stderr").string();
  std::fflush(stderr);
  const int before = dup(2);
  REQUIRE(std::freopen(file.c_str(), "w", stderr) != nullptr);
  REQUIRE(setenv("PACELINE_PROGRESS", wanted, 1) == 0);
  work();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  return read_file(file);
}

std::size_t lines_in(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text)
    if (c == '\n') ++lines;
  return lines;
}

}  // namespace

TEST_CASE("into a file a line comes for each tenth of the work, and none with PACELINE_PROGRESS=0") {
  const auto work = [] {
    Progress progress("working");
    for (int done = 0; done <= 100; ++done) progress.update(done / 100.0, "of it");
  };
  const std::string text = written("1", work);
  CHECK(lines_in(text) == 11);  // 0, 10, … 100 %
  CHECK(text.starts_with("working   0 % (of it), 0:00 elapsed\n"));
  CHECK(text.find("working  50 % (of it), 0:00 elapsed, 0:00 left\n") != std::string::npos);
  CHECK(text.ends_with("working 100 % (of it), 0:00 elapsed\n"));
  CHECK(written("0", work).empty());
  // Without a wish short work says nothing.
  CHECK(written("", work).empty());
}
