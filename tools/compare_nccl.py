#!/usr/bin/env python3
"""Prints published nccl-tests tables beside what farandole predicts from datasheets and NCCL's own constants, row by row.

Each file of scenarios/published/collectives names its topology and the library that stands for its release of NCCL. Nothing
is fitted. Errors are relative and signed, predicted against published; the last lines of a table are its median and its
worst error (by size) below and from 1 MiB on. --library NAME compares another release with all tables.
"""

import argparse
import json
import statistics

from farandole_process import ROOT, run_program

PUBLISHED = ROOT / "scenarios" / "published" / "collectives"
LARGE = 1 << 20


def predicted(point, table, library, fidelity):
    size = str(point["bytes"])
    return run_program(
        ["collective", "-b", size, "-e", size, "--op", point["op"], "--algorithm", library, "--topology", table["topology"],
         "--ranks", str(point["ranks"]), "--fidelity", fidelity]
    )["points"][0]


def summary(name, errors):
    if not errors:
        return f"# {name:<12} no rows"
    worst = max(errors, key=abs)
    middle = statistics.median(abs(error) for error in errors)
    return f"# {name:<12} {len(errors):>3} rows, median error {100 * middle:.1f} %, worst {100 * worst:+.1f} %"


def compare(file, library, fidelity):
    table = json.loads(file.read_text())
    library = library or table["library"]
    print(f"# {file.stem}: {table['software']}; {library} on {table['topology']}")
    print(f"{'bytes':>12} {'published us':>13} {'predicted us':>13} {'error %':>9}  chosen")
    small, large = [], []
    for point in table["points"]:
        row = predicted(point, table, library, fidelity)
        error = row["seconds"] / point["seconds"] - 1
        (large if point["bytes"] >= LARGE else small).append(error)
        chosen = f"{row['chosen_algorithm']} {row['protocol']} {row['channels']}"
        print(f"{point['bytes']:>12} {1e6 * point['seconds']:>13.2f} {1e6 * row['seconds']:>13.2f} {100 * error:>+9.1f}  {chosen}")
    print(summary("below 1 MiB", small))
    print(summary("from 1 MiB", large) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help="names of files in scenarios/published/collectives; all of them by default")
    parser.add_argument("--library", help="the release to compare with, in place of the one each table names")
    parser.add_argument("--fidelity", default="flow", help="analytic, flow or message (default: flow)")
    arguments = parser.parse_args()
    names = arguments.tables or sorted(file.stem for file in PUBLISHED.glob("*.json"))
    for name in names:
        compare(PUBLISHED / f"{name}.json", arguments.library, arguments.fidelity)


if __name__ == "__main__":
    main()
