"""tools/accuracy: collectives and differences are predicted as well as docs/accuracy says, and it tells where they are not."""

import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

from python_support import PROGRAM, ROOT, SKIPPED

if not pathlib.Path(PROGRAM).is_file():
    print(f"skipped: {PROGRAM} is not built")
    sys.exit(SKIPPED)

sys.path.insert(0, str(ROOT / "tools"))
LOADER = importlib.machinery.SourceFileLoader("accuracy", str(ROOT / "tools" / "accuracy"))
accuracy = importlib.util.module_from_spec(importlib.util.spec_from_loader("accuracy", LOADER))
LOADER.exec_module(accuracy)

RECORD = ROOT / "docs" / "accuracy" / "accuracy.json"


class Accuracy(unittest.TestCase):
    def test_nothing_is_worse_than_the_record(self):
        finished = subprocess.run([ROOT / "tools" / "accuracy"], capture_output=True, text=True, check=False, timeout=400)
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))

    def test_the_page_is_the_record(self):
        record = json.loads(RECORD.read_text())
        self.assertEqual((RECORD.parent / "collectives.md").read_text(), accuracy.page(record))

    def test_a_median_a_point_higher_and_a_lost_row_are_told(self):
        record = json.loads(RECORD.read_text())
        name = "dgx-h100-8ranks | allreduce | 8 and more of a node | above"
        for change in ({"median": record["cold"][name]["median"] + 0.0101}, {"rows": record["cold"][name]["rows"] - 1}):
            now = json.loads(RECORD.read_text())
            now["cold"][name].update(change)
            with self.subTest(change):
                self.assertEqual([line.startswith(f"cold, {name}") for line in accuracy.worse(record, now)], [True])
        now["cold"].pop(name)
        self.assertEqual(list(accuracy.worse(record, now)), [f"cold, {name}: {record['cold'][name]['rows']} rows, now 0"])
        self.assertEqual(list(accuracy.worse(record, record)), [])

    def test_bands_hold_four_rows_in_five_of_tables_over_several_nodes_that_they_were_not_made_of(self):
        cold = json.loads(RECORD.read_text())["cold"]
        for _, sizes in accuracy.CLASSES:
            with self.subTest(sizes):
                self.assertGreaterEqual(cold[f"all | several nodes | {sizes}"]["inside"], 0.74)
                self.assertLessEqual(cold[f"all | several nodes | {sizes}"]["inside"], 0.86)

    def test_a_band_is_of_three_tables_or_more_and_holds_the_prediction(self):
        tables = [[{"measured": one, "predicted": 1.0}] for one in (1.1, 1.2, 1.3)]
        self.assertEqual(accuracy.band(tables), [1, 1.3])  # k = .4 and 3.6 of 3
        self.assertIsNone(accuracy.band(tables[:2]))

    def test_a_band_that_moved_is_told(self):
        recorded = json.loads(accuracy.BANDS.read_text())
        recorded.pop("comment")
        now = json.loads(json.dumps(recorded))
        now["several nodes"]["cold"][2][1] *= 1.02
        self.assertEqual([line.startswith("collectives.json, several nodes, cold: ") for line in accuracy.moved(recorded, now)], [True])
        self.assertEqual(list(accuracy.moved(recorded, recorded)), [])

    def test_a_wrong_sign_and_sureness_that_is_not_earned_are_told(self):
        record = json.loads(RECORD.read_text())
        kinds = record[accuracy.RATIOS]
        self.assertGreaterEqual(kinds["all"]["rows"], 120)
        self.assertGreaterEqual(sum(not name.startswith(("all", "sure")) for name in kinds), 8)
        self.assertLessEqual(kinds["all"]["wrong_signs"], 0.05 * kinds["all"]["changes"])
        self.assertGreaterEqual(kinds["sure from 90 %"]["came_out"], 0.88)
        for name, change in (("ranks", {"wrong_signs": kinds["ranks"]["wrong_signs"] + 1}), ("sure from 90 %", {"came_out": 0.8}),
                             ("network", {"median": kinds["network"]["median"] + 0.0101})):
            now = json.loads(RECORD.read_text())
            now[accuracy.RATIOS][name].update(change)
            with self.subTest(name):
                self.assertEqual([line.startswith(f"{accuracy.RATIOS}, {name}: ") for line in accuracy.worse(record, now)], [True])


if __name__ == "__main__":
    unittest.main()
