#!/usr/bin/env python3
"""Prints published nccl-tests tables beside what farandole predicts from datasheets and NCCL's own constants, row by row.

Each file of scenarios/published/collectives names its topology and the library that stands for its release of NCCL. Nothing
is fitted. Errors are relative and signed, predicted against published; the last lines of a table are its median and its
worst error (by size) below and from 1 MiB on. --library NAME compares another release with all tables.

--marginal adds what tells a wrong rate from a wrong constant: the rate at which the bytes between a row and the one before
it took their time, and by how many microseconds a row is late in all.
"""

import argparse
import json
import pathlib
import statistics
import tempfile

from farandole_process import ROOT, run_program

PUBLISHED = ROOT / "scenarios" / "published" / "collectives"
LARGE = 1 << 20


def from_datasheets(name, folder):
    """The topology without what tables like these say of its library."""
    topology = json.loads((ROOT / "topologies" / f"{name}.json").read_text())
    topology["transport"].pop("library_times", None)
    file = pathlib.Path(folder) / f"{name}.json"
    file.write_text(json.dumps(topology))
    return str(file)


def predicted(point, topology, library, fidelity):
    size = str(point["bytes"])
    return run_program(
        ["collective", "-b", size, "-e", size, "--op", point["op"], "--algorithm", library, "--topology", topology,
         "--ranks", str(point["ranks"]), "--fidelity", fidelity]
    )["points"][0]


def summary(name, errors):
    if not errors:
        return f"# {name:<12} no rows"
    worst = max(errors, key=abs)
    middle = statistics.median(abs(error) for error in errors)
    return f"# {name:<12} {len(errors):>3} rows, median error {100 * middle:.1f} %, worst {100 * worst:+.1f} %"


def marginal(point, before, key):
    """GB/s of the bytes between two rows, and 'inf' where more of them took no longer."""
    seconds = point[key] - before[key]
    return (point["bytes"] - before["bytes"]) / seconds / 1e9 if seconds > 0 else float("inf")


def compare(file, library, fidelity, show_marginal, folder):
    table = json.loads(file.read_text())
    topology = from_datasheets(table["topology"], folder)
    library = library or table["library"]
    print(f"# {file.stem}: {table['software']}; {library} on {table['topology']}")
    more = f" {'late us':>9} {'published':>10} {'and predicted marginal GB/s':>28}" if show_marginal else ""
    print(f"{'bytes':>12} {'published us':>13} {'predicted us':>13} {'error %':>9}{more}  chosen")
    small, large, before = [], [], None
    for point in table["points"]:
        row = predicted(point, topology, library, fidelity)
        error = row["seconds"] / point["seconds"] - 1
        (large if point["bytes"] >= LARGE else small).append(error)
        chosen = f"{row['chosen_algorithm']} {row['protocol']} {row['channels']}"
        both = {"bytes": point["bytes"], "published": point["seconds"], "predicted": row["seconds"]}
        more = f" {1e6 * (both['published'] - both['predicted']):>+9.1f}" if show_marginal else ""
        if show_marginal:
            rates = [marginal(both, before, key) if before else float("nan") for key in ("published", "predicted")]
            more += f" {rates[0]:>10.1f} {rates[1]:>28.1f}"
        before = both
        times = f"{1e6 * point['seconds']:>13.2f} {1e6 * row['seconds']:>13.2f} {100 * error:>+9.1f}"
        print(f"{point['bytes']:>12} {times}{more}  {chosen}")
    print(summary("below 1 MiB", small))
    print(summary("from 1 MiB", large) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help="names of files in scenarios/published/collectives; all of them by default")
    parser.add_argument("--library", help="the release to compare with, in place of the one each table names")
    parser.add_argument("--marginal", action="store_true", help="rates between one row and the next, and how late each is")
    parser.add_argument("--fidelity", default="flow", help="analytic, flow or message (default: flow)")
    arguments = parser.parse_args()
    names = arguments.tables or sorted(file.stem for file in PUBLISHED.glob("*.json"))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            compare(PUBLISHED / f"{name}.json", arguments.library, arguments.fidelity, arguments.marginal, folder)


if __name__ == "__main__":
    main()
