#!/usr/bin/env python3
"""Disturbs what writes results, in every way at every place, and asks whether anything is lost.

Survived: the command went on as if nothing had happened, with the same bytes; or it ended with status 1 and one line, or was killed,
nothing half written stood under a result's name, and the command given again (with --resume where there is a journal) wrote the
same bytes as an undisturbed run without running again what had been finished. Lost: anything else. Ends with status 1 where
anything was lost.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import sys
import time

import clock_faults
import file_faults
import mpi_faults
import process_faults
import writer_faults
from jobs import all_jobs
from place import Setup, add_programs, require_layer

KINDS = {"file": file_faults, "process": process_faults, "writer": writer_faults, "clock": clock_faults, "mpi": mpi_faults}
# What was found wrong once; always tried.
KNOWN = re.compile(r"run, one point, \d+: (open .*: EIO|close of new bytes .*: EDQUOT|sync : EIO|chmod .*: EIO)"
                   r"|merge, \d+: read /s1: EIO|run, a study, \d+: sync /out.json.partial: synced|run, a study with pages, \d+: rename /trace.json: EIO"
                   r"|(run, a study|merge), 1 bytes|\d+: lock /out.json.partial$")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_programs(parser)
    parser.add_argument("--kinds", default=",".join(KINDS), help="of these only")
    parser.add_argument("--only", default="", help="cases whose row or name contains this")
    parser.add_argument("--sample", type=int, help="so many of each row, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="begin no case after so many")
    parser.add_argument("--slow", action="store_true", help="also what waits for half a minute's silence")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="only count the cases")
    parser.add_argument("--verbose", action="store_true", help="how every case ended")
    return parser.parse_args()


def chosen(arguments, setup):
    rows = collections.defaultdict(list)
    for kind in arguments.kinds.split(","):
        for case in KINDS[kind].cases(setup):
            if arguments.only in f"{case.row}: {case.name}" and (arguments.slow or not case.is_slow):
                rows[case.row].append(case)
    drawing = random.Random(arguments.seed)
    for row, cases in rows.items():
        known = [case for case in cases if KNOWN.match(case.name)]
        others = [case for case in cases if not KNOWN.match(case.name)]
        if arguments.sample is not None and arguments.sample < len(others):
            rows[row] = known + drawing.sample(others, arguments.sample)
    return rows


def line(name, tried, went_on, lost):
    return f"{name:<44}{tried:>7}{went_on:>9}{tried - went_on - lost:>16}{tried - lost:>10}{lost:>6}"


def report(tried, went_on, lost):
    print(f"{'fault':<44}{'tried':>7}{'went on':>9}{'ended, resumed':>16}{'survived':>10}{'lost':>6}")
    for row in tried:
        print(line(row, tried[row], went_on[row], lost[row]))
    print(line("all", sum(tried.values()), sum(went_on.values()), sum(lost.values())))


def main():
    arguments = parse_arguments()
    require_layer(arguments.layer)
    rows = chosen(arguments, Setup(arguments.program, arguments.layer, list(all_jobs(arguments.program))))
    if arguments.list:
        for row, cases in rows.items():
            print(f"{len(cases):7} {row}")
        return 0
    begin = time.monotonic()
    tried, went_on, lost = collections.Counter(), collections.Counter(), collections.Counter()

    def attempt(case):
        is_late = arguments.seconds and time.monotonic() - begin > arguments.seconds
        return None if is_late else (case, case.attempt())

    with concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        for judged in pool.map(attempt, [case for cases in rows.values() for case in cases]):
            if judged is None:
                continue
            case, outcome = judged
            tried[case.row] += outcome.times
            lost[case.row] += bool(outcome.faults)
            went_on[case.row] += outcome.times * (outcome.went_on and not outcome.faults)
            if outcome.faults or arguments.verbose:
                print(f"{'LOST' if outcome.faults else 'survived'} {case.row}: {case.name}", *outcome.faults, sep="\n  -> ", flush=True)
    report(tried, went_on, lost)
    return 1 if sum(lost.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
