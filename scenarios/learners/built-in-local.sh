#!/bin/sh
# Trains the small network with local steps, fits the learner of local training to these runs, and compares it with real training
# it was not fitted to: some 25 min of processor time. Run it with `paceline` on the PATH; results go to results/ of the checkout.
set -eu
cd "$(dirname "$0")/../.."
here=scenarios/learners/built-in
paceline study $here/local.yaml -o results/built-in-local --folders --force
paceline fit $here/logs-local.yaml -o results/built-in-small-cnn-local.json --bootstrap 0 --force
cp results/built-in-small-cnn-local.json scenarios/learners/
paceline study $here/held-out-local.yaml -o results/built-in-held-out-local --force
paceline study $here/held-out-local.yaml -o results/built-in-predicted-local --force \
  --set "learner={kind: statistical, model: scenarios/learners/built-in-small-cnn-local.json}" --set replications=200
paceline validate learner results/built-in-held-out-local results/built-in-predicted-local
