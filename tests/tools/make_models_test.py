"""models/ holds what tools/make_models.py writes."""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

from python_support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import make_models
from model_kit.network import layers_of


class MakeModels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(ROOT / "models" / "resnet101.json", self.folder)  # ResNeXt is made from it
        self.addCleanup(setattr, make_models, "MODELS", make_models.MODELS)
        make_models.MODELS = self.folder
        make_models.main()

    def test_every_file_it_writes_stands_in_models_as_it_writes_it(self):
        files = sorted(self.folder.glob("*.json"))
        self.assertGreater(len(files), 30)
        for file in files:
            self.assertEqual(file.read_text(), (ROOT / "models" / file.name).read_text(), file.name)

    def test_what_it_reads_back_sums_to_the_totals(self):
        for file in self.folder.glob("*.json"):
            for variant in json.loads(file.read_text())["variants"]:
                layers = list(layers_of(variant))
                tensors = [tensor for layer in layers for tensor in layer.get("tensors", [])]
                self.assertEqual(len(tensors), variant["tensors"], file.name)
                self.assertEqual(sum(layer.get("macs", 0) for layer in layers), variant["macs"], file.name)
                self.assertEqual(len({layer["name"] for layer in layers}), len(layers), file.name)


if __name__ == "__main__":
    unittest.main()
