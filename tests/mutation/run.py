#!/usr/bin/env python3
"""Do the tests notice a small mistake? Makes one at a time in a scratch copy, builds, and runs the tests.

    tests/mutation/run.py                          the mutations of tests/mutation/mutations.txt
    tests/mutation/run.py --random 60 --seed 1     drawn from operators, constants, conditions of the FOLDERS below
    tests/mutation/run.py --only 3,17              some of them, by number

A mutation is killed when a test fails; it survives when all tests that can notice it pass (PROGRAMS below); one that does
not compile is neither. By hand, not in CI: each takes a build of what it touches. Results are appended to
OUTPUT/results.csv; a mutation that is there is not tried again. Exit code 1 if one survived.
"""

import argparse
import csv
import pathlib
import random
import re
import subprocess
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["sim/training", "sim/policy", "sim/engine", "sim/cost", "sim/learning", "sim/cluster", "sim/base",
           "sim/report", "sim/study", "calibrate/fit", "calibrate/learning"]
# What is replaced by what; a line that is a comment, an include or a message is left alone.
SWAPS = [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
         (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "), (r" && ", " || "), (r" \|\| ", " && "),
         (r"std::min\(", "std::max("), (r"std::max\(", "std::min("), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
         (r"\b0\.5\b", "0.6"), (r"\b1\.0\b", "1.1"), (r"\b2\.0\b", "2.2"), (r"\+= ", "-= "), (r"if \((?!!)", "if (!")]


def listed(path):
    """Lines `file | old | new`; old stands exactly once in the file, with \\n for a line's end. '#' starts a comment."""
    mutations = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(" | ")
        if len(parts) != 3:
            sys.exit(f"{path}:{number}: expected `file | old | new`")
        mutations.append(tuple(part.replace("\\n", "\n") for part in parts))
    return mutations


def drawn(count, seed):
    """The same for the same sources, count and seed."""
    sites = []
    for folder in FOLDERS:
        for path in sorted((CHECKOUT / folder).rglob("*.cpp")):
            text = path.read_text(encoding="utf-8")
            for line in dict.fromkeys(text.splitlines()):
                code = line.split("//")[0]
                if text.count(line) != 1 or '"' in code or code.lstrip().startswith(("#", "template", "using")):
                    continue
                sites += [(str(path.relative_to(CHECKOUT)), line, code[:m.start()] + new + line[m.end():])
                          for old, new in SWAPS for m in re.finditer(old, code)]
    return random.Random(seed).sample(sites, min(count, len(sites)))


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


# What can notice a mistake in a folder: its own tests first, where most mutants end.
PROGRAMS = {"sim/study/search": ["study/search", "study", "cli"], "sim/study": ["study", "study/search", "cli"],
            "sim/report": ["report", "plots", "cli"],
            "sim/base": ["base", "report", "cost", "training", "calibrate/fit", "cli"],
            "sim/cost": ["cost", "policy", "training", "calibrate/fit", "cli"],
            "sim/cluster": ["cluster", "training", "engine", "property"],
            "sim/engine": ["engine", "training", "report", "property"],
            "sim/learning": ["learning", "training", "calibrate/learning", "cli"],
            "sim/policy": ["policy", "training", "property"], "sim/training": ["training", "report", "property"],
            "calibrate/fit": ["calibrate/fit", "calibrate/cli"],
            "calibrate/learning": ["calibrate/learning", "calibrate/validation", "cli"]}


def programs_of(file):
    return next(programs for folder, programs in PROGRAMS.items() if file.startswith(folder + "/"))


def outcome(scratch, mutation):
    file, old, new = mutation
    path = scratch / file
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        return f"stale: the old text stands {text.count(old)} times in the file"
    path.write_text(text.replace(old, new), encoding="utf-8")
    try:
        for program in programs_of(file):
            target = f"test_{program.replace('/', '_')}"
            if run(["cmake", "--build", "build", "--target", target], cwd=scratch).returncode != 0:
                return "does not compile"
            tests = run(["ctest", "--test-dir", "build", "--parallel", "2", "--stop-on-failure", "--timeout", "600",
                         "-R", f"^{program}:"], cwd=scratch)
            failed = re.search(r"\d+ - (.*) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted)", tests.stdout)
            if tests.returncode != 0:
                return f"killed by: {failed.group(1) if failed else 'ctest'}"
        return "survived"
    finally:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, metavar="N", help="draw N mutations instead of reading the list")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing (default: 1)")
    parser.add_argument("--only", metavar="N,M", help="of the list or the drawing, from 1")
    parser.add_argument("--list", action="store_true", help="print the mutations, try none")
    parser.add_argument("--output", type=pathlib.Path, default=CHECKOUT / "build-mutation",
                        help="scratch copy and results (default: build-mutation)")
    given = parser.parse_args()
    if given.random:
        mutations = drawn(given.random, given.seed)
    else:
        mutations = listed(pathlib.Path(__file__).with_name("mutations.txt"))
    if given.random:
        print(f"{len(mutations)} mutations drawn with seed {given.seed}")
    numbered = list(enumerate(mutations, 1))
    if given.only:
        wanted = {int(number) for number in given.only.split(",")}
        numbered = [entry for entry in numbered if entry[0] in wanted]
    if given.list:
        for number, (file, old, new) in numbered:
            print(f"{number:3} {file}\n    - {old.strip()}\n    + {new.strip()}")
        return 0

    scratch, results = given.output / "checkout", given.output / "results.csv"
    given.output.mkdir(exist_ok=True)
    if not scratch.exists():
        subprocess.run(["git", "clone", "--quiet", CHECKOUT, scratch], check=True)
    subprocess.run(["cmake", "--preset", "release", "-D", "CMAKE_UNITY_BUILD=OFF"], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    targets = sorted({f"test_{p.replace('/', '_')}" for _, m in numbered for p in programs_of(m[0])})
    subprocess.run(["cmake", "--build", "build", "--target", *targets], cwd=scratch, check=True)
    known = {}
    if results.exists():
        with open(results, encoding="utf-8", newline="") as file:
            known = {tuple(row[:3]): row[3] for row in csv.reader(file)}
    ended = []
    for number, mutation in numbered:
        if mutation not in known:
            known[mutation] = outcome(scratch, mutation)
            with open(results, "a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow([*mutation, known[mutation]])
        ended.append(known[mutation])
        print(f"{number:3} {mutation[0]}: {mutation[1].strip()}  ->  {mutation[2].strip()}")
        print(f"      {known[mutation]}", flush=True)
    survived = sum(text == "survived" for text in ended)
    stale = sum(text.startswith("stale") for text in ended)
    print(f"{len(ended)} mutations: {survived} survived, {stale} stale, "
          f"{sum(text == 'does not compile' for text in ended)} did not compile, the rest were killed")
    return 1 if survived or stale else 0


if __name__ == "__main__":
    sys.exit(main())
