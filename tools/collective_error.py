#!/usr/bin/env python3
"""How far published tables of collectives lie from what is predicted without them, by what is known of their machine, and how
bands do that are made of other tables alone.

A table is predicted without what was fitted to it (farandole validate --published), so from another operation, another number
of ranks or another release on its machine, or from nothing but datasheets and NCCL's constants. Per size class: rows, median
error, and of bands of 80 % from the other machines' and tables' rows (conformal: the 10th and 90th percentile of measured /
predicted, each table counting the same) the share of rows inside and the median width over the median error. Tables with a
note (TCP) are left out.
"""

import json
import math
import statistics

from farandole_process import ROOT, run_program

TABLES = ROOT / "scenarios" / "published" / "collectives"
CLASSES = ((65536, "at most 64 KiB"), (1 << 20, "to 1 MiB"), (1 << 24, "to 16 MiB"), (math.inf, "above"))
MANY_MORE = 16  # times the ranks, beyond which a measurement says nothing (nccl_measured.cpp)
KINDS = ("another operation", "another number of ranks", "another release", "nothing of the machine")


def size_class(size):
    return next(i for i, (most, _) in enumerate(CLASSES) if size <= most)


def known_of(name, table, operation):
    """What the machine's own times say of a table once those fitted to it are left out."""
    topology = json.loads((ROOT / "topologies" / f"{table['topology']}.json").read_text())
    times = [one for one in topology["transport"].get("library_times", []) if one.get("table") != name]
    if operation == "alltoall" or not times:
        return KINDS[3]
    same = [one for one in times if one["op"] == operation]
    if not same:
        return KINDS[0]
    ranks = table["points"][0]["ranks"]
    own = [one for one in same if one["library"] == table["library"] and one["ranks"] <= MANY_MORE * ranks]
    return KINDS[1] if own else KINDS[2]


def quantile(weighted, share):
    """Of (value, weight), values in order; between two of them, with room for one more at either end."""
    weighted = sorted(weighted)
    total = sum(weight for _, weight in weighted)
    room = total / len(weighted)
    wanted, passed, last = share * (total + room), 0.0, None
    for value, weight in weighted:
        if passed + weight >= wanted:
            return value if last is None else last + (value - last) * (wanted - passed) / weight
        passed, last = passed + weight, value
    return last


def tables():
    for file in sorted(TABLES.glob("*.json")):
        table = json.loads(file.read_text())
        if "note" in table:
            continue
        points = run_program(["validate", "--published", "--only", f"collectives/{file.stem}"])["points"]
        rows = [(size_class(p["bytes"]), math.log(p["measured"] / p["predicted"]), p["error"]) for p in points]
        yield {"name": file.stem, "kind": known_of(file.stem, table, points[0]["op"]), "machine": table["topology"], "rows": rows}


def band(size, others):
    """Of tables: the errors of their rows of that class, or of all where none has any."""
    weighted = []
    for table in others:
        errors = [error for c, error, _ in table["rows"] if c == size]
        weighted += [(error, 1 / len(errors)) for error in errors]
    return (quantile(weighted, 0.1), quantile(weighted, 0.9)) if weighted else None


def judged(all_tables, kind, size):
    """(error, inside, width) of every row of the kind's tables, by bands of the others, and of the kind's where it has any."""
    for table in all_tables:
        if table["kind"] != kind:
            continue
        same = [one for one in all_tables if one["kind"] == kind and one is not table]
        ends = band(size, same) or band(size, [one for one in all_tables if one is not table])
        for c, error, relative in table["rows"]:
            if c == size and ends:
                low, high = min(ends[0], 0.0), max(ends[1], 0.0)
                yield abs(relative), low <= error <= high, math.exp(high) - math.exp(low)


def main():
    found = list(tables())
    for table in found:
        medians = []
        for size in range(len(CLASSES)):
            errors = [relative for c, _, relative in table["rows"] if c == size]
            medians.append(f"{100 * statistics.median(map(abs, errors)):5.1f} ({100 * statistics.median(errors):+6.1f})" if errors else " " * 14)
        print(f"{table['name']:<28} {table['kind']:<24} {'  '.join(medians)}")
    print(f"\n{'known':<24} {'sizes':<16} {'rows':>5} {'median error':>13} {'inside':>8} {'width / median error':>22}")
    for kind in KINDS:
        for size, (_, name) in enumerate(CLASSES):
            rows = list(judged(found, kind, size))
            if not rows:
                continue
            error = statistics.median(row[0] for row in rows)
            inside = sum(row[1] for row in rows) / len(rows)
            width = statistics.median(row[2] for row in rows)
            print(f"{kind:<24} {name:<16} {len(rows):>5} {100 * error:>11.1f} % {100 * inside:>6.0f} % {width / error:>22.1f}")


if __name__ == "__main__":
    main()
