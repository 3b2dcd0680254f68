#!/bin/sh
# Trains the small network for real, fits the learner of the built-in task to six policies, and compares it with real training
# under eight others: some 40 min of processor time. Run it with `paceline` on the PATH; results go to results/ of the checkout.
set -eu
cd "$(dirname "$0")/../.."
here=scenarios/learners/built-in
paceline study $here/fitted.yaml -o results/built-in-fitted --force
paceline fit $here/logs.yaml -o results/built-in-small-cnn.json --force
cp results/built-in-small-cnn.json scenarios/learners/
paceline study $here/held-out.yaml -o results/built-in-held-out --force
paceline study $here/held-out.yaml -o results/built-in-predicted --force \
  --set "learner={kind: statistical, model: scenarios/learners/built-in-small-cnn.json}" --set replications=200
paceline validate learner results/built-in-held-out results/built-in-predicted
