#!/usr/bin/env bash
# How long studies take: a thousand runs with one and with two processes; listing, resuming and merging ten thousand.
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  echo "usage: tests/study_benchmark.sh [RUNS]"
  echo "Wall-clock time of studies with the statistical learner: RUNS (default 100) of 64,000 updates of 8 workers with 1"
  echo "and 2 processes; listing, resuming and merging 10,000 runs, and the memory of the program meanwhile."
  exit 0
fi

runs="${1:-100}"
paceline="${PACELINE:-build/paceline}"
studies="$PWD/scenarios/studies"
work="$(mktemp --directory)"
trap 'rm -rf -- "$work"' EXIT

# Seconds and MiB of a command, under its name.
measure() {
  local name="$1"
  shift
  /usr/bin/env python3 - "$name" "$@" << 'END'
import resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
wall = time.monotonic() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{sys.argv[1]:<42} {wall:8.2f} s {peak:8.1f} MiB{'' if status == 0 else f'   exit code {status}'}")
END
}

# 64,000 updates of 128 samples: 163.84 epochs.
cat > "$work/thousand.yaml" << END
study: benchmark
base: $studies/base.yaml
replications: $((runs / 2))
vary:
  - {key: synchronization.0.policy, values: [bsp, asp]}
set: {synchronization.0.transport: server, stop: {epochs: 163.84}}
END
for jobs in 1 2; do
  measure "$runs runs of 64,000 updates, $jobs processes" "$paceline" study "$work/thousand.yaml" -o "$work/t$jobs" -j "$jobs"
done

# 10,000 combinations of tiny jobs, and the same number of runs as replications of a hundred.
for shape in "10000 1" "100 100"; do
  read -r points replications <<< "$shape"
  cat > "$work/many.yaml" << END
study: many
base: $studies/base.yaml
replications: $replications
vary: [{key: seed, name: draw, range: {from: 1, to: $points, points: $points}}]
set: {learner: {kind: none}, stop: {epochs: 0.1}, evaluation: {every: 1 updates}}
END
  name="$points x $replications"
  measure "$name: list" "$paceline" study "$work/many.yaml" -o "$work/m$points" --list
  measure "$name: run" "$paceline" study "$work/many.yaml" -o "$work/m$points" --shard 1/1
  measure "$name: merge" "$paceline" study merge "$work/m$points"
  measure "$name: resume, nothing missing" "$paceline" study "$work/many.yaml" -o "$work/m$points"
done
