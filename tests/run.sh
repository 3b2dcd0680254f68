#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Arguments go to ctest, e.g. tests/run.sh -R plots
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  echo "usage: tests/run.sh [ARGUMENTS OF CTEST...]"
  echo "Installs missing Debian packages, builds everything into build/ and runs the tests."
  exit 0
fi

scenarios/build.sh

printf '\n== Tests (ctest)\n'
exec ctest --test-dir build --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"
