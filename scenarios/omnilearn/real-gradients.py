#!/usr/bin/env python3
"""Prints what following the speeds of the workers does to accuracy: real-gradients.yaml, paired by seed.

Usage:      real-gradients.py RESULTS      (the folder written by `paceline study scenarios/omnilearn/real-gradients.yaml`)

Equation:   d_i = final accuracy with proportional-repair - with uniform ones, same seed, same number of samples;
            interval = mean(d) ± t(0.975, n - 1) · sd(d)/√n
            smallest difference that could be seen = (t(0.975, n - 1) + t(0.8, n - 1)) · sd(d)/√n: one that a test at 5 %
            finds in 80 % of such studies.
Nothing is claimed of a difference whose interval holds 0.
"""
import collections
import csv
import math
import pathlib
import sys


def t_quantile(p, degrees):
    """Student's t by bisection of its distribution, integrated by Simpson's rule."""
    scale = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))

    def cdf(t, steps=2000):
        h = t / steps
        f = [scale * (1 + (i * h) ** 2 / degrees) ** (-(degrees + 1) / 2) for i in range(steps + 1)]
        return 0.5 + h / 3 * (f[0] + f[-1] + 4 * sum(f[1:-1:2]) + 2 * sum(f[2:-1:2]))

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cdf(middle) < p else (low, middle)
    return high


def mean(values):
    return sum(values) / len(values)


def sd(values):
    return math.sqrt(sum((v - mean(values)) ** 2 for v in values) / (len(values) - 1))


if len(sys.argv) != 2:
    sys.exit(__doc__)
runs = collections.defaultdict(dict)
with open(pathlib.Path(sys.argv[1]) / "runs.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        runs[row["setting"], row["protocol"], row["level"], row["batches"]][row["replication"]] = row

print("| setting | protocol | level | batches | accuracy, uniform | accuracy | difference | 95 % interval | could be seen | pairs | time, relative |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for (setting, protocol, level, batches), of_variant in runs.items():
    if batches == "uniform":
        continue
    uniform = runs[setting, protocol, level, "uniform"]
    seeds = [s for s in of_variant if s in uniform and of_variant[s]["final_accuracy"] and uniform[s]["final_accuracy"]]
    number = lambda rows, s, column: float(rows[s][column])
    differences = [number(of_variant, s, "final_accuracy") - number(uniform, s, "final_accuracy") for s in seeds]
    n = len(seeds)
    if n < 2:
        print(f"left out, {n} pairs carried out: {setting}, {protocol}, {level}, {batches}", file=sys.stderr)
        continue
    error = sd(differences) / math.sqrt(n)
    half = t_quantile(0.975, n - 1) * error
    visible = (t_quantile(0.975, n - 1) + t_quantile(0.8, n - 1)) * error
    middle = mean(differences)
    times = mean([number(of_variant, s, "end_time_s") / number(uniform, s, "end_time_s") for s in seeds])
    print(f"| {setting} | {protocol} | {level} | {batches} | {mean([number(uniform, s, 'final_accuracy') for s in seeds]):.3f} | "
          f"{mean([number(of_variant, s, 'final_accuracy') for s in seeds]):.3f} | {middle:+.3f} | "
          f"{middle - half:+.3f} to {middle + half:+.3f} | {visible:.3f} | {n} | {times:.2f} |")
