"""A network as tools/make_models.py writes it: layers, and blocks of layers that repeat.

An extent of a shape may be SEQUENCE, the length of a sample; multiply-adds are then {"sequence": n} or {"sequence^2": n}.
What is read back (`layers_of`) has both put in and blocks written out, as sim/workload/read_model.cpp does it.
"""

import contextlib
import json
import math

SEQUENCE = "sequence"
POWERS = {"constant": 0, "sequence": 1, "sequence^2": 2}


def size(shape, length):
    return math.prod(length if extent == SEQUENCE else extent for extent in shape)


def count(macs, length):
    return sum(factor * length ** POWERS[power] for power, factor in macs.items()) if isinstance(macs, dict) else macs


def work(rows, factor):
    """`factor` multiply-adds for each of `rows`, which may be a sequence."""
    return {SEQUENCE: factor} if rows == SEQUENCE else rows * factor


def tensors(name, **shapes):
    return [{"name": f"{name}.{key}", "shape": list(shape)} for key, shape in shapes.items() if shape]


def written_out(items):
    """Layers with those of blocks as often as they repeat."""
    for item in items:
        if "block" not in item:
            yield item
            continue
        for number in range(item.get("first", 0), item.get("first", 0) + item.get("times", 1)):
            prefix = item["block"].replace("{}", str(number), 1) + "."
            for layer in item["layers"]:
                named = [tensor | {"name": prefix + tensor["name"]} for tensor in layer.get("tensors", [])]
                yield layer | {"name": prefix + layer["name"]} | ({"tensors": named} if named else {})


def layers_of(variant):
    """The layers of a variant of a model file, as they are at the length it states."""
    length = variant.get("sequence_length", 0)

    def numbers(shape):
        return [length if extent == SEQUENCE else extent for extent in shape]

    for layer in written_out(variant["layers"]):
        row = layer | {"input": numbers(layer["input"]), "output": numbers(layer["output"])}
        if "macs" in layer:
            row["macs"] = count(layer["macs"], length)
        if "tensors" in layer:
            row["tensors"] = [tensor | {"shape": numbers(tensor["shape"])} for tensor in layer["tensors"]]
        yield row


class Network:
    def __init__(self):
        self.items = []
        self.layers = self.items  # where layers go

    @contextlib.contextmanager
    def block(self, name, times=1, first=0):
        item = {"block": name} | ({"times": times} if times > 1 else {}) | ({"first": first} if first else {})
        item["layers"] = self.layers = []
        self.items.append(item)
        yield
        self.layers = self.items

    def add(self, name, kind, source, target, macs=0, parameters=()):
        layer = {"name": name, "type": kind}
        if macs:
            layer["macs"] = macs
        layer |= {"input": list(source), "output": list(target)}
        if parameters:
            layer["tensors"] = list(parameters)
        self.layers.append(layer)

    def linear(self, name, rows, inputs, outputs, bias=True):
        self.add(name, "linear", [rows, inputs], [rows, outputs], work(rows, inputs * outputs),
                 tensors(name, weight=[outputs, inputs], bias=[outputs] if bias else None))

    def layer_norm(self, name, shape):
        self.add(name, "layer_norm", shape, shape, 0, tensors(name, weight=shape[-1:], bias=shape[-1:]))

    def rms_norm(self, name, shape):
        self.add(name, "rms_norm", shape, shape, 0, tensors(name, weight=shape[-1:]))

    def embedding(self, name, words, rows, width):
        self.add(name, "embedding", [rows], [rows, width], 0, tensors(name, weight=[words, width]))

    def pointwise(self, name, kind, shape):
        self.add(name, kind, shape, shape)

    def attention(self, name, rows, heads, width, groups=None, causal=True):
        """One kernel for scores, softmax and context of `heads` heads that share keys and values in `groups`."""
        products = 1 if causal else 2  # behind a mask half of both
        macs = {"sequence^2": products * heads * width} if rows == SEQUENCE else products * rows * rows * heads * width
        self.add(name, "attention", [heads + 2 * (groups or heads), rows, width], [heads, rows, width], macs)

    def scores(self, name, queries, keys, heads, width):
        """Every query with every key."""
        both = [queries, keys].count(SEQUENCE)
        factor = heads * width * size([queries, keys], 1)
        macs = factor if not both else {SEQUENCE if both == 1 else "sequence^2": factor}
        source = [2, queries, heads * width] if queries == keys else [1, keys, heads * width]
        self.add(f"{name}.scores", "matmul", source, [heads, queries, keys], macs)
        return macs

    def variant(self, name, summary, source, length=0, longest=0):
        layers = list(written_out(self.items))
        shapes = [tensor["shape"] for layer in layers for tensor in layer.get("tensors", [])]
        row = {"name": name, "summary": summary, "source": source}
        row |= ({"sequence_length": length} if length else {}) | ({"longest_sequence": longest} if longest else {})
        return row | {"input": layers[0]["input"], "parameters": sum(size(shape, length) for shape in shapes),
                      "tensors": len(shapes), "macs": sum(count(layer.get("macs", 0), length) for layer in layers),
                      "layers": self.items}


def lines_of(items, margin):
    """One layer a line."""
    lines = []
    for item in items:
        if "block" in item:
            head = json.dumps({key: value for key, value in item.items() if key != "layers"})[:-1]
            lines.append(f'{margin}{head}, "layers": [\n' + lines_of(item["layers"], margin + "  ") + f"\n{margin}]}}")
        else:
            lines.append(margin + json.dumps(item))
    return ",\n".join(lines)


def write(folder, name, summary, variants):
    lines = ["{", '  "$schema": "../sim/config/schemas/model.schema.json",', f'  "name": {json.dumps(name)},',
             f'  "summary": {json.dumps(summary)},', '  "variants": [']
    for variant in variants:
        lines.append("    {")
        lines += [f"      {json.dumps(key)}: {json.dumps(value)}," for key, value in variant.items() if key != "layers"]
        lines += ['      "layers": [', lines_of(variant["layers"], " " * 8), "      ]",
                  "    }" + ("" if variant is variants[-1] else ",")]
    (folder / f"{name}.json").write_text("\n".join(lines + ["  ]", "}", ""]))
