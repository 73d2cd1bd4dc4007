"""The notebooks run from top to bottom, and give what stands in them."""

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


class Notebooks(unittest.TestCase):
    def test_each_gives_its_saved_outputs(self):
        notebooks = sorted((ROOT / "tools" / "notebooks").glob("*.ipynb"))
        self.assertTrue(notebooks)
        for path in notebooks:
            with self.subTest(path.name):
                saved, run = nbformat.read(path, 4), nbformat.read(path, 4)
                nbclient.NotebookClient(run, timeout=300, kernel_name="python3",
                                        resources={"metadata": {"path": str(path.parent)}}).execute()
                self.assertEqual([words_of(cell) for cell in run.cells], [words_of(cell) for cell in saved.cells])


if __name__ == "__main__":
    unittest.main()
