"""ResNet-50 and VGG-16 by every exporter, layer by layer and tensor by tensor as models/*.json has them."""

import json
import unittest
import warnings

from python_support import ROOT, InAFolder, is_here, require

require("torch", "torchvision")


class Export(InAFolder):
    def exported(self, tool, *arguments):
        """The variant that the tool writes, once farandole has accepted it."""
        finished = self.tool(tool, *arguments, "--output", "own.json")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("own.json: model, ok", self.farandole("check", "own.json"))
        return json.loads((self.folder / "own.json").read_text())["variants"][0]

    def ours(self, name):
        return json.loads((ROOT / "models" / f"{name}.json").read_text())["variants"][0]

    def test_torchvision_s_models_are_those_in_models(self):
        for name in ("resnet50", "vgg16", "inception_v3"):
            with self.subTest(name):
                exported, ours = self.exported("export_torch.py", name), self.ours(name)
                self.assertEqual(exported["layers"], ours["layers"])
                for total in ("input", "parameters", "tensors", "macs"):
                    self.assertEqual(exported[total], ours[total])

    def test_what_pytorch_writes_as_onnx_has_the_tensors_and_the_work_of_those_in_models(self):
        if not is_here("onnx"):
            self.skipTest("no onnx; tools/setup python installs it")
        import torch
        import torchvision
        for name in ("resnet50", "vgg16"):
            with warnings.catch_warnings(), self.subTest(name):
                warnings.simplefilter("ignore")
                torch.onnx.export(torchvision.models.get_model(name), torch.zeros(2, 3, 224, 224), str(self.folder / "own.onnx"),
                                  training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
                rows = [[(layer["name"], layer["type"], layer.get("macs"), layer["output"], layer["tensors"])
                         for layer in variant["layers"] if "tensors" in layer]
                        for variant in (self.exported("export_onnx.py", "own.onnx"), self.ours(name))]
                self.assertEqual(*rows)


if __name__ == "__main__":
    unittest.main()
