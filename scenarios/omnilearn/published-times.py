#!/usr/bin/env python3
"""Prints published and simulated times of OmniLearn (ACSOS 2020), figures 1, 3, 6 and 7a, beside null models.

Usage:  published-times.py FIGURE-6-RESULTS FIGURE-3-RESULTS FIGURE-7A-RESULTS
        (folders written by `paceline study` for figure-6-study.yaml, figure-3.yaml and figure-7a.yaml)

Scale:  one constant per model (figure 6: ResNet-50 and linear regression; figure 7a: ResNet-50 on GPU and CPU), such that
        the first uniform time is the published one. Linear regression has the same relative profile: nothing else is known.
Null models: slowest cores  time ~ 1 / the slowest worker's core count
             balance        every core counts alike and never waits: time as at H1
"""
import csv
import pathlib
import sys

FIGURE_6 = {  # level: cores, ResNet-50 uniform / dynamic, linear regression uniform / dynamic (minutes)
    "H1": ((13, 13, 13), 220, 226, 28, 32),
    "H2": ((9, 12, 18), 425, 267, 45, 36),
    "H10": ((2, 17, 20), 1290, 668, 380, 265),
}
FIGURE_7A = {"uniform": 376, "static": 104, "dynamic": 104}


def end_times(folder):
    with open(pathlib.Path(folder) / "comparison.csv", newline="", encoding="utf-8") as file:
        return {row["variant"]: float(row["end_time_median_s"]) for row in csv.DictReader(file)}


def growth_and_imbalance(folder, variant):
    name = "".join(c if c.isalnum() else "-" for c in variant.lower())
    while "--" in name:
        name = name.replace("--", "-")
    with open(pathlib.Path(folder) / name.strip("-") / "summary.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    mean = lambda column: sum(float(row[column]) for row in rows) / len(rows)
    return mean("mean_batch_growth"), mean("mean_imbalance")


def error(simulated, published):
    return f"{100 * (simulated / published - 1):+.0f} %"


def print_figure_6(folder):
    times = end_times(folder)
    print("| model | level | batches | published, min | simulated | error | slowest cores | balance | growth of the batch | imbalance |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for model, columns in (("ResNet-50", (1, 2)), ("linear regression", (3, 4))):
        first = FIGURE_6["H1"][columns[0]]
        scale = first / times["H1, uniform"]
        for level, row in FIGURE_6.items():
            for batches, column in zip(("uniform", "dynamic"), columns):
                variant = f"{level}, {batches}"
                simulated = scale * times[variant]
                slowest = first * 13 / min(row[0]) if batches == "uniform" else first
                growth, imbalance = growth_and_imbalance(folder, variant)
                print(f"| {model} | {level} | {batches} | {row[column]} | {simulated:.0f} | "
                      f"{error(simulated, row[column])} | {slowest:.0f} | {first} | {growth:.2f} | {imbalance:.2f} |")
    print()
    print("| gain of dynamic batches | H1 | H2 | H10 |")
    print("|---|---|---|---|")
    for model, columns in (("ResNet-50", (1, 2)), ("linear regression", (3, 4))):
        gains = [f"{row[columns[0]] / row[columns[1]]:.2f}" for row in FIGURE_6.values()]
        print(f"| {model}, published | {' | '.join(gains)} |")
    for word in ("dynamic", "proportional-repair"):
        gains = [f"{times[f'{level}, uniform'] / times[f'{level}, {word}']:.2f}" for level in FIGURE_6]
        print(f"| simulated, {word} | {' | '.join(gains)} |")
    nulls = [f"{13 / min(row[0]):.2f}" for row in FIGURE_6.values()]
    print(f"| null: slowest cores over balance | {' | '.join(nulls)} |")
    increase = 100 * (times["figure 1, uniform"] / times["H1, uniform"] - 1)
    print(f"\nFigure 1, cores 11, 4, 24 against 13, 13, 13: published +300 % (ResNet-50, CNN), +200 % (linear regression); "
          f"simulated {increase:+.0f} %; slowest cores {100 * (13 / 4 - 1):+.0f} %.")


def print_figure_3(folder):
    times = end_times(folder)
    steps = 2 * 50000 / 96  # two epochs of 50,000 samples in updates of 96
    print(f"\nFigure 3, cores 5, 3, 12: iteration of the slowest worker, published 4947 ms uniform and 1537 to 1559 ms dynamic; "
          f"simulated {1000 * times['uniform'] / steps:.0f} and {1000 * times['dynamic'] / steps:.0f} ms (updates of 96 samples); "
          f"perfect balance of cores {1000 * 0.811 * 12 * 3 / 20:.0f} ms.")


def print_figure_7a(folder):
    times = end_times(folder)
    scale = FIGURE_7A["uniform"] / times["uniform"]
    print("\n| figure 7a: P100 and 48 cores | published, min | simulated | error |")
    print("|---|---|---|---|")
    for batches, published in FIGURE_7A.items():
        simulated = scale * times[batches]
        print(f"| {batches} | {published} | {simulated:.0f} | {error(simulated, published)} |")


if len(sys.argv) != 4:
    sys.exit(__doc__)
print_figure_6(sys.argv[1])
print_figure_3(sys.argv[2])
print_figure_7a(sys.argv[3])
