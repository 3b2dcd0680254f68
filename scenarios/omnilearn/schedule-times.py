#!/usr/bin/env python3
"""Prints hours, imbalance, growth and lag of schedules.yaml, a table for each protocol.

Usage:  schedule-times.py RESULTS      (the folder written by `paceline study scenarios/omnilearn/schedules.yaml`)
Cells:  hours ± standard deviation (imbalance, growth of the total batch; adjustments, mean lag): means over the replications.
        Imbalance: slowest iteration over that of the best division of the same total batch, mean over the run's time.
        Lag: from a change of the cores to the adjustment that answers it.
"""
import collections
import csv
import math
import pathlib
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)
runs = collections.defaultdict(list)
with open(pathlib.Path(sys.argv[1]) / "runs.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        if row["status"] == "done":
            runs[row["protocol"], row["model"], row["batches"]].append(row)


def distinct(index):
    return list(dict.fromkeys(key[index] for key in runs))


def rounded(value, digits):
    exact = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(exact)))) if exact else 0
    return f"{exact:,.{decimals}f}"


def cell(rows):
    values = lambda column: [float(row[column]) for row in rows if row[column]]
    mean = lambda column: sum(values(column)) / len(values(column))
    hours = [seconds / 3600 for seconds in values("end_time_s")]
    middle = sum(hours) / len(hours)
    spread = math.sqrt(sum((h - middle) ** 2 for h in hours) / (len(hours) - 1)) if len(hours) > 1 else 0.0
    text = f"{rounded(middle, 3)} ± {rounded(spread, 1)} ({mean('mean_imbalance'):.2f}, {mean('mean_batch_growth'):.2f}"
    if mean("adjustments") > 0:
        text += f"; {mean('adjustments'):.0f}"
        text += f", {mean('mean_lag_s'):.0f} s" if values("mean_lag_s") else ", none answered"
    return text + ")"


for protocol in distinct(0):
    print(f"\n| {protocol} | " + " | ".join(distinct(2)) + " |")
    print("|---" * (1 + len(distinct(2))) + "|")
    for model in distinct(1):
        print(f"| {model} | " + " | ".join(cell(runs[protocol, model, batches]) for batches in distinct(2)) + " |")
