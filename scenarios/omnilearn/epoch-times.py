#!/usr/bin/env python3
"""Prints time per epoch and imbalance of levels.yaml, a table for each model and protocol.

Usage:  epoch-times.py RESULTS [MODEL ...]      (the folder written by `paceline study scenarios/omnilearn/levels.yaml`)
Cells:  minutes per epoch (imbalance, growth of the total batch): means over the replications; imbalance: slowest iteration
        over that of the best division of the same total batch, mean over the run's time.
"""
import collections
import csv
import pathlib
import sys

EPOCHS = 3  # of levels.yaml

if len(sys.argv) < 2:
    sys.exit(__doc__)
runs = collections.defaultdict(list)
with open(pathlib.Path(sys.argv[1]) / "runs.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        if row["status"] == "done":
            runs[row["model"], row["protocol"], row["level"], row["batches"]].append(row)


def distinct(index):
    return list(dict.fromkeys(key[index] for key in runs))


def cell(rows):
    mean = lambda column: sum(float(row[column]) for row in rows) / len(rows)
    return f"{mean('end_time_s') / 60 / EPOCHS:.1f} ({mean('mean_imbalance'):.2f}, {mean('mean_batch_growth'):.2f})"


for model in sys.argv[2:] or distinct(0):
    for protocol in distinct(1):
        print(f"\n| {model}, {protocol} | " + " | ".join(distinct(3)) + " |")
        print("|---" * (1 + len(distinct(3))) + "|")
        for level in distinct(2):
            cells = [cell(runs[model, protocol, level, batches]) for batches in distinct(3) if runs[model, protocol, level, batches]]
            if cells:
                print(f"| {level} | " + " | ".join(cells) + " |")
