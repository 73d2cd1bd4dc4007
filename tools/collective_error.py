#!/usr/bin/env python3
"""How far published tables of collectives lie from what is predicted without them, by what is known of their machine, and how
bands do that are made of other tables alone.

A table is predicted without what was fitted to it (farandole validate --published), so from another operation, another number
of ranks or another release on its machine, or from nothing but datasheets and NCCL's constants. Per size class: rows, median
error, the share of rows inside their bands of 80 % (conformal, of other tables: sim/calibration/published_bands.hpp), and the
bands' median width over the median error. Tables with a note (TCP) are left out.
"""

import json
import math
import statistics

from farandole_process import ROOT, run_program

TABLES = ROOT / "scenarios" / "published" / "collectives"
CLASSES = ((65536, "at most 64 KiB"), (1 << 24, "to 16 MiB"), (math.inf, "above"))
MANY_MORE = 16  # times the ranks, beyond which a measurement says nothing (nccl_measured.cpp)
KINDS = ("another operation", "another number of ranks", "another release", "nothing of the machine")


def size_class(size):
    return next(i for i, (most, _) in enumerate(CLASSES) if size <= most)


def known_of(name, table):
    """What the machine's own times say of a table once those fitted to it are left out (known_besides)."""
    topology = json.loads((ROOT / "topologies" / f"{table['topology']}.json").read_text())
    first = table["points"][0]

    def counts(one):
        same_nodes = (one["nodes"] == 1) == (first.get("nodes", 1) == 1)
        driven_alike = (one.get("devices_per_process", 1) > 1) == (first.get("devices_per_process", 1) > 1)
        return one.get("table") != name and same_nodes and driven_alike and one["ranks"] <= MANY_MORE * first["ranks"]

    times = [one for one in topology["transport"].get("library_times", []) if counts(one)]
    if first["op"] == "alltoall" or not times:
        return KINDS[3]
    own_release = [one for one in times if one["library"] == table["library"]] or times
    same = [one for one in own_release if one["op"] == first["op"]]
    if not same:
        return KINDS[0]
    return KINDS[1] if same[0]["library"] == table["library"] else KINDS[2]


def judged(points):
    """(error, inside, width) of rows."""
    for point in points:
        inside = width = None
        if point["band_low"] is not None:
            inside = point["band_low"] <= point["measured"] <= point["band_high"]
            width = (point["band_high"] - point["band_low"]) / point["predicted"]
        yield point["error"], inside, width


def summary(rows):
    errors = [error for error, _, _ in rows]
    banded = [(inside, width) for _, inside, width in rows if width is not None]
    median = statistics.median(map(abs, errors))
    text = f"{len(rows):>5} {100 * median:>11.1f} % {100 * statistics.median(errors):>+8.1f} %"
    if banded:
        inside = sum(one for one, _ in banded) / len(banded)
        text += f" {100 * inside:>6.0f} % {statistics.median(width for _, width in banded) / median:>16.1f}"
    return text


def main():
    by_table = {}
    for point in run_program(["validate", "--published"])["points"]:
        if point["family"].startswith("collectives/") and point["counted"]:
            by_table.setdefault(point["family"].removeprefix("collectives/"), []).append(point)
    of_kind = {}
    print(f"{'table':<28} {'known besides':<24} median error (bias) in %: {', '.join(name for _, name in CLASSES)}")
    for name, points in by_table.items():
        known = known_of(name, json.loads((TABLES / f"{name}.json").read_text()))
        medians = []
        for size in range(len(CLASSES)):
            rows = list(judged(p for p in points if size_class(p["bytes"]) == size))
            of_kind.setdefault((known, size), []).extend(rows)
            of_kind.setdefault(("all", size), []).extend(rows)
            errors = [error for error, _, _ in rows]
            middle = statistics.median(errors) if errors else 0
            medians.append(f"{100 * statistics.median(map(abs, errors)):5.1f} ({100 * middle:+6.1f})" if errors else " " * 14)
        print(f"{name:<28} {known:<24} {'  '.join(medians)}")
    print(f"\n{'known besides':<24} {'sizes':<16} {'rows':>5} {'median error':>13} {'bias':>10} {'inside':>8} {'width / error':>16}")
    for kind in (*KINDS, "all"):
        for size, (_, name) in enumerate(CLASSES):
            if of_kind.get((kind, size)):
                print(f"{kind:<24} {name:<16} {summary(of_kind[kind, size])}")


if __name__ == "__main__":
    main()
