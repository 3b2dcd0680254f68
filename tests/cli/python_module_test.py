"""Reads what the program writes with paceline.py. Arguments: the program, the checkout."""

import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CHECKOUT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(CHECKOUT / "plots" / "python"))
import paceline  # noqa: E402


def as_rows(table):
    return table if isinstance(table, list) else table.to_dict("records")


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name) / "results" / "policies"
        command = [PROGRAM, "study", "scenarios/examples/policies.yaml", "--set", "replications=2", "-o", cls.folder]
        subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_runs_has_a_row_for_each_replication_of_each_variant(self):
        rows = as_rows(paceline.runs(self.folder))
        self.assertEqual(len(rows), 5 * 2)
        self.assertEqual({row["replication"] for row in rows}, {0, 1})

    def test_numbers_are_the_files_own(self):
        with open(self.folder / "runs.csv", encoding="utf-8", newline="") as file:
            texts = [float(row["end_time_s"]) for row in csv.DictReader(file)]
        self.assertEqual([row["end_time_s"] for row in as_rows(paceline.runs(self.folder))], texts)

    def test_a_variants_folder_reads_as_the_run_it_is(self):
        names = [row["variant"] for row in as_rows(paceline.compare(self.folder))]
        one = next(path.parent for path in sorted(self.folder.glob("*/summary.csv")))
        rows = as_rows(paceline.runs(one))
        self.assertEqual(len(rows), 2)
        self.assertIn(rows[0]["variant"], names)
        end = {row["end_time_s"] for row in as_rows(paceline.runs(self.folder)) if row["variant"] == rows[0]["variant"]}
        self.assertEqual({row["end_time_s"] for row in rows}, end)

    def test_curves_keep_the_order_of_the_study(self):
        curves = as_rows(paceline.curves(self.folder))
        order = list(dict.fromkeys(row["variant"] for row in curves))
        self.assertEqual(order, [row["variant"] for row in as_rows(paceline.compare(self.folder))])

    def test_a_folder_of_something_else_is_refused(self):
        with self.assertRaises(paceline.ResultsError):
            paceline.runs(self.place.name)
        with self.assertRaises(paceline.ResultsError):
            paceline.compare(next(path.parent for path in sorted(self.folder.glob("*/summary.csv"))))

    def test_the_example_of_the_documents_runs(self):
        text = (CHECKOUT / "docs" / "python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"<!-- tried: python -->\n```python\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(blocks), 2)
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "plots" / "python")}
        printed = subprocess.run([sys.executable, "-c", "".join(blocks)], cwd=self.place.name, env=environment,
                                 check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(len(printed), 5 + 1)
        self.assertTrue(printed[0].startswith("BSP "))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
