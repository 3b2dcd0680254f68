#!/bin/sh
# Trains the small network for real, fits the learner of the built-in task to two policies, and compares it with real
# training under seven others: about 6 min of processor time. Run it with `paceline` on the PATH; results go to results/ of the checkout.
set -eu
cd "$(dirname "$0")/../.."
paceline study scenarios/learners/built-in/fitted.yaml -o results/built-in-fitted --force
paceline fit scenarios/learners/built-in/logs.yaml -o results/built-in-small-cnn.json --force
cp results/built-in-small-cnn.json scenarios/learners/
paceline study scenarios/learners/built-in/held-out.yaml -o results/built-in-held-out --force
paceline study scenarios/learners/built-in/predicted.yaml -o results/built-in-predicted --set replications=20 --force
paceline validate learner results/built-in-held-out results/built-in-predicted
