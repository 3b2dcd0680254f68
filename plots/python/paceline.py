"""Results of paceline as tables: folders that `paceline run` and `paceline study` wrote.

    import paceline
    paceline.runs("results/study")       one row for each replication of each variant
    paceline.curves("results/study")     one row for each evaluation
    paceline.compare("results/study")    one row for each variant

A table is a pandas.DataFrame where pandas is installed, else a list of dicts. Numbers are numbers, and an empty
cell is NaN in a DataFrame and None in a list. Columns and units are those of docs/results.md. Only the standard
library is needed.
"""

import csv
import json
import pathlib

try:
    import pandas
except ImportError:
    pandas = None

__all__ = ["runs", "curves", "compare", "ResultsError"]


class ResultsError(Exception):
    """The folder is not what paceline wrote, or lacks the file that is asked for."""


def runs(folder):
    """One row for each replication: its time to the target, end, final accuracy, mean staleness and more.

    Of a run: `summary.csv`. Of a study: the finished rows of `runs.csv`, with a column for everything it varies;
    `variant` names the whole combination, as in the other tables.
    """
    folder = _results(folder)
    if (folder / "runs.csv").exists():
        varied = _manifest(folder)["columns"]
        rows = [row for row in _read(folder / "runs.csv") if row["status"] == "done"]
        return _table([{**_values(row), "variant": _name(row, varied)} for row in rows])
    name = _manifest(folder)["name"]
    return _table([{"variant": name, **_values(row)} for row in _read(folder / "summary.csv")])


def curves(folder):
    """One row for each evaluation of each replication: time, updates, samples, epoch, loss, accuracy.

    Of a run: `curve.csv`. Of a study: those of all its variants, if it has folders for them (named variants,
    or `paceline study --folders`).
    """
    folder = _results(folder)
    found = [folder] if (folder / "curve.csv").exists() else sorted(p.parent for p in folder.glob("*/curve.csv"))
    if not found:
        raise ResultsError(f"{folder}: no curve.csv here or one level below; run the study with --folders")
    by_name = {_manifest(one)["name"]: one for one in found}
    order = _manifest(folder).get("variants", [])
    names = [n for n in order if n in by_name] + [n for n in by_name if n not in order]
    rows = [(name, row) for name in names for row in _read(by_name[name] / "curve.csv")]
    return _table([{"variant": name, **_values(row)} for name, row in rows])


def compare(folder):
    """One row for each variant: P(reach), median time and its range, speed-up over the first one.

    Of a study, from `comparison.csv`.
    """
    folder = _results(folder)
    if not (folder / "comparison.csv").exists():
        raise ResultsError(f"{folder}: no comparison.csv; a single run has nothing to compare")
    return _table([_values(row) for row in _read(folder / "comparison.csv")])


def _results(folder):
    folder = pathlib.Path(folder)
    if not (folder / "manifest.json").exists():
        raise ResultsError(f"{folder}: no manifest.json; is it a folder that paceline wrote?")
    return folder


def _manifest(folder):
    with open(folder / "manifest.json", encoding="utf-8") as file:
        return json.load(file)


# As comparison.csv names the combination.
def _name(row, varied):
    named = [(column, row[column]) for column in varied if column != "variant" or row[column]]
    return ", ".join(label if column == "variant" else f"{column} {label}" for column, label in named)


def _read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _values(row):
    return {column: _value(column, text) for column, text in row.items()}


# Identifiers are text even when every digit of one happens to be a decimal digit.
_TEXT = {"variant", "run", "status", "end_reason", "message"}


def _value(column, text):
    if column in _TEXT:
        return text
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _table(rows):
    return pandas.DataFrame(rows) if pandas else rows
