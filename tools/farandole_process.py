"""Runs the farandole program from the tools beside this file and gives back its result points."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "release" / "farandole"


def run_program(arguments):
    """The JSON that the program prints with these arguments."""
    command = [str(PROGRAM), *arguments, "--format", "json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{finished.stderr.strip()}")
    return json.loads(finished.stdout)


def run_points(scenario, settings=None, fidelity=None):
    """The points of `farandole run SCENARIO`; `settings` maps JSON pointers to values."""
    arguments = ["run", str(scenario), "--quiet"]
    for pointer, value in (settings or {}).items():
        arguments += ["--set", f"{pointer}={json.dumps(value)}"]
    if fidelity:
        arguments += ["--fidelity", fidelity]
    return run_program(arguments)["points"]
