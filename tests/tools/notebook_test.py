"""The notebooks run from top to bottom, and give what stands in them: the same words, and numbers of the same size.

Numbers may move by a tenth, so that a better model of a machine does not make a lesson wrong; a sentence beside them could be
no more exact.
"""

import math
import unittest

from python_support import ROOT, require

require("farandole", "nbformat", "nbclient", "ipykernel", "pandas", "matplotlib")

import nbclient
import nbformat


def words_of(cell):
    """What the cell printed and showed as text, but for the blanks, which depend on versions; pictures by their kind."""
    texts = []
    for output in cell.get("outputs", []):
        is_picture = "image/png" in output.get("data", {})
        texts += ["picture"] if is_picture else (output.get("text") or output["data"]["text/plain"]).split()
    return texts


def number_of(word):
    try:
        return float(word.replace(",", "").rstrip(";"))
    except ValueError:
        return None


def alike(one, other):
    a, b = number_of(one), number_of(other)
    return one == other if a is None or b is None else math.isclose(a, b, rel_tol=0.1, abs_tol=1e-9)


class Notebooks(unittest.TestCase):
    def test_each_gives_its_saved_outputs(self):
        notebooks = sorted((ROOT / "tools" / "notebooks").glob("*.ipynb"))
        self.assertTrue(notebooks)
        for path in notebooks:
            with self.subTest(path.name):
                saved, run = nbformat.read(path, 4), nbformat.read(path, 4)
                nbclient.NotebookClient(run, timeout=300, kernel_name="python3",
                                        resources={"metadata": {"path": str(path.parent)}}).execute()
                for now, before in zip(run.cells, saved.cells):
                    words, wanted = words_of(now), words_of(before)
                    self.assertEqual(len(words), len(wanted), now.source)
                    self.assertEqual([pair for pair in zip(words, wanted) if not alike(*pair)], [], now.source)


if __name__ == "__main__":
    unittest.main()
