#!/usr/bin/env bash
# Builds the tests of the core with sanitizers and runs them: address and undefined behaviour for what links neither
# SimGrid nor LibTorch, undefined behaviour alone for the engine.
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  echo "usage: tests/sanitize.sh"
  echo "Builds some of the tests into build-sanitize/ and build-sanitize-engine/ and runs them."
  exit 0
fi

# check PRESET FOLDER...: tests/FOLDER with the sanitizers of the preset.
check() {
  local preset="$1"
  shift
  local folders=("$@")
  printf '\n== Sanitizers, preset %s: %s\n' "$preset" "${folders[*]}"
  cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$(nproc)" --target "${folders[@]/#/test_}"
  local any
  any="$(IFS='|' && echo "${folders[*]}")"
  ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error --tests-regex "^($any):"
}

check sanitize base description cluster cost learning policy training scenario report
check sanitize-engine engine
