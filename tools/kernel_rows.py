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
Row = collections.namedtuple("Row", "device model variant precision normalisation batch seconds programs spread")


def elements(shape):
    return math.prod(shape)


def number(text):
    value, unit = re.fullmatch(r"([0-9.]+) ?([A-Za-z/]+)", text).groups()
    return float(value) * {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[unit[0]]


def is_convolution(layer):
    return layer is not None and layer["type"].startswith("conv") and "macs" in layer


def is_normalisation(layer):
    return layer is not None and layer["type"].startswith("batch_norm")


def is_relu(layer):
    return layer is not None and layer["type"].startswith("relu")


def block_of(layer):
    return layer["name"].rpartition(".")[0]


def moves_of(layers, i, normalisation):
    """(forward, backward, whether pointwise) of layer i, by where its program normalises (sim/workload/kernels.hpp)."""
    layer, before = layers[i], layers[i - 1] if i else None
    after, behind = (list(layers[i + 1:i + 3]) + [None, None])[:2]
    forward, backward, pointwise = next(v for k, v in MOVES.items() if layer["type"].startswith(k))
    if normalisation == "separate":
        return forward, backward, pointwise
    if is_relu(layer) and is_normalisation(before):
        return 0, 0, pointwise
    if is_normalisation(layer) and is_convolution(before) and normalisation != "with_activation":
        applied = (normalisation == "in_convolution" and is_relu(after) and is_convolution(behind)
                   and block_of(behind) == block_of(layer))
        forward -= 3 if applied else 1
    return forward, backward, pointwise


def kernel(layer, moves, after_first, first):
    """A layer's kernels; `after_first`: behind the first layer with weights, `first`: it is that layer."""
    source, target = elements(layer["input"]), elements(layer["output"])
    macs, tensors = layer.get("macs", 0), layer.get("tensors", [])
    if not macs:
        forward, backward, pointwise = moves
        half = (source + target) / 2
        weights = sum(elements(t["shape"]) for t in tensors)
        return Kernel("pointwise" if pointwise else "memory", 0, 0, False, forward * half, backward * half, weights,
                      (1 + (after_first or first)) if backward else 0, source + target, 3 if after_first else 2 if first else 1, ())
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


def load_model(name, variant, normalisation="separate", cache={}):
    key = name, variant, normalisation
    if key not in cache:
        layers = list(layers_of(next(v for v in json.loads((ROOT / "models" / f"{name}.json").read_text())["variants"]
                                     if v["name"] == variant)))
        weighted = [bool(layer.get("tensors")) for layer in layers]
        start = weighted.index(True)
        found = [kernel(layer, moves_of(layers, i, normalisation), i > start, i == start) for i, layer in enumerate(layers)]
        shapes = [t["shape"] for layer in layers for t in layer.get("tensors", [])]
        cache[key] = (list(collections.Counter(found).items()),
                      sum(map(elements, shapes)), len(shapes))
    return cache[key]


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
            key = (device["name"], row["model"], row["variant"], row["precision"],
                   row.get("normalisation", "separate"), batch)
            grouped[key].append(batch / row["samples_per_second"])
    rows = [Row(*key, math.exp(sum(map(math.log, times)) / len(times)), len(times), max(times) / min(times))
            for key, times in grouped.items()]
    return devices, rows
