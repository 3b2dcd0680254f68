#!/usr/bin/env bash
# Installs what is missing, configures and builds into build/. Repeated, it rebuilds nothing.
# Arguments are the targets to build; none: everything, tests included.
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

heading() { printf '\n== %s\n' "$1"; }

heading "Debian packages (packages.txt)"
scenarios/install-packages.sh

heading "Configure (cmake --preset release)"
cmake --preset release

# A source file with LibTorch headers takes up to 2 GB to compile: no more at once than memory allows.
memory_gb="$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo 2> /dev/null || true)"
jobs="$(nproc)"
by_memory=$((${memory_gb:-4} / 2 > 0 ? ${memory_gb:-4} / 2 : 1))
((jobs <= by_memory)) || jobs="$by_memory"

heading "Build (cmake --build build, $jobs at once)"
targets=()
if (($# > 0)); then targets=(--target "$@"); fi
cmake --build build --parallel "$jobs" "${targets[@]}"
