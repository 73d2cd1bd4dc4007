#!/usr/bin/env python3
"""Turns an MLCommons Chakra trace of one rank into a workload file that farandole reads: a layer for each gradient that
the ranks sum, and how long the computation took that it waited for. Traces of pipelines or of split layers are refused.

Example:
  tools/export_chakra.py rank.0.et --batch 32 --device a100 --output traced.json
"""

import argparse
import pathlib
import sys

from exporters import workload_file
from exporters.workload_file import InputError, Variant

try:
    from exporters import chakra_trace
except ImportError as error:
    sys.exit(f"export_chakra.py: protobuf is not here ({error}); on Debian: apt-get install python3-protobuf")

ELEMENT_BYTES = {"fp32": 4, "fp16": 2}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", metavar="TRACE.et", type=pathlib.Path)
    parser.add_argument("--output", metavar="FILE.json", type=pathlib.Path, help="else to standard output")
    parser.add_argument("--name", help="of the workload; else of the file")
    parser.add_argument("--batch", metavar="N", type=int, required=True, help="samples of the traced iteration, on one rank")
    parser.add_argument("--device", metavar="NAME", help="what it ran on, a name in topologies/devices; else its times hold on all")
    parser.add_argument("--precision", choices=ELEMENT_BYTES, default="fp32", help="of the gradients in the trace")
    return parser.parse_args()


def main():
    given = arguments()
    if given.batch < 1:
        raise InputError(f"--batch: expected a whole number of at least 1, got {given.batch}")
    try:
        data = given.trace.read_bytes()
    except OSError as error:
        raise InputError(f"{given.trace}: {error.strerror}") from error
    try:
        traced = chakra_trace.training_of(data, ELEMENT_BYTES[given.precision])
    except InputError as error:
        raise InputError(f"{given.trace}: {error}") from error
    profile = {"device": given.device} if given.device else {}
    profile |= {"precision": given.precision, "batch": given.batch, "source": f"Chakra trace {given.trace.name}",
                "update": workload_file.milliseconds(traced.update),
                "layers": {name: list(map(workload_file.milliseconds, pair)) for name, pair in traced.seconds.items()}}
    variant = Variant("chakra", "One layer for each gradient that is summed; activations are not in the trace.",
                      f"{given.trace.name}, an MLCommons Chakra trace", traced.layers, [profile])
    name = given.name or workload_file.snake_case(given.trace.stem)
    workload_file.write_model(name, f"From {given.trace.name}.", variant, given.output)


if __name__ == "__main__":
    workload_file.run(main)
