"""The same under mpirun: a manager that writes and ranks that run points."""

import errno
import os
import random
import shutil
import subprocess
import time

from file_faults import ERRORS, operations_of
from outcome import Case, Outcome
from place import Place
from process_faults import POINTS, judge_failed_point, long_job, wait_for_points
from processes import end, ranks_of, survivors, workers_of
from writer_faults import judge_ends

SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
LAUNCHER = ["mpirun", "--oversubscribe", "-np", "3"]
RECOVERING = ["mpirun", "--enable-recovery", "--oversubscribe", "-np", "3"]


def is_built_with_mpi(program):
    if not shutil.which("mpirun"):
        return False
    return "backend mpi    not " not in subprocess.run([program, "doctor"], capture_output=True, text=True, check=False).stdout


def start(place, arguments, fault=None, launcher=None):
    return place.start(arguments, fault, command=[*(launcher or LAUNCHER), place.setup.program])


def ended_or_went_on(place, finished, left):
    """A run that was killed; the launcher's own words are its own."""
    if finished.status == 0:
        return Outcome(True, left + list(place.unlike_undisturbed()))
    return Outcome(False, left + list(place.half_written()) + list(place.left_behind(True)) + place.resume())


def victim(process, who, draw):
    """The process to be killed; none where it is over already."""
    ranks = ranks_of(process.pid)
    if who == "the launcher":
        return process.pid
    if who == "the manager":
        return ranks.get(0)
    if who == "a rank":
        return ranks.get(draw.choice([1, 2]))
    workers = workers_of(process.pid)
    return draw.choice(workers) if workers else None


def try_kill(setup, job, who, points, draw, launcher=None):
    with Place(setup, job) as place:
        process = start(place, job.arguments, launcher=launcher)
        wait_for_points(place, process, points)
        while (chosen := victim(process, who, draw)) is None and process.poll() is None:
            time.sleep(0.01)
        if chosen is not None:
            end(chosen)
        finished = place.finish(process)
        left = survivors(process.pid, 60)
        if who == "a rank's worker" and finished.status == 1:
            return Outcome(False, left + judge_failed_point(place, finished) + list(place.left_behind(False)) + place.resume())
        outcome = ended_or_went_on(place, finished, left)
        outcome.times = int(chosen is not None)
        return outcome


def try_operation(setup, job, at, operation, kind):
    with Place(setup, job) as place:
        fault = {"at": at, "kind": kind, "errno": getattr(errno, ERRORS[operation][0])}
        process = start(place, job.arguments, fault)
        finished = place.finish(process)
        left = survivors(process.pid, 60)
        said = [line for line in finished.err.split("\n") if line.startswith("farandole: cannot ")]
        if kind == "error" and finished.status != 0 and len(said) != 1:
            left.append(f"status {finished.status}, said: {finished.err[:300]}")
        outcome = ended_or_went_on(place, finished, left)
        is_forgotten = operation == "remove"
        outcome.faults = [fault for fault in outcome.faults if not (is_forgotten and "journal" in fault)]
        return outcome


def try_two(setup, job, draw):
    with Place(setup, job) as place:
        first = start(place, job.arguments)
        time.sleep(draw.random())
        second = start(place, job.arguments)
        ends = place.finish(first), place.finish(second)
        return Outcome(True, judge_ends(*ends) + list(place.unlike_undisturbed()))


def try_clock(setup, job, fault):
    with Place(setup, job) as place:
        log = place.root / "log"
        process = start(place, job.arguments, {**fault, "log": log})
        finished = place.finish(process)
        outcome = ended_or_went_on(place, finished, survivors(process.pid, 60))
        outcome.times = int(log.exists())
        return outcome


def kills(setup, job):
    draw = random.Random(2)
    for who, times in (("the manager", 20), ("a rank", 15), ("a rank's worker", 15), ("the launcher", 10)):
        for i in range(times):
            points = draw.randrange(POINTS)
            yield Case(f"MPI: kill -9 of {who}", f"{i}: after {points} points",
                       lambda who=who, points=points, i=i: try_kill(setup, job, who, points, random.Random(i)))
    for i in range(3):
        yield Case("MPI: kill -9 of a rank, the others go on", f"{i}: --enable-recovery",
                   lambda i=i: try_kill(setup, job, "a rank", 2 + i, random.Random(i), RECOVERING), is_slow=True)


def cases(setup):
    if not is_built_with_mpi(setup.program):
        return
    os.environ.update(SETTINGS)
    job = long_job("run under MPI")
    setup.expect(job)
    yield from kills(setup, job)
    small = setup.jobs["run, a study"]
    for at, (operation, name) in enumerate(operations_of(setup, small), 1):
        if operation == "read":
            continue
        title = f"{at}: {operation} {name}"
        yield Case("MPI: an operation of the manager fails", title, lambda at=at, operation=operation: try_operation(setup, small, at, operation, "error"))
        yield Case("MPI: kill -9 of the manager at an operation", title, lambda at=at, operation=operation: try_operation(setup, small, at, operation, "kill"))
    for i in range(5):
        yield Case("MPI: two writers at once", str(i), lambda i=i: try_two(setup, job, random.Random(i)))
    for rank in (0, 1):
        for clock, seconds in (("realtime", 365 * 24 * 3600), ("realtime", -365 * 24 * 3600), ("monotonic", 3600)):
            for at in (10, 1000):
                fault = {"clock": clock, "seconds": seconds, "at": at, "rank": rank}
                yield Case("MPI: a clock jumps", f"rank {rank}, {clock} by {seconds} s from call {at}", lambda fault=fault: try_clock(setup, job, fault))
