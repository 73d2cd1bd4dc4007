"""tools/export_torch.py against models/*.json, and networks of one's own against sums by hand."""

import json
import math
import os
import runpy
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

from python_support import ROOT, InAFolder, require

require("torch", "torchvision")

import torchvision  # noqa: E402, F401  before the tool is: a second and more each time

NETWORKS = """
import torch
from torch import nn

class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.recurrent = nn.LSTM(64, 64, 2, batch_first=True)
        self.next = nn.Linear(64, 1000)
        self.next.weight = self.words.weight
        self.unused = nn.Linear(5, 5)
        self.frozen = nn.Linear(64, 64).requires_grad_(False)

    def forward(self, words):
        return self.next(self.frozen(self.recurrent(self.words(words))[0]))

def attention():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), 1)

def up():
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 3, 2, 2))

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.c_attn(x).split(width, 2))
        scores = (q @ k.transpose(2, 3) / (width // self.heads) ** 0.5).softmax(-1)
        return self.c_proj((scores @ v).transpose(1, 2).reshape(batch, length, width))

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

class Decoder(nn.Module):
    def __init__(self, blocks, width, heads, words=50257, positions=1024):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, words):
        x = self.wte(words) + self.wpe(torch.arange(words.shape[1]))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))

def gpt2():
    return Decoder(12, 768, 12)

def gpt3():
    return Decoder(96, 12288, 96)

def only_with_data():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = float(torch.linspace(0, 1, 3)[-1].item())
            self.fc = nn.Linear(4, 2)

        def forward(self, x):
            return self.fc(x) * (self.scale if x.sum().item() < 1e9 else 0)
    return Net()

def large_with_data():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(8000, 8000) for _ in range(8))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x * x.sum().item()
    return Net()

def number():
    return 3
"""

SCENARIO = """{
  "name": "own",
  "workload": { "model": "own.json", "batch_per_rank": 8 },
  "platform": { "topology": "roce25-4xp100", "ranks": 8 },
  "strategy": { "kind": "ddp" },
  "measure": { "iterations": 2, "fidelity": "analytic" }
}"""


class ExportTorch(InAFolder):
    def setUp(self):
        super().setUp()
        self.write("net.py", NETWORKS)

    def tool(self, name, *arguments):
        """A process of its own, in which torch has been imported already."""
        command = [str(ROOT / "tools" / name), *arguments]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            sys.stdout.flush()
            sys.stderr.flush()
            child = os.fork()
            if child == 0:
                self.become(command, out, err)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, status, out.read(), err.read())

    def become(self, command, out, err):
        """Ends as `python3 COMMAND` does."""
        status = 1
        try:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.chdir(self.folder)
            sys.argv, sys.path[0] = command, str(ROOT / "tools")
            runpy.run_path(command[0], run_name="__main__")
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException:  # as the interpreter prints it
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def test_it_is_a_program_of_its_own(self):
        finished = super().tool("export_torch.py", "resnet51", "--output", "own.json")
        self.assert_refused(finished, "resnet51: expected a torchvision model")

    def export(self, model, *arguments):
        """The variant that the file holds, once farandole has accepted it."""
        finished = self.tool("export_torch.py", model, "--output", "own.json", *arguments)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("own.json: model, ok", self.farandole("check", "own.json"))
        return json.loads((self.folder / "own.json").read_text())["variants"][0]

    def test_resnet18_is_the_one_in_models_layer_by_layer_and_tensor_by_tensor(self):
        ours = json.loads((ROOT / "models" / "resnet18.json").read_text())["variants"][0]
        exported = self.export("resnet18")
        self.assertEqual(exported["layers"], ours["layers"])
        for total in ("input", "parameters", "tensors", "macs"):
            self.assertEqual(exported[total], ours[total])

    def test_attention_has_the_work_of_its_products_and_the_tensors_of_its_parts(self):
        layers = self.export("net.py:attention", "--input", "16x64")["layers"]
        self.assertEqual(layers[0]["type"], "multihead_attention")
        # 16 tokens of 64: query, key and value; scores and their use over all four heads; the projection.
        self.assertEqual(layers[0]["macs"], 16 * 64 * 192 + 2 * 16 * 16 * 64 + 16 * 64 * 64)
        self.assertEqual([tensor["shape"] for tensor in layers[0]["tensors"]], [[192, 64], [192], [64, 64], [64]])
        self.assertEqual(sum(layer.get("macs", 0) for layer in layers[1:]), 2 * 16 * 64 * 256)

    def test_a_tied_tensor_is_listed_once_and_what_is_not_trained_is_named_and_left_out(self):
        finished = self.tool("export_torch.py", "net.py:Language", "--input", "35:int64")
        self.assertIn("left out, not trained: unused.weight, unused.bias, frozen.weight, frozen.bias", finished.stderr)
        layers = {layer["name"]: layer for layer in json.loads(finished.stdout)["variants"][0]["layers"]}
        self.assertEqual(list(layers), ["words", "recurrent", "frozen", "next"])
        self.assertEqual(layers["words"]["tensors"], [{"name": "words.weight", "shape": [1000, 64]}])
        self.assertEqual(layers["next"]["tensors"], [{"name": "next.bias", "shape": [1000]}])
        self.assertEqual(layers["recurrent"]["macs"], 35 * 2 * 2 * 4 * 64 * 64)  # two layers, two matrices, four gates

    def test_gpt2_takes_seconds_and_what_has_no_batch_keeps_its_shape(self):
        start = time.monotonic()
        layers = {layer["name"]: layer for layer in self.export("net.py:gpt2", "--input", "1024:int64")["layers"]}
        self.assertLess(time.monotonic() - start, 60)  # with weights and gradients: half an hour
        self.assertEqual(sum(math.prod(tensor["shape"]) for layer in layers.values() for tensor in layer.get("tensors", [])),
                         124_439_808)
        self.assertEqual((layers["wte"]["input"], layers["wte"]["output"]), ([1024], [1024, 768]))
        self.assertEqual((layers["wpe"]["input"], layers["wpe"]["output"]), ([1024], [1024, 768]))  # was [512]
        ours = json.loads((ROOT / "models" / "gpt2_small.json").read_text())["variants"][0]
        causal = 12 * 1024 * 1024 * 768  # the half behind the mask, which this model computes too
        self.assertEqual(sum(layer.get("macs", 0) for layer in layers.values()), ours["macs"] + causal)

    def test_175_billion_parameters_need_no_memory(self):
        variant = self.export("net.py:gpt3", "--input", "1024:int64")
        self.assertAlmostEqual(variant["parameters"], 174.6e9, delta=0.1e9)

    def test_a_model_that_looks_at_its_data_is_run_with_data(self):
        finished = self.tool("export_torch.py", "net.py:only_with_data", "--input", "4")
        self.assertIn("built and run with data: aten._local_scalar_dense.default fails on meta tensors", finished.stderr)
        layers = self.export("net.py:only_with_data", "--input", "4")["layers"]
        self.assertEqual([(layer["name"], layer["macs"]) for layer in layers], [("fc", 8)])

    def test_a_large_model_that_meta_tensors_cannot_run_is_built_only_where_the_user_says_so(self):
        """2 GB of weights: refused before they are made, with the operation that failed."""
        start = time.monotonic()
        finished = self.tool("export_torch.py", "net.py:large_with_data", "--input", "8000")
        self.assert_refused(finished, "aten._local_scalar_dense.default fails on meta tensors")
        self.assertIn("--real", finished.stderr)
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn("--real", self.tool("export_torch.py", "--help").stdout)

    def test_a_transposed_convolution_multiplies_every_input_position_by_its_kernel(self):
        layers = self.export("net.py:up", "--input", "3x32x32")["layers"]
        self.assertEqual([layer["macs"] for layer in layers], [16 * 16 * 8 * 3 * 9, 16 * 16 * 8 * 3 * 4])

    def test_a_profile_times_every_layer_and_its_device_s_platforms_use_it(self):
        profile = self.export("net.py:up", "--input", "3x32x32", "--profile", "4", "--device", "p100", "--iterations", "2",
                              "--on", "cpu")["profiles"][0]
        self.assertEqual((profile["device"], profile["precision"], profile["batch"]), ("p100", "fp32", 4))
        self.assertEqual(list(profile["layers"]), ["0", "1"])
        times = [float(text.removesuffix(" ms")) for pair in profile["layers"].values() for text in pair]
        self.assertTrue(all(time > 0 for time in times), times)
        self.assertIn("pytorch profiled on p100: ", self.farandole("show", "model", "own.json"))
        self.write("scenario.json", SCENARIO)
        point = json.loads(self.farandole("run", "scenario.json", "--format", "json", "--set", "/platform/ranks=1",
                                          "--set", "/workload/batch_per_rank=4", "--set", "/workload/host_dispatch=ready",
                                          "--set", "/effects/step_jitter=0 %"))["points"][0]
        self.assertIn("profiled: layer times on p100 at batch 4, PyTorch", point["compute_source_detail"])
        update = float(profile["update"].removesuffix(" ms"))
        self.assertAlmostEqual(point["breakdown"]["compute"], (sum(times) + update) / 1000, delta=1e-9)

    def test_what_it_writes_runs(self):
        self.export("net.py:Language", "--input", "35:int64")
        self.write("scenario.json", SCENARIO)
        point = json.loads(self.farandole("run", "scenario.json", "--format", "json"))["points"][0]
        self.assertEqual(point["model"], "language")

    def test_bad_input_is_one_line_and_leaves_no_file(self):
        for arguments, message in [
                (["resnet51"], "resnet51: expected a torchvision model"),
                (["net.py:number", "--input", "4"], "net.py:number: expected a torch.nn.Module, got int"),
                (["net.py:nothing", "--input", "4"], "net.py:nothing: module 'net' has no attribute 'nothing'"),
                (["none.py:up", "--input", "4"], "none.py: expected a file, got none"),
                (["net.py:up"], "--input: expected the shape of one sample"),
                (["net.py:up", "--input", "3x32x32y"], "--input: expected the shape of one sample"),
                (["net.py:up", "--input", "4x32x32"], "the model fails in a pass with a batch of 2: RuntimeError"),
                (["net.py:up", "--input", "3x32x32", "--profile", "0"], "--profile, --iterations: expected whole numbers"),
                (["net.py:up", "--input", "3x32x32", "--name", "My net"], "--name: expected a name in snake_case")]:
            with self.subTest(arguments):
                self.assert_refused(self.tool("export_torch.py", *arguments, "--output", "own.json"), message)
                self.assertEqual([file.name for file in self.folder.glob("*.json")], [])


if __name__ == "__main__":
    unittest.main()
