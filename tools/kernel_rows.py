"""What training runs on a device, layer by layer, and what was measured of it: the rows that tools/fit_kernels.py fits to."""

import collections
import json
import math
import re

from farandole_process import ROOT
from model_kit.network import layers_of

DEVICES = ROOT / "topologies" / "devices"
TILE = 128  # rows and columns of what a multiprocessor computes at once: NVIDIA, Matrix Multiplication Background User's Guide
FILLING_BATCH = 128  # of rows that state none
MOVES = {"batch_norm": (3, 5, 0), "relu": (2, 3, 0), "dropout": (2, 2, 1), "softmax": (2, 3, 1), "layer_norm": (2, 3, 1),
         "rms_norm": (2, 3, 1), "cross_entropy": (2, 3, 1), "fused_cross_entropy": (2, 3, 1),
         "gelu": (2, 3, 1), "silu": (2, 3, 1), "rotary": (2, 2, 1),
         "multiply": (3, 5, 1), "add": (3, 1, 1), "flatten": (0, 0, 0), "": (2, 2, 0)}
Kernel = collections.namedtuple("Kernel", "kind macs intensity fast forward backward weights passes both passes_of_layer tiles")
Row = collections.namedtuple("Row", "device model variant precision batch seconds programs spread")


def elements(shape):
    return math.prod(shape)


def number(text):
    value, unit = re.fullmatch(r"([0-9.]+) ?([A-Za-z/]+)", text).groups()
    return float(value) * {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[unit[0]]


def kernel(layer, after_first, first):
    """A layer's kernels; `after_first`: behind the first layer with weights, `first`: it is that layer."""
    source, target = elements(layer["input"]), elements(layer["output"])
    macs, tensors = layer.get("macs", 0), layer.get("tensors", [])
    if not macs:
        forward, backward, pointwise = next(v for k, v in MOVES.items() if layer["type"].startswith(k))
        half = (source + target) / 2
        weights = sum(elements(t["shape"]) for t in tensors)
        return Kernel("pointwise" if pointwise else "memory", 0, 0, False, forward * half, backward * half, weights,
                      (1 + (after_first or first)) if forward else 0, source + target, 3 if after_first else 2 if first else 1, ())
    products = macs / target
    shape = tensors[0]["shape"] if tensors else []
    convolution = layer["type"].startswith("conv") and len(shape) > 2
    transposed = layer["type"].startswith("conv_transpose")
    fast = False
    area, inputs = 1, products
    if convolution:
        if transposed:
            shape = [shape[1], shape[0]] + shape[2:]
        groups = 1 if transposed else max(1, layer["input"][0] / shape[1])
        columns = shape[0] / groups
        area, inputs = elements(shape[2:]), shape[1]
        fast = groups == 1 and min(shape[2:]) >= 3 and source / (shape[1] * groups) == target / shape[0]
    else:
        columns = elements(shape) / products if len(shape) >= 2 else layer["output"][-1]
    places = target / (columns * groups) if convolution else target / columns
    places_in = source / (inputs * groups) if convolution else places
    tiles = ((places, columns, products),) + (((places_in, inputs, columns * area),) if after_first else ())
    return Kernel("convolution" if convolution else "matmul", macs, 2 * columns * products / (columns + products), fast,
                  source + target, source + target, sum(elements(t["shape"]) for t in tensors),
                  3 if after_first else 2 if first else 1, source + target, 3 if after_first else 2 if first else 1, tiles)


def load_model(name, variant, cache={}):
    if (name, variant) not in cache:
        layers = list(layers_of(next(v for v in json.loads((ROOT / "models" / f"{name}.json").read_text())["variants"]
                                     if v["name"] == variant)))
        weighted = [bool(layer.get("tensors")) for layer in layers]
        start = weighted.index(True)
        found = [kernel(layer, i > start, i == start) for i, layer in enumerate(layers)]
        shapes = [t["shape"] for layer in layers for t in layer.get("tensors", [])]
        cache[name, variant] = (list(collections.Counter(found).items()),
                                sum(map(elements, shapes)), len(shapes))
    return cache[name, variant]


def load_rows():
    devices, grouped = {}, collections.defaultdict(list)
    for file in sorted(DEVICES.glob("*.json")):
        device = json.loads(file.read_text())
        if "generation" not in device:
            continue
        devices[device["name"]] = {"multiprocessors": device["multiprocessors"], "generation": device["generation"], "bandwidth": number(device["memory_bandwidth"]),
                                   "peak": {k: number(v) for k, v in device["peak"].items()}}
        for row in device["measurements"]:
            if "outside_fit" in row:
                continue
            batch = row.get("batch", FILLING_BATCH)
            key = (device["name"], row["model"], row["variant"], row["precision"], batch)
            grouped[key].append(batch / row["samples_per_second"])
    rows = [Row(*key, math.exp(sum(map(math.log, times)) / len(times)), len(times), max(times) / min(times))
            for key, times in grouped.items()]
    return devices, rows
