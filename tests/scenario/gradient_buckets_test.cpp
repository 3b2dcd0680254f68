// Mistakes about gradients that are summed in buckets.
#include <string>

#include <doctest/doctest.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

const char* const ring_phase = "policy: bsp, transport: ring";

std::string complaint_about_phase(const std::string& phase) {
  return complaint(replaced(good_example, ring_phase, phase));
}

bool says(const std::string& text, const char* what) {
  CAPTURE(text);
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("buckets of an all-reduce are accepted, with sizes by default") {
  CHECK(complaint_about_phase("policy: bsp, transport: ring, buckets: {}").empty());
  CHECK(complaint_about_phase("policy: bsp, transport: tree, buckets: {first: 64 KiB, size: 1 MiB}").empty());
}

TEST_CASE("buckets need an all-reduce of gradients, and some size") {
  CHECK(says(complaint_about_phase("policy: bsp, transport: server, buckets: {}"),
             "error: a server is sent a gradient as a whole\n"));
  CHECK(says(complaint_about_phase("policy: bsp, transport: ring, buckets: {}, local: {steps: 4}"),
             "error: workers that train by themselves have nothing to exchange before their last step\n"));
  CHECK(says(complaint_about_phase("policy: bsp, transport: ring, buckets: {size: 0 B}"),
             "`synchronization.0.buckets.size`: `0 B` is out of range"));
}

TEST_CASE("a worker that rests has no buckets to send before it has rested") {
  const std::string machines = replaced(
      good_example, "  network: {topology",
      "  machines: [{cores: 5, shared: true, servers: true, slow_workers: rest}]\n  network: {topology");
  CHECK(complaint(machines) == std::string());
  CHECK(says(complaint(replaced(machines, ring_phase, "policy: bsp, transport: ring, buckets: {}")),
             "error: a slow worker that rests sends nothing before it has rested\n"));
}

}  // namespace paceline::test
