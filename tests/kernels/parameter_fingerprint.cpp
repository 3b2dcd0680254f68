// Prints the fingerprint of the short job on the network named by the only argument.
#include <fmt/format.h>

#include "tests/kernels/fingerprint.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  fmt::print("{}\n", paceline::test::short_job_fingerprint(argv[1]));
}
