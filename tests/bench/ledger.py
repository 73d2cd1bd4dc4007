#!/usr/bin/env python3
"""Prints what the program costs, row by row of ledger.json: CPU seconds, memory, growth with the number of ranks.

    tests/bench/ledger.py [--program FILE] [--limit SECONDS] [--only TEXT] [--check | --update]

Seconds are user and system time of one process, the least of --repeat runs; memory is its peak. The growth exponent
is log(CPU) over log(ranks) between the first and the last number of ranks, start-up taken off. "ratio" is CPU seconds
over those of a fixed loop in this script, which runs before every row, so that machines and their load compare.

--check fails (1) where a row's ratio is more than 1.5 times the one in ledger.json and 0.05 s beyond it, and where CPU
seconds at `flow` grow faster than ranks to the power of 1.1 (or `most_growth` of the row), to more than 0.05 s above
start-up; --update writes the ratios there. A row that --limit ends counts as failed.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MOST_GROWTH = 1.1


def reference_seconds():
    """CPU seconds of a loop that never changes."""
    begin = time.process_time()
    state = 1
    for _ in range(2_000_000):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return time.process_time() - begin


def measure(command, limit, repeat):
    """(CPU seconds, peak MB) of the cheapest run; None where one was ended or failed."""
    best = None
    for _ in range(repeat):
        child = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "FARANDOLE_DATA": str(ROOT)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return None
        spent = (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = spent if best is None else min(best, spent)
    return best


def commands(row, program):
    """One command for every number of ranks."""
    for ranks in row.get("ranks", [1]):
        yield ranks, [program] + [a.format(ranks=ranks, here=HERE) for a in row["arguments"]]


def exponent(costs, start_up):
    """Of growth between the first and the last number of ranks; None where start-up is all there is."""
    (few, first), (many, last) = costs[0], costs[-1]
    below = first - start_up
    if few == many or below < 0.02:
        return None
    return math.log(max(last - start_up, 1e-3) / below) / math.log(many / few)


def is_steep(row, growth, seconds):
    """A row at `flow`, by its name; what is known to grow faster says how fast: `most_growth`."""
    if growth is None or ", flow" not in row["name"] or seconds < 0.05:
        return False
    return growth > row.get("most_growth", MOST_GROWTH)


def run_row(row, arguments, start_up):
    """The row's line and what --check asks of it, None where it did not come to an end."""
    costs = []
    memory = 0
    reference = min(reference_seconds() for _ in range(3))
    for ranks, command in commands(row, arguments.program):
        spent = measure(command, arguments.limit, arguments.repeat)
        if spent is None:
            return f"{row['name']:40} {ranks:>7}  more than {arguments.limit} s, or failed", None
        costs.append((ranks, spent[0]))
        memory = spent[1]
    ranks, seconds = costs[-1]
    growth = exponent(costs, start_up)
    grown = "" if growth is None else f"{growth:.2f}"
    ratio = seconds / reference
    shown = ranks if "ranks" in row else ""
    return f"{row['name']:40} {shown:>7} {seconds:8.3f} {memory:7.0f} {grown:>7} {ratio:8.3f}", {
        "ratio": ratio,
        "reference": reference,
        "steep": is_steep(row, growth, seconds - start_up),
    }


def is_slower(row, ratio, reference):
    """Beyond 1.5 times the ledger's ratio, and by more than what start-up varies."""
    known = row.get("ratio")
    return known is not None and ratio > 1.5 * known and (ratio - known) * reference > 0.05


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "farandole"))
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds after which a run is ended")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each row")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--update", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    ledger = json.loads((HERE / "ledger.json").read_text())
    spent = measure([arguments.program, "--version"], arguments.limit, 3)
    if spent is None:
        sys.exit(f"{arguments.program}: it does not run")
    print(f"{'row':40} {'ranks':>7} {'CPU s':>8} {'MB':>7} {'growth':>7} {'ratio':>8}")
    failed = []
    for row in ledger["rows"]:
        if arguments.only not in row["name"]:
            continue
        line, found = run_row(row, arguments, spent[0])
        slower = arguments.check and (found is None or is_slower(row, found["ratio"], found["reference"]))
        steeper = arguments.check and found is not None and found["steep"]
        line += f"  expected at most {1.5 * row['ratio']:.3f}" if slower and "ratio" in row else ""
        line += f"  expected to grow by at most {row.get('most_growth', MOST_GROWTH)}" if steeper else ""
        print(line, flush=True)
        if slower or steeper:
            failed.append(row["name"])
        if arguments.update and found is not None:
            row["ratio"] = round(found["ratio"], 3)
    if arguments.update:
        rows = ",\n".join("    " + json.dumps(row) for row in ledger["rows"])
        (HERE / "ledger.json").write_text(
            "{\n" + f'  "comment": {json.dumps(ledger["comment"])},\n' + '  "rows": [\n' + rows + "\n  ]\n}\n"
        )
    if failed:
        sys.exit("slower than the ledger, or growing too fast: " + ", ".join(failed))


if __name__ == "__main__":
    main()
