#!/usr/bin/env python3
"""Prints what has changed in the results of the shipped scenarios, and in the defaults of the shipped topologies, between two
source trees: an older one (a release's, say) and this one.

Results are the recorded ones (tests/golden), so that nothing is run: of every scenario that both trees have, the point whose
step changed most, before and after, and how many points changed. Defaults are the library that a topology's transport
names. --threshold leaves out what changed by less.
"""

import argparse
import json
import pathlib

from farandole_process import ROOT

QUANTITIES = ("iteration_seconds", "total_seconds", "seconds")


def number(point):
    """What a point is compared by, and what that is called."""
    return next(((name, point[name]) for name in QUANTITIES if isinstance(point.get(name), (int, float))), None)


def key(point):
    """Tells the points of a scenario apart, whatever order they are in."""
    return json.dumps([point.get(name) for name in ("swept", "ranks", "strategy", "strategy_options", "variant", "fidelity")],
                      sort_keys=True)


def points(file):
    found = json.loads(file.read_text())
    return found if isinstance(found, list) else [found]


def compared(before, after):
    """(change, what, before, after, algorithm before and after) of every point that both have."""
    old = {}
    for point in before:
        old.setdefault(key(point), []).append(point)
    for point in after:
        same = old.get(key(point))
        if not same:
            continue
        one = same.pop(0)
        was, now = number(one), number(point)
        if was and now and was[0] == now[0] and was[1]:
            yield now[1] / was[1] - 1, now[0], was[1], now[1], one.get("algorithm"), point.get("algorithm")


def results(old, new, threshold):
    print(f"{'scenario':<44} {'changed':>9} {'before':>12} {'after':>12} {'by':>9}  most changed point")
    for file in sorted((new / "tests" / "golden").glob("*.json")):
        other = old / "tests" / "golden" / file.name
        if not other.exists():
            print(f"{file.stem:<44} {'new':>9}")
            continue
        rows = list(compared(points(other), points(file)))
        changed = [row for row in rows if abs(row[0]) > threshold]
        if not changed:
            print(f"{file.stem:<44} {0:>4} of {len(rows):>2}")
            continue
        change, what, was, now, algorithm, since = max(changed, key=lambda row: abs(row[0]))
        named = algorithm if algorithm == since else f"{algorithm} -> {since}"
        print(f"{file.stem:<44} {len(changed):>4} of {len(rows):>2} {was:>12.6g} {now:>12.6g} {100 * change:>+8.2f}%  {what}, {named}")


def library(file):
    return json.loads(file.read_text()).get("transport", {}).get("library", "none")


def defaults(old, new):
    print(f"\n{'topology':<24} {'library before':<20} library after")
    for file in sorted((new / "topologies").glob("*.json")):
        other = old / "topologies" / file.name
        was, now = library(other) if other.exists() else "(no such file)", library(file)
        if was != now:
            print(f"{file.stem:<24} {was:<20} {now}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("before", type=pathlib.Path, help="the older source tree")
    arguments.add_argument("--after", type=pathlib.Path, default=ROOT, help="the newer one; this one where it is not said")
    arguments.add_argument("--threshold", type=float, default=1e-4, help="leave out changes up to this share")
    given = arguments.parse_args()
    for tree in (given.before, given.after):
        if not (tree / "tests" / "golden").is_dir():
            arguments.error(f"expected a source tree with tests/golden, got {str(tree)!r}")
    results(given.before, given.after, given.threshold)
    defaults(given.before, given.after)


if __name__ == "__main__":
    main()
