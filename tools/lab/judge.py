#!/usr/bin/env python3
"""Judges what tools/lab/check measured: predictions beside measurements, with their errors.

usage: tools/lab/judge.py FOLDER        exit status 1 where they do not hold, 77 where too little can be judged
"""
import json
import pathlib
import sys

BUSY = 0.85  # of the processors: beyond, they and not the network were measured
MEDIAN, NINE_IN_TEN, TRAINING = 0.04, 0.12, 0.04
ENOUGH = 10  # rows
CANNOT = 77


def points(file):
    return json.loads(file.read_text())["points"]


def load_of_rows(folder):
    """How busy the processors were, by operation, algorithm, servers and bytes."""
    load = {}
    for file in folder.glob("6x1-*.json"):
        for point in points(file):
            load[(file.stem, point["bytes"])] = point.get("cpu_busy")
    return load


def spread(sizes):
    """Median and ninth in ten of sizes of errors."""
    ordered = sorted(sizes)
    return ordered[len(ordered) // 2], ordered[int(0.9 * (len(ordered) - 1))]


def judge_collectives(folder):
    load = load_of_rows(folder)
    judged, shown = [], []
    for row in points(folder / "validation.json"):
        busy = load.get((row["family"], row["bytes"]))
        counts = row["counted"] and (busy is None or busy <= BUSY)
        print(f"{row['family']:46} {row['row']:52} {row['measured'] * 1e3:9.2f} ms {row['error']:+7.1%}"
              f"  processors {'?' if busy is None else format(busy, '.0%')}{'' if counts else '  not judged'}")
        shown.append(abs(row["error"]))
        if counts:
            judged.append(abs(row["error"]))
    median, most = spread(shown)
    print(f"collectives: {len(shown)} rows, median error {median:.1%}, nine in ten below {most:.1%}")
    if len(judged) < ENOUGH:
        print(f"processors too busy: only {len(judged)} of these rows can be judged")
        return None
    median, most = spread(judged)
    print(f"judged: {len(judged)} rows, median error {median:.1%}, nine in ten below {most:.1%}")
    return median < MEDIAN and most < NINE_IN_TEN


def judge_training(folder):
    verdicts = []
    for file in folder.glob("*-training-*.json"):
        for point in points(file):
            busy = point.get("cpu_busy")
            counts = busy is None or busy <= BUSY
            print(f"replay of {point['model']}, {point['strategy']}: {point['iteration_seconds_p50'] * 1e3:.1f} ms,"
                  f" predicted {point['predicted_seconds'] * 1e3:.1f} ms, {point['error']:+.1%}"
                  f"{'' if counts else '  not judged: the processors were busy'}")
            if counts:
                verdicts.append(abs(point["error"]) < TRAINING)
    return all(verdicts) if verdicts else None


def main():
    folder = pathlib.Path(sys.argv[1])
    verdicts = [judge_collectives(folder), judge_training(folder)]
    if False in verdicts:
        return 1
    return CANNOT if None in verdicts else 0


sys.exit(main())
