#!/usr/bin/env python3
"""Tries bad inputs of every kind on the program and judges how each ends.

Right is: status 0 with finite numbers, or status 2 with one line that says where, nothing printed, nothing left behind
and no file changed; always within 20 s of processor time and 1 GiB. What a schema of sim/config/schemas refuses must be
refused. Ends with status 1 where anything else was seen.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import journal_cases  # noqa: E402
import json_cases  # noqa: E402
import known_cases  # noqa: E402
import option_cases  # noqa: E402
import text_cases  # noqa: E402
from case import Later  # noqa: E402
from judge import judge  # noqa: E402


def all_cases(program):
    yield from known_cases.cases()
    yield from json_cases.cases()
    yield from text_cases.cases()
    yield from option_cases.cases(program)
    yield from journal_cases.cases(program)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("FARANDOLE_PROGRAM", "build/release/farandole"))
    parser.add_argument("--sample", type=int, help="so many of all cases, drawn at random, and all known ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases of which group or title contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="without those that take many seconds each")
    parser.add_argument("--seconds", type=float, help="begin no case after so many")
    parser.add_argument("--list", action="store_true", help="only count the cases")
    parser.add_argument("--verbose", action="store_true", help="how every case ended")
    return parser.parse_args()


def chosen(arguments):
    cases = [case for case in all_cases(os.path.abspath(arguments.program)) if arguments.only in getattr(case, "title", case.group)]
    if arguments.quick:
        cases = [case for case in cases if not getattr(case, "is_long", False)]
    if arguments.sample is not None and arguments.sample < len(cases):
        known = [case for case in cases if case.group == "known"]
        others = [case for case in cases if case.group != "known"]
        cases = known + random.Random(arguments.seed).sample(others, min(arguments.sample, len(others)))
    return cases


def say(case, faults, finished):
    command = " ".join(case.arguments)
    print(f"{'WRONG' if faults else 'right'} {case.title}\n  farandole {command[:300]}", flush=True)
    print(f"  status {finished.status}, {finished.cpu:.1f} s, {finished.memory / (1 << 20):.0f} MiB: {finished.err.strip()[:300] or finished.out.strip()[:100]}")
    for fault in faults:
        print(f"  -> {fault}", flush=True)


def report(tried, wrong):
    groups = sorted(tried)
    print(f"\n{'group':<28}{'cases':>7}{'done':>7}{'refused':>9}{'failed':>8}{'wrong':>7}")
    for group in groups:
        row = tried[group]
        print(f"{group:<28}{sum(row.values()):>7}{row[0] + row[3]:>7}{row[2]:>9}{row[1]:>8}{wrong[group]:>7}")
    total = sum((row for row in tried.values()), collections.Counter())
    print(f"{'all':<28}{sum(total.values()):>7}{total[0] + total[3]:>7}{total[2]:>9}{total[1]:>8}{sum(wrong.values()):>7}")


def main():
    arguments = parse_arguments()
    arguments.program = os.path.abspath(arguments.program)
    cases = chosen(arguments)
    if arguments.list:
        for group, count in sorted(collections.Counter(case.group for case in cases).items()):
            print(f"{count:7} {group}")
        print(f"{len(cases):7} in all")
        return 0
    begin = time.monotonic()
    tried, wrong = collections.defaultdict(collections.Counter), collections.Counter()

    def attempt(case):
        if arguments.seconds and time.monotonic() - begin > arguments.seconds:
            return None
        if isinstance(case, Later):
            case = case.make()
        return case, *judge(arguments.program, case)

    with concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        for judged in pool.map(attempt, cases):
            if judged is None:
                continue
            case, faults, finished = judged
            tried[case.group.split("/")[0]][finished.status if finished.status in (0, 1, 2, 3) else 9] += 1
            wrong[case.group.split("/")[0]] += bool(faults)
            if faults or arguments.verbose:
                say(case, faults, finished)
    report(tried, wrong)
    return 1 if sum(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
