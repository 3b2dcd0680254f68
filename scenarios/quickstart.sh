#!/usr/bin/env bash
# From a fresh checkout to a predicted time-to-accuracy on this machine's own processor.
set -euo pipefail

root="$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
output="$root/results/quickstart"
short=false
recalibrate=false

usage() {
  cat << 'END'
usage: scenarios/quickstart.sh [--short] [--recalibrate] [--output DIR]

Installs missing Debian packages, builds paceline, measures a small convolutional network on this
processor, and predicts for four uneven workers which way of synchronizing and batching reaches the
target accuracy soonest.

  --short        a quick calibration and two replications: shows that it works, not how well
  --recalibrate  measure again even if DIR holds a profile already
  --output DIR   where profile, results and figures go (default: results/quickstart in the checkout)
END
}

usage_error() {
  echo "error: $1" >&2
  usage >&2
  exit 2
}

while (($# > 0)); do
  case "$1" in
    --short) short=true ;;
    --recalibrate) recalibrate=true ;;
    --output | -o)
      (($# > 1)) || usage_error "$1 needs a folder"
      output="$2"
      shift
      ;;
    --output=*) output="${1#--output=}" ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) usage_error "unknown argument: $1" ;;
  esac
  shift
done
[[ -n "$output" ]] || usage_error "--output needs a folder"
output="$(realpath --canonicalize-missing -- "$output")"

heading() { printf '\n== %s\n' "$1"; }

"$root/scenarios/build.sh" paceline paceline-calibrate paceline_kernels_module
mkdir -p -- "$output"
paceline="$root/build/paceline"
profile="$output/profile.json"
# A quick profile is kept apart, so that the full quickstart never builds on it.
if [[ "$short" == true ]]; then profile="$output/profile-quick.json"; fi
study="$root/scenarios/quickstart/study.yaml"

heading "Calibrate: how long the network takes on this processor"
# Every worker of the study has one core.
calibrate=("$paceline" calibrate small-cnn --cores 1 -o "$profile")
if [[ "$short" == true ]]; then calibrate+=(--quick); else calibrate+=(--budget "30 s"); fi
if [[ ! -e "$profile" ]]; then
  "${calibrate[@]}"
elif [[ "$recalibrate" == true ]]; then
  "${calibrate[@]}" --force
else
  echo "$profile exists and is used; --recalibrate measures again"
fi

heading "Study: five policies on four uneven workers"
# Each replication draws another of the equally likely calibrations: how exact it is reaches the ranking.
run_study=("$paceline" study "$study" --set "job.profile=$profile" --profile-uncertainty -o "$output/study" --force)
if [[ "$short" == true ]]; then run_study+=(--set replications=2); fi
"${run_study[@]}"

heading "Which is best, and is that settled?"
"$paceline" compare "$output/study"

heading "Figures"
"$paceline" plot "$output/study" -o "$output/figures" --force

heading "Done"
shown_profile="$(printf '%q' "job.profile=$profile")"
cat << END
profile  $profile
results  $output/study
figures  $output/figures

Next, for instance, in $root:
  # every value of the scenarios, and where it comes from
  build/paceline check scenarios/quickstart/study.yaml --set $shown_profile
  # more replications, narrower intervals
  build/paceline study scenarios/quickstart/study.yaml --set $shown_profile --profile-uncertainty \\
    --set replications=20 -o results/more
  # all commands
  build/paceline --help
END
