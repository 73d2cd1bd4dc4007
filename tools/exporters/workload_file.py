"""Writes workload files: the models that `farandole` reads, as sim/config/schemas/model.schema.json describes them.

Used by all exporters. A model is a list of Layer in execution order; counts and shapes are of one sample and forward
only. Totals are summed here, so they always agree with the layers.
"""

import dataclasses
import difflib
import json
import math
import os
import pathlib
import re
import sys
import tempfile

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "sim" / "config" / "schemas" / "model.schema.json"
BAD_INPUT = 2  # exit status, as farandole's own


class InputError(Exception):
    """What the user gave cannot be exported; the message is one line."""


@dataclasses.dataclass
class Layer:
    name: str
    type: str
    input: list  # shape of one sample
    output: list
    macs: int = 0
    tensors: list = dataclasses.field(default_factory=list)  # (name, shape), trainable, in the framework's order


@dataclasses.dataclass
class Variant:
    name: str
    summary: str
    source: str
    layers: list
    profiles: list = dataclasses.field(default_factory=list)  # as the file holds them


def snake_case(class_name):
    """conv2d of Conv2d, batch_norm2d of BatchNorm2d, relu of ReLU."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", class_name)
    return re.sub(r"\W+", "_", words).strip("_").lower()


def unique(name, taken):
    """`name`, or name_2, name_3, ... where others have it already; `taken` learns the answer."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate


def suggestion(name, known):
    """The end of a message: the nearest known name, where one is near."""
    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def one_sample(shape, batch):
    """Without the batch, which is a factor of the first extent that it divides; all of it where it divides none."""
    for axis, extent in enumerate(shape):
        if extent % batch == 0:
            rest = [extent // batch] if extent > batch else []
            return (shape[:axis] + rest + shape[axis + 1:]) or [1]
    return shape or [1]


def sample_shape(shapes, batch):
    """Of one tensor its shape; of several only the elements of all can be told."""
    samples = [one_sample(shape, batch) for shape in shapes]
    return samples[0] if len(samples) == 1 else [max(1, sum(map(math.prod, samples)))]


def checked_name(name):
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"--name: expected a name in snake_case such as my_model, got {name!r}")
    return name


def milliseconds(seconds):
    """As the file states times; to the tenth of a microsecond, which is finer than anyone's clock is steady."""
    return f"{1000 * seconds:.4f} ms"


def layer_json(layer):
    row = {"name": layer.name, "type": layer.type}
    if layer.macs:
        row["macs"] = layer.macs
    row |= {"input": layer.input, "output": layer.output}
    if layer.tensors:
        row["tensors"] = [{"name": name, "shape": shape} for name, shape in layer.tensors]
    return row


def variant_json(variant):
    shapes = [shape for layer in variant.layers for _, shape in layer.tensors]
    row = {
        "name": variant.name, "summary": variant.summary, "source": variant.source,
        "input": variant.layers[0].input,
        "parameters": sum(map(math.prod, shapes)), "tensors": len(shapes),
        "macs": sum(layer.macs for layer in variant.layers),
        "layers": [layer_json(layer) for layer in variant.layers],
    }
    return row | {"profiles": variant.profiles} if variant.profiles else row


def is_one_line(value):
    is_layer = isinstance(value, dict) and "type" in value
    return is_layer or not isinstance(value, dict) and (
        not isinstance(value, list) or not any(isinstance(one, (dict, list)) for one in value))


def indented(value, margin="\n"):
    """JSON with a line of its own for each layer, as people compare and edit these files."""
    if is_one_line(value):
        return json.dumps(value)
    deeper = margin + "  "
    if isinstance(value, dict):
        return "{" + ",".join(f"{deeper}{json.dumps(key)}: {indented(one, deeper)}" for key, one in value.items()) + margin + "}"
    return "[" + ",".join(deeper + indented(one, deeper) for one in value) + margin + "]"


def model_json(name, summary, variants, folder):
    schema = os.path.relpath(SCHEMA, folder)
    return {"$schema": schema, "name": name, "summary": summary, "variants": [variant_json(one) for one in variants]}


def write(text, output):
    """Whole or not at all."""
    if output is None:
        sys.stdout.write(text)
        return
    try:
        with tempfile.NamedTemporaryFile("w", dir=output.parent, delete=False) as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(file.name, 0o666 & ~mask)
        os.replace(file.name, output)
    except OSError as error:
        raise InputError(f"--output: {output}: {error.strerror}") from error


def write_model(name, summary, variant, output):
    """To the file, or to standard output where `output` is None; says on stderr what it is."""
    if not variant.layers:
        raise InputError("expected a model with layers, got one without")
    folder = output.parent if output else pathlib.Path.cwd()
    model = model_json(checked_name(name), summary, [variant], folder.resolve())
    write(indented(model) + "\n", output)
    counts = model["variants"][0]
    print(f"{name}: {counts['parameters']:,} parameters in {counts['tensors']} tensors, {counts['macs']:,} multiply-adds, "
          f"{len(variant.layers)} layers", file=sys.stderr)


def run(main):
    """Bad input is one line and exit status 2."""
    try:
        main()
    except InputError as error:
        print(f"{pathlib.Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
