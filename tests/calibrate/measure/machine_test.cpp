#include "calibrate/measure/machine.hpp"

#include <set>

#include <doctest/doctest.h>

namespace paceline::calibrate {

TEST_CASE("model and flags come from the first processor of /proc/cpuinfo") {
  const CpuInfo info = parse_cpu_info(
      "processor\t: 0\nmodel name\t: Fast CPU @ 2.0 GHz: the sequel\nflags\t\t: fpu sse2 avx2\n\n"
      "processor\t: 1\nmodel name\t: Slow CPU\nflags\t\t: fpu\n\n");
  CHECK(info.model == "Fast CPU @ 2.0 GHz: the sequel");
  CHECK(info.flags == std::vector<std::string>{"fpu", "sse2", "avx2"});
}

TEST_CASE("a processor without a model name is called unknown, and ARM's features are its flags") {
  const CpuInfo info = parse_cpu_info("processor\t: 0\nFeatures\t: fp asimd\n\n");
  CHECK(info.model == "unknown CPU");
  CHECK(info.flags == std::vector<std::string>{"fp", "asimd"});
  CHECK(parse_cpu_info("").model == "unknown CPU");
}

TEST_CASE("core counts double up to the physical cores, which are always measured") {
  CHECK(default_core_counts(1) == std::vector<int>{1});
  CHECK(default_core_counts(2) == std::vector<int>{1, 2});
  CHECK(default_core_counts(6) == std::vector<int>{1, 2, 4, 6});
  CHECK(default_core_counts(8) == std::vector<int>{1, 2, 4, 8});
}

TEST_CASE("a quota leaves the cores that it never holds up, one at least, and a share of that one's time") {
  Machine machine;
  machine.logical_cores = 4;
  CHECK(cores_within_quota(machine) == 4);
  CHECK(share_of_time(machine) == 1.0);
  machine.quota = parse_cpu_max("250000 100000");  // 2.5 cores
  CHECK(cores_within_quota(machine) == 2);
  CHECK(share_of_time(machine) == 1.0);
  machine.quota = parse_cpu_max("30000 100000");
  CHECK(cores_within_quota(machine) == 1);
  CHECK(share_of_time(machine) == doctest::Approx(0.3));
  machine.quota = parse_cpu_max("800000 100000");
  CHECK(cores_within_quota(machine) == 4);
  CHECK_FALSE(parse_cpu_max("max 100000"));
}

TEST_CASE("the present machine lists each usable logical core once") {
  const Machine machine = read_machine();
  CHECK(machine.logical_cores >= 1);
  CHECK(machine.physical_cores >= 1);
  CHECK(machine.physical_cores <= machine.logical_cores);
  CHECK(machine.memory_bytes > 0);
  const std::set<int> distinct(machine.core_order.begin(), machine.core_order.end());
  CHECK(static_cast<int>(machine.core_order.size()) == machine.logical_cores);
  CHECK(distinct.size() == machine.core_order.size());
}

}  // namespace paceline::calibrate
