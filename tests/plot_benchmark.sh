#!/usr/bin/env bash
# How long figures take: of a study of 10,000 runs, and of a timeline of 1,000,000 events.
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  echo "usage: tests/plot_benchmark.sh"
  echo "Wall-clock time, memory and largest file of paceline plot and report, on results made up for it."
  exit 0
fi

paceline="${PACELINE:-build/paceline}"
work="$(mktemp --directory)"
trap 'rm -rf -- "$work"' EXIT

python3 - "$work" << 'END'
import json, os, sys
work = sys.argv[1]
study = f"{work}/study"
os.mkdir(study)
json.dump({"format": "paceline-study", "version": 1, "name": "made up", "variants": [],
           "columns": ["variant", "bandwidth", "rate"], "conditions": ["bandwidth"]}, open(f"{study}/manifest.json", "w"))
with open(f"{study}/runs.csv", "w") as table:
    table.write("point,variant,bandwidth,rate,replication,seed,assumed_learner,run,status,time_to_accuracy_s,end_time_s,"
                "final_accuracy,updates,end_reason,evaluation_interval_s,core_hours,message\n")
    for run in range(10_000):  # 10 policies, 10 bandwidths, 10 rates, 10 replications
        policy, bandwidth, rate, replication = run // 1000, run // 100 % 10, run // 10 % 10, run % 10
        time = 1000 + 400 * policy + 2000 / (1 + bandwidth) + 90 * abs(rate - 4) + 17 * (run * 7919 % 101) / 101
        table.write(f"{run // 10},policy {policy},{1 + bandwidth} Gbit/s,{0.01 * (1 + rate):.2f},{replication},1,0,{run:016x},"
                    f"done,{time:.3f},{time:.3f},0.9,4000,target-reached,10,{time / 3600 * 8:.4f},\n")
run = f"{work}/run"
os.mkdir(run)
json.dump({"format": "paceline-results", "version": 1, "name": "made up"}, open(f"{run}/manifest.json", "w"))
json.dump({"name": "made up", "target_accuracy": None, "replications": 1}, open(f"{run}/summary.json", "w"))
open(f"{run}/summary.csv", "w").write("replication,seed,reached,time_to_accuracy_s,end_time_s\n0,1,0,,62500\n")
open(f"{run}/curve.csv", "w").write("replication,time_s,updates,samples,epoch,loss,accuracy\n")
open(f"{run}/batches.csv", "w").write("replication,time_s,updates,worker,batch_samples\n")
with open(f"{run}/activities.csv", "w") as table:
    table.write("replication,worker,activity,begin_s,end_s\n")
    for event in range(1_000_000):  # of 8 workers
        worker, step = event % 8, event // 8
        table.write(f"0,{worker},{'compute' if step % 2 == 0 else 'wait'},{step / 2},{step / 2 + 0.5}\n")
END

# Seconds, MiB and the largest file of the figures of a folder, under a name.
measure() {
  python3 - "$1" "$paceline" plot "$2" -o "$work/figures" --force --format pdf,svg,png << 'END'
import os, resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
wall = time.monotonic() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
folder = sys.argv[6]
largest = max(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder)) / 1e6
print(f"{sys.argv[1]:<32} {wall:8.2f} s {peak:8.1f} MiB {largest:8.2f} MB{'' if status == 0 else f'   exit code {status}'}")
END
  rm -rf -- "$work/figures"
}

measure "a study of 10,000 runs" "$work/study"
measure "a timeline of 1,000,000 events" "$work/run"
