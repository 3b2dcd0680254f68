#!/usr/bin/env bash
# Builds and runs the benchmarks (Google Benchmark). Arguments go to it, e.g. --benchmark_filter=asp
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  echo "usage: tests/benchmark.sh [ARGUMENTS OF GOOGLE BENCHMARK...]"
  echo "Worker-iterations per second of whole simulations, beside a plain SimGrid program; start-up; memory."
  exit 0
fi

scenarios/build.sh >&2
exec build/tests/simulation_benchmark "$@"
