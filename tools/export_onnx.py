#!/usr/bin/env python3
"""Turns an ONNX model into a workload file that farandole reads: its operators in order, their tensors with true sizes,
multiply-adds, and the shapes that go in and come out.

Export it in training mode, or batch normalisation and the names of tensors are gone. From PyTorch:
  torch.onnx.export(model, x, "net.onnx", training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)

Examples:
  tools/export_onnx.py net.onnx --output net.json
  tools/export_onnx.py bert.onnx --dim sequence=128 --output bert.json
"""

import argparse
import pathlib
import sys
import warnings

from exporters import workload_file
from exporters.workload_file import InputError, Variant

try:
    import onnx
    from exporters import onnx_layers
except ImportError as error:
    sys.exit(f"export_onnx.py: ONNX is not here ({error}); on Debian: apt-get install python3-onnx")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL.onnx", type=pathlib.Path)
    parser.add_argument("--output", metavar="FILE.json", type=pathlib.Path, help="else to standard output")
    parser.add_argument("--name", help="of the workload; else of the file")
    parser.add_argument("--dim", metavar="NAME=EXTENT", action="append", default=[],
                        help="an extent that the model leaves open; the batch, the first extent of an input, needs none")
    return parser.parse_args()


def parsed_dims(texts):
    dims = {}
    for text in texts:
        name, _, extent = text.rpartition("=")
        if not name or not extent.isdigit() or int(extent) < 1:
            raise InputError(f"--dim: expected NAME=EXTENT such as sequence=128, got {text!r}")
        dims[name] = int(extent)
    return dims


def loaded(path):
    """Shapes are enough: weights that the model keeps in files of their own need not be there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # protobuf's, of what is no message; it is refused below
            model = onnx.load(path, load_external_data=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except Exception as error:  # protobuf has exceptions of several kinds, by its version
        raise InputError(f"{path}: expected an ONNX model, got something else") from error
    if not model.graph.node:
        raise InputError(f"{path}: expected an ONNX model with operators, got none")
    return model


def main():
    given = arguments()
    model = loaded(given.model)
    layers, left_out = onnx_layers.layers_of(model, parsed_dims(given.dim))
    if left_out:
        print(f"left out, of unknown shape: {', '.join(left_out)}", file=sys.stderr)
    variant = Variant("onnx", f"As {model.producer_name or 'its producer'} exported it.",
                      f"{given.model.name}, ONNX operator set {model.opset_import[0].version}, "
                      f"by {model.producer_name or 'an unnamed program'} {model.producer_version}".rstrip(), layers)
    name = given.name or workload_file.snake_case(given.model.stem)
    workload_file.write_model(name, f"{given.model.name}.", variant, given.output)


if __name__ == "__main__":
    workload_file.run(main)
