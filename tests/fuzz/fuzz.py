#!/usr/bin/env python3
"""Runs the libFuzzer targets and prints a table of what came of it.

Each target starts from its corpus in the sources and from what earlier runs found. What this run finds, its crashes, logs and
figures go to --folder; with --grow the corpus in the sources gets what covers more than it, minimised and of a few KiB. Ends
with status 1 where an input crashes, hangs or takes more than 1 GiB, and names the file that does it again:
build/fuzz/tests/fuzz/fuzz_TARGET FILE.

usage: tests/fuzz/fuzz.py                                    # builds the targets, 10 million executions of each
       tests/fuzz/fuzz.py --only msccl --seconds 60
       tests/fuzz/fuzz.py --table                            # of all runs so far
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = pathlib.Path(__file__).resolve().parent
LIMITS = ["-rss_limit_mb=1024", "-timeout=10"]
FAST = dict(os.environ, ASAN_OPTIONS="malloc_context_size=4:quarantine_size_mb=8")  # twice as fast
LARGEST_SEED = 1024  # bytes of a file that --grow adds
LARGEST_CORPUS = 5120  # of all that it adds to a target's
Run = collections.namedtuple("Run", "target executions seconds edges of slowest crashes")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/fuzz", help="made and brought up to date")
    parser.add_argument("--folder", type=pathlib.Path, help="of what is found; else BUILD/found")
    parser.add_argument("--only", action="append", metavar="TARGET", help="may be said more than once")
    parser.add_argument("--executions", type=int, default=10_000_000, metavar="N", help="of each target (10 million)")
    parser.add_argument("--seconds", type=int, metavar="N", help="end each target after so long")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="targets at a time (1)")
    parser.add_argument("--grow", action="store_true", help="write what was found, minimised, into tests/fuzz/corpus")
    parser.add_argument("--as-built", action="store_true", help="run the programs that are there")
    parser.add_argument("--table", action="store_true", help="run nothing; print the table of all runs so far")
    return parser.parse_args()


def chosen_targets(only):
    known = sorted(path.name[: -len("_fuzzer.cpp")] for path in SOURCES.glob("*_fuzzer.cpp"))
    for name in only or []:
        if name not in known:
            sys.exit(f"--only: expected one of {', '.join(known)}, got {name}")
    return only or known


def build(folder, targets):
    if shutil.which("clang++") is None:
        sys.exit("fuzz.py: clang++ is missing; on Debian the package clang has it")
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "fuzz", "-B", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", folder, *(f"fuzz_{target}" for target in targets)], check=True)


class Place:
    """Where a target's program and files are."""

    def __init__(self, build_folder, folder, target):
        self.target = target
        self.program = build_folder / "tests/fuzz" / f"fuzz_{target}"
        self.seeds = SOURCES / "corpus" / target
        self.found = folder / "corpus" / target
        self.crashes = folder / "crashes" / target
        self.log = folder / "logs" / f"{target}.log"
        for made in (self.seeds, self.found, self.crashes, self.log.parent):
            made.mkdir(parents=True, exist_ok=True)


def last_number(pattern, log, otherwise=0):
    found = re.findall(pattern, log)
    return int(found[-1]) if found else otherwise


def executions_in(log):
    """Where it crashed there are no statistics, but the place where it was."""
    return max(last_number(r"stat::number_of_executed_units: *(\d+)", log), last_number(r"(?m)^#(\d+)\s", log))


def fuzz(place, executions, seconds):
    command = [place.program, place.found, place.seeds, *LIMITS, f"-runs={executions}", "-print_final_stats=1",
               f"-artifact_prefix={place.crashes}/"]
    dictionary = SOURCES / "dictionaries" / f"{place.target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    if seconds:
        command.append(f"-max_total_time={seconds}")
    begin = time.monotonic()
    place.log.unlink(missing_ok=True)  # another run of this target keeps its own
    with open(place.log, "w+", errors="replace") as file:
        status = subprocess.run(command, stdout=file, stderr=file, env=FAST).returncode
        file.seek(0)
        log = file.read()
    crashes = re.findall(r"Test unit written to (\S+)", log)
    if status != 0 and not crashes:
        crashes = [str(place.log)]
    return Run(place.target, executions_in(log), time.monotonic() - begin, last_number(r"cov: (\d+)", log),
               last_number(r"\((\d+) inline 8-bit counters\)", log), last_number(r"slowest_unit_time_sec: *(\d+)", log), crashes)


def summed(runs):
    """The latest of each target, with the executions, the seconds and the crashes of all."""
    latest = {}
    for run in runs:
        before = latest.get(run.target, Run(run.target, 0, 0, 0, 0, 0, []))
        latest[run.target] = run._replace(executions=before.executions + run.executions, seconds=before.seconds + run.seconds,
                                          slowest=max(before.slowest, run.slowest), crashes=before.crashes + run.crashes)
    return latest.values()


def row(target, executions, rate, edges, crashes, slowest):
    return f"{target:<20}{executions:>14}{rate:>8}{edges:>16}{crashes:>9}{slowest:>14}"


HEADING = row("target", "executions", "per s", "edges covered", "crashes", "slowest in s")


def row_of(run):
    return row(run.target, f"{run.executions:,}", f"{run.executions / max(run.seconds, 1):.0f}", f"{run.edges} of {run.of}",
               len(run.crashes), run.slowest)


def grow(place):
    """Inputs that cover what the seeds with names do not; the longest, of which few are needed, first."""
    for seed in place.seeds.iterdir():
        if re.fullmatch(r"[0-9a-f]{40}", seed.name):
            seed.unlink()
    with tempfile.TemporaryDirectory() as folder:
        merged = pathlib.Path(folder)
        for seed in place.seeds.iterdir():
            shutil.copy(seed, merged)
        subprocess.run([place.program, "-merge=1", f"-max_len={LARGEST_SEED}", *LIMITS, merged, place.found], check=True,
                       stderr=subprocess.DEVNULL, env=FAST)
        size = 0
        for path in sorted(merged.iterdir(), key=lambda path: (-path.stat().st_size, path.name)):
            if re.fullmatch(r"[0-9a-f]{40}", path.name) and size + path.stat().st_size <= LARGEST_CORPUS:
                size += path.stat().st_size
                shutil.copyfile(path, place.seeds / path.name)


def main():
    arguments = parse_arguments()
    build_folder = arguments.build.resolve()
    folder = arguments.folder or build_folder / "found"
    record = folder / "runs.jsonl"
    if arguments.table:
        print(HEADING, *map(row_of, summed(Run(**json.loads(line)) for line in record.read_text().splitlines())), sep="\n")
        return 0
    targets = chosen_targets(arguments.only)
    if not arguments.as_built:
        build(build_folder, targets)
    print(HEADING, flush=True)
    recording = threading.Lock()

    def run_and_record(place):
        run = fuzz(place, arguments.executions, arguments.seconds)
        with recording, open(record, "a") as lines:
            lines.write(json.dumps(run._asdict()) + "\n")
            print(row_of(run), *(f"crashed: {place.program} {crash}" for crash in run.crashes), sep="\n", flush=True)
        if arguments.grow:
            grow(place)
        return run

    with concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        runs = list(pool.map(run_and_record, [Place(build_folder, folder, target) for target in targets]))
    return 1 if any(run.crashes for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
