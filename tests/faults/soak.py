#!/usr/bin/env python3
"""Random studies, disturbed at random moments and resumed until they end, for hours.

Each round draws a study (one point, many, with pages, in shards that are merged, under mpirun) and runs it undisturbed. Then it is run
again, and each time something happens to it: a process is killed or stopped, the disk is full, a clock jumps, a second writer comes. It is
resumed until it ends. Lost: its bytes are not those of the undisturbed run, a finished point was run again, a process or a file is left
over, a run hangs, or it says anything but one line. A control study is run undisturbed now and then, and a long one once: the manager's
memory and open files may not grow. Ends with status 1 where anything was lost.
"""

import argparse
import collections
import dataclasses
import os
import random
import signal
import sys
import time

import soak_disturbances
from jobs import RUN, study
from mpi_faults import LAUNCHER, SETTINGS, is_built_with_mpi
from place import Job, Place, Setup, add_programs, require_layer
from process_faults import undisturbed_seconds
from soak_disturbed import Disturbed
from soak_studies import KINDS, long_study, whole_of
from soak_watch import watched

MOST = 5  # disturbances of one run, one after the other
KIB_PER_POINT = 4, 24  # of each finished point: its result, kept while others run, and as text while all are written
LINE_EVERY = 600  # seconds
POINTS_OF_CONTROL = 200


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_programs(parser)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="begin with this round")
    parser.add_argument("--points", type=int, default=5000, help="of the long study")
    parser.add_argument("--kinds", default=",".join([*KINDS, "MPI"]), help="of these only")
    return parser.parse_args()


def files_of(control):
    return control.usual_files(1, POINTS_OF_CONTROL - 1)


@dataclasses.dataclass
class Row:
    times: int = 0
    went_on: int = 0
    lost: int = 0


class Soak:
    def __init__(self, arguments):
        self.arguments = arguments
        self.setup = Setup(arguments.program, arguments.layer, [])
        self.rows, self.kinds = collections.defaultdict(Row), collections.Counter()
        self.rounds, self.losses, self.controls, self.begin = 0, 0, [], time.monotonic()
        self.control = Job("control", {"study.json": study(POINTS_OF_CONTROL)}, RUN, ["out.json"], has_journal=True, replaces=False)
        self.setup.expect(self.control)
        kinds = arguments.kinds.split(",")
        self.has_mpi = "MPI" in kinds and is_built_with_mpi(self.setup.program)
        self.drawn = [kind for kind in KINDS if kind in kinds] + (["MPI"] if self.has_mpi else [])
        if self.has_mpi:
            os.environ.update(SETTINGS)

    def minutes(self):
        return (time.monotonic() - self.begin) / 60

    def lose(self, what, faults):
        self.losses += 1
        print(f"LOST {what}", *faults, sep="\n  -> ", flush=True)

    def run(self):
        self.watch_control()
        self.watch_long_study()
        line_at = LINE_EVERY
        number = self.arguments.first
        while self.minutes() < self.arguments.minutes or self.rounds == 0:
            self.round(number)
            number += 1
            if self.minutes() * 60 >= line_at:
                self.watch_control()
                self.print_line()
                line_at += LINE_EVERY
        self.watch_control()

    def round(self, number):
        draw = random.Random(f"{self.arguments.seed}-{number}")
        kind = draw.choice(self.drawn)
        launcher = LAUNCHER if kind == "MPI" else []
        results = {}
        for job in KINDS["study" if launcher else kind](draw, self.setup.program):
            seconds = undisturbed_seconds(self.setup, job)
            results[job.name] = job
            self.disturb(f"round {number}, {job.name}", job, draw, self.launched_seconds(job, launcher) if launcher else seconds, launcher)
        if "merge" in results:
            shard = results["shard"]
            if whole_of(self.setup, shard.inputs["study.json"]) != results["merge"].expected["out.json"]:
                self.lose(f"round {number}", ["merged shards are not what a run of all points writes"])
        self.kinds[kind] += 1
        self.rounds += 1

    def launched_seconds(self, job, launcher):
        begin = time.monotonic()
        with Place(self.setup, job) as place:
            finished = place.finish(place.start(job.arguments, command=[*launcher, self.setup.program]))
            faults = list(place.unlike_undisturbed()) if finished.status == 0 else [finished.err.strip()]
        if faults:
            self.lose(f"{job.name} under mpirun", faults)
        return time.monotonic() - begin

    def disturb(self, name, job, draw, seconds, launcher):
        """Until it has ended, MOST times at the most."""
        with Place(self.setup, job) as place:
            disturbed = Disturbed(place, draw, seconds, launcher)
            table = soak_disturbances.of(job, launcher)
            happened = []
            for _ in range(draw.randint(1, MOST)):
                row = draw.choice(list(table))
                did, faults = disturbed.disturb(table[row])
                self.count(row, did, disturbed.is_complete(), f"{name}: {row}", faults)
                happened.append(row)
                if disturbed.is_complete():
                    break
            faults = disturbed.complete()
            if faults:
                self.rows[happened[-1]].lost += 1
                self.lose(f"{name}: {', '.join(happened)}", faults)

    def count(self, row, did, is_complete, name, faults):
        if did or faults:
            self.rows[row].times += 1
            self.rows[row].went_on += is_complete and not faults
        if faults:
            self.rows[row].lost += 1
            self.lose(name, faults)

    def watch_control(self):
        """The same study, undisturbed: whatever grows from one time to the next has been left by the rounds between."""
        with Place(self.setup, self.control) as place:
            finished, peak = watched(place, self.control.arguments)
            faults = list(place.unlike_undisturbed()) if finished.status == 0 else [finished.err.strip()]
        self.controls.append(peak)
        first = self.controls[0]
        # Looked at from outside, a process may end before its most is seen: 10 to 14 MiB in an hour of the same study.
        if peak.memory > 2 * first.memory or files_of(peak) > files_of(first):
            faults.append(f"{peak.memory} KiB and {files_of(peak)} open files, {first.memory} and {files_of(first)} at first")
        if faults:
            self.lose("the control study", faults)

    def watch_long_study(self):
        job = Job("long", {"study.json": long_study(self.arguments.points)}, RUN, ["out.json"], has_journal=True, replaces=False)
        with Place(self.setup, job) as place:
            finished, peak = watched(place, job.arguments)
        points = self.arguments.points
        growth = peak.running_per_point(points), peak.writing_per_point(points)
        faults = [] if finished.status == 0 else [finished.err.strip()]
        files = peak.usual_files(1, points / 2), peak.usual_files(points / 2, points - 1)
        faults += ["open files grow with the points"] if 0 < files[0] < files[1] else []
        faults += ["memory grows with the points by more than their results"] if growth[0] > KIB_PER_POINT[0] or growth[1] > KIB_PER_POINT[1] else []
        print(f"a study of {points} points: {peak.memory / 1024:.1f} MiB at most; {growth[0]:.2f} KiB for each finished point while others run, "
              f"{growth[1]:.1f} more while all are written; {files[1]} open files", flush=True)
        if faults:
            self.lose("the long study", faults)

    def print_line(self):
        times = sum(row.times for row in self.rows.values())
        print(f"{self.minutes():6.1f} min: {self.rounds} rounds, {times} disturbances, {self.losses} lost; control {self.controls[-1].memory / 1024:.1f} MiB, "
              f"{files_of(self.controls[-1])} open files", flush=True)

    def print_table(self):
        self.print_line()
        print(", ".join(f"{count} x {kind}" for kind, count in sorted(self.kinds.items())))
        print(f"control study: {' '.join(f'{peak.memory / 1024:.1f}' for peak in self.controls)} MiB; {' '.join(str(files_of(peak)) for peak in self.controls)} open files")
        print(f"{'disturbance':<36}{'times':>8}{'ended, resumed':>16}{'went on':>9}{'lost':>6}")
        total = Row(*(sum(getattr(row, field.name) for row in self.rows.values()) for field in dataclasses.fields(Row)))
        for name, row in [*sorted(self.rows.items()), ("all", total)]:
            print(f"{name:<36}{row.times:>8}{row.times - row.went_on - row.lost:>16}{row.went_on:>9}{row.lost:>6}")


def main():
    arguments = parse_arguments()
    require_layer(arguments.layer)
    # A shell has its background jobs ignore SIGINT, and runs would inherit that.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    soak = Soak(arguments)
    try:
        soak.run()
    except KeyboardInterrupt:
        pass
    soak.print_table()
    return 1 if soak.losses else 0


if __name__ == "__main__":
    sys.exit(main())
