#include "sim/base/check.hpp"

#include <string>

#include <doctest/doctest.h>

namespace paceline {
namespace {

TEST_CASE("a check that holds is silent") {
  CHECK_NOTHROW(check(true, "never said"));
}

TEST_CASE("a check that fails names the place of the call and what was expected") {
  std::string said;
  try {
    check(false, "the queue is empty");
  } catch (const ProgrammingError& error) {
    said = error.what();
  }
  CHECK(said.find("check_test.cpp:") != said.npos);
  CHECK(said.find("the queue is empty") != said.npos);
}

}  // namespace
}  // namespace paceline
