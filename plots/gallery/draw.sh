#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md, the README and the guide. Takes some minutes of processor time.
# quickstart-accuracy.png only where scenarios/quickstart.sh has left its results.
set -euo pipefail

root="$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
paceline="${PACELINE:-$root/build/paceline}"
gallery="$root/docs/gallery"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

# draw NAME FIGURE FOLDER...: one picture, small.
draw() {
  local name="$1" figure="$2"
  shift 2
  "$paceline" plot "$@" --only "$figure" --format png --no-footer -o figures --force > /dev/null
  mv -- "figures/$figure.png" "$gallery/$name.png"
}

# Six nodes, six policies, three stragglers: the study of the guide.
"$paceline" study "$root/scenarios/guide/study.yaml" --folders -o six > /dev/null 2>&1
for figure in accuracy-over-time time-to-accuracy staleness attribution batches-over-time updates-per-worker; do
  draw "six-$figure" "$figure" six/*straggler-none
done
draw six-time-against-straggler time-against-straggler six
draw accuracy-by-case accuracy-over-time six
draw accuracy-small-multiples accuracy-over-time six/*straggler-none six/*straggler-2x
draw accuracy-over-samples accuracy-over-samples six/*straggler-none
draw loss-over-time loss-over-time six/*straggler-none

# The same nodes over networks and rates.
cat > rates.yaml << END
study: rates
question: Which rate on which network?
base: $root/scenarios/guide/six-nodes.yaml
replications: 3
variants:
  - {name: BSP, set: {batching.controller: static}}
  - {name: ASP, set: {synchronization: [{policy: asp, transport: server}]}}
  - name: BSP 20 %, then ASP
    set: {synchronization: [{policy: bsp, transport: ring, share: 20 %}, {policy: asp, transport: server}]}
vary:
  - name: bandwidth
    cases:
      - {label: 1 Gbit/s, set: {cluster.network: {topology: star, bandwidth: 1 Gbit/s, latency: 50 us}}}
      - {label: 2.5 Gbit/s, set: {cluster.network: {topology: star, bandwidth: 2.5 Gbit/s, latency: 50 us}}}
      - {label: 5 Gbit/s, set: {cluster.network: {topology: star, bandwidth: 5 Gbit/s, latency: 50 us}}}
      - {label: 10 Gbit/s, set: {cluster.network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}}
  - {key: job.optimizer.learning_rate, name: rate, values: [0.025, 0.05, 0.1]}
figures:
  - {name: time-against-bandwidth, metric: time_to_accuracy_s, against: bandwidth, series: variant, where: {rate: ["0.05"]}}
END
"$paceline" study rates.yaml -o rates --set stop.accuracy=0.60 > /dev/null 2>&1
for figure in time-against-bandwidth time-map pareto tornado; do draw "$figure" "$figure" rates; done

# One run each of three policies, looked at closely, to the end of the work.
for policy in bsp asp dssp; do
  transport=server
  bounds=
  if [[ $policy == bsp ]]; then transport=ring; fi
  if [[ $policy == dssp ]]; then bounds=", staleness: 1, staleness_maximum: 3"; fi
  "$paceline" run "$root/scenarios/guide/six-nodes.yaml" --set "name=${policy^^}" --set 'stop={epochs: 8}' \
    --set "synchronization=[{policy: $policy, transport: $transport$bounds}]" --set replications=5 \
    --trace --iterations -o "close/$policy" > /dev/null 2>&1
done
for figure in worker-timeline compute-times outcomes; do draw "$figure" "$figure" close/*; done

# Files that stand for themselves.
draw profile profile "$root/scenarios/profiles/epyc-resnet32.json"
draw predicted-against-recorded predicted-against-recorded "$root/scenarios/learners/resnet32-cifar10.json"

# Those of README and examples.
"$paceline" study "$root/scenarios/examples/policies.yaml" -o stragglers > /dev/null 2>&1
draw stragglers-accuracy accuracy-over-time stragglers
mv -- "$gallery/stragglers-accuracy.png" "$root/plots/gallery/"
if [[ -e $root/results/quickstart/study/manifest.json ]]; then
  draw quickstart-accuracy accuracy-over-time "$root/results/quickstart/study"
  mv -- "$gallery/quickstart-accuracy.png" "$root/plots/gallery/"
fi
