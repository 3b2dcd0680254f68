#!/usr/bin/env python3
"""Prints predicted beside real times as a table for docs/real-jobs.md.

Usage:      table.py RESULTS      (the folder written by `paceline validate live`)

Error:      real / predicted - 1, medians; at usual pace: of runs before and after which the machine was as fast as
            before the prediction, and how many they are. Null: samples a second if nothing but computing took time.
"""
import csv
import json
import pathlib
import sys

QUANTITIES = ["iteration of worker 0", "iteration of worker 1", "updates a second", "samples a second", "mean staleness",
              "final batch of worker 0", "final batch of worker 1", "time to accuracy", "total time"]


def number(text):
    return f"{float(text):.4g}" if text else "-"


def span(low, high):
    return f"{number(low)} to {number(high)}" if low else "-"


def percent(real, predicted):
    return f"{100 * (float(real) / float(predicted) - 1):+.1f} %" if real and predicted and float(predicted) else "-"


def at_usual_pace(row):
    error = row.get("error_at_usual_pace")
    return f"{100 * float(error):+.1f} % ({row['runs_at_usual_pace']})" if error else "-"


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    try:
        with open(folder / "validation.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        sealed = json.loads((folder / "sealed.json").read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}\nhint: name the folder written by `paceline validate live`")
    print(f"Sealed {sealed['time']}, prediction.csv {sealed['fnv1a']}.")
    for name, words in sealed.get("calibrated", {}).items():
        print(f"{name}: {words}")
    print("\n| scenario | quantity | predicted | 90 % | real | runs from - to | error | at usual pace | inside | null |")
    print("|" + 10 * "---|")
    for row in rows:
        if row["quantity"] not in QUANTITIES:
            continue
        print("|", " | ".join([row["scenario"], f"{row['quantity']} [{row['unit']}]", number(row["predicted"]),
                               span(row["predicted_low"], row["predicted_high"]), number(row["real"]),
                               span(row["real_least"], row["real_most"]), percent(row["real"], row["predicted"]),
                               at_usual_pace(row),
                               f"{row['inside']}/{row['runs']}" if row["predicted_low"] else "-",
                               percent(row["real"], row["null_model"])]), "|")


if __name__ == "__main__":
    main()
