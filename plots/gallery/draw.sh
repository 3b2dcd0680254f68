#!/usr/bin/env bash
# Draws stragglers-accuracy.png, and quickstart-accuracy.png where scenarios/quickstart.sh has left its results.
set -euo pipefail

root="$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT

# draw RESULTS NAME: from the folder that holds results/, so that the figure's last line reads as documented.
draw() {
  "$root/build/paceline" plot "$1" -o "$work/figures" --force
  cp -- "$work/figures/accuracy-over-time.png" "$root/plots/gallery/$2-accuracy.png"
}

cd -- "$work"
"$root/build/paceline" study "$root/scenarios/examples/policies.yaml"
draw results/policies-under-stragglers stragglers
cd -- "$root"
if [[ -e results/quickstart/study/manifest.json ]]; then draw results/quickstart/study quickstart; fi
