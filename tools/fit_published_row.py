#!/usr/bin/env python3
"""Fits a platform's rate that no source states to the one published row that fixes it.

A rate of the path between nodes can only be read off a run that the network holds up: others are met by any rate above
some, and a least-squares fit over all of them would be flat. So each rate below is what makes the predicted step time of
one row (a row that no score counts: its note says "calibration") equal the published one; the step time falls with the
rate, so it is found by bisection. Printed beside it: the rates for which the row is met within 4 %, about the median
error of the training rows of several nodes, and what the family's other rows, which nothing is fitted to, say to it.
"""

import json
import math

from farandole_process import ROOT, run_points

PUBLISHED = ROOT / "scenarios" / "published"
MARGIN = 0.04
FITS = [
    {"key": "/node/nic/rate", "unit": "Gbit/s", "family": "aws-p2-xlarge-2017-parameter-server", "row": {"ranks": 64},
     "between": (0.5, 10)},
    {"key": "/node/nic/host_rate", "unit": "GB/s", "family": "piz-daint-2019-horovod",
     "row": {"model": "alexnet", "ranks": 4}, "between": (1, 50)},
]
SHORTHANDS = {"model": "/workload/model", "batch_per_rank": "/workload/batch_per_rank", "ranks": "/platform/ranks"}


def scenario_file(published):
    """The published scenario as a file that `farandole run` reads."""
    path = ROOT / "build" / "fit_published_row.json"
    path.write_text(json.dumps(published["scenario"]))
    return path


def error(published, row, key, text):
    """Relative error of the predicted step time with that value of the topology's key."""
    settings = {pointer: row[name] for name, pointer in SHORTHANDS.items() if name in row}
    settings.update(row.get("set", {}))
    overrides = dict(published["scenario"]["platform"].get("override", {}))
    settings["/platform/override"] = {**overrides, key: text}
    settings["/measure/iterations"] = 20
    point = run_points(scenario_file(published), settings)[0]
    return row["images_per_second"] / point["samples_per_second"] - 1


def solve(function, target, low, high, rounds=12):
    """Where a falling function has the value; an end of the range where it lies beyond."""
    for _ in range(rounds):
        middle = math.sqrt(low * high)
        if function(middle) > target:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def fit(case):
    published = json.loads((PUBLISHED / f"{case['family']}.json").read_text())
    chosen = [row for row in published["rows"] if all(row[name] == value for name, value in case["row"].items())][0]
    known = {}

    def with_rate(rate):
        if rate not in known:
            known[rate] = error(published, chosen, case["key"], f"{rate:.6g} {case['unit']}")
        return known[rate]

    best, least, most = (solve(with_rate, target, *case["between"]) for target in (0, MARGIN, -MARGIN))
    topology = published["scenario"]["platform"]["topology"]
    print(f"{topology}{case['key']}: {best:.3g} {case['unit']}, met within {MARGIN:.0%} from {least:.3g} to {most:.3g}")
    for row in published["rows"]:
        used = " (fitted)" if row is chosen else ""
        now = error(published, row, case["key"], f"{best:.6g} {case['unit']}")
        print(f"  {row['model']:<14} {row['ranks']:>4} ranks, step time {100 * now:+.1f} %{used}")


def main():
    for case in FITS:
        fit(case)


if __name__ == "__main__":
    main()
