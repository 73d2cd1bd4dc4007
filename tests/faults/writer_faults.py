"""Several runs that write one result at once."""

import random
import time

from jobs import RUN, study
from file_faults import operations_of
from outcome import Case, Outcome
from place import ANOTHER_RUN, Job, Place
from processes import end

OTHER = ["--set", "/measure/iterations=3"]


def judge_ends(*ends):
    """Each has finished, or says that another is at it; one has."""
    faults = [f"status {one.status}: {one.err.strip()[:300]}" for one in ends if one.status != 0 and not (one.status == 2 and ANOTHER_RUN in one.err)]
    return faults + ([] if any(one.status == 0 for one in ends) else ["nobody has finished"])


def judge_results(place, allowed):
    faults = [] if place.bytes_of("out.json") in allowed else ["out.json is nobody's whole result"]
    return faults + [f"{name} is left behind" for name in place.names() if name not in place.job.inputs and name != "out.json"]


def wait_for(file, process):
    while not file.exists() and process.poll() is None:
        time.sleep(0.002)


def try_held(setup, job, other, at):
    """One is held at an operation until another has come and gone."""
    with Place(setup, job) as place:
        held, release = place.root / "held", place.root / "release"
        first = place.start(job.arguments, {"at": at, "kind": "hold", "held": held, "release": release})
        wait_for(held, first)
        second = place.run(other.arguments)
        release.touch()
        ends = place.finish(first), second
        allowed = [job.expected["out.json"], other.expected["out.json"]]
        return Outcome(True, judge_ends(*ends) + judge_results(place, allowed))


def try_at_once(setup, job, draw):
    """Three begin within a moment of one another, and one may be killed."""
    with Place(setup, job) as place:
        runs = []
        for _ in range(3):
            runs.append(place.start(job.arguments))
            time.sleep(draw.random() * 0.05)
        is_killed = draw.random() < 0.5
        if is_killed:
            time.sleep(draw.random() * 0.2)
            end(runs[0].pid)
        ends = [place.finish(run) for run in runs]
        if is_killed and ends[0].status == -9:
            return Outcome(False, list(place.half_written()) + list(place.left_behind(True)) + place.resume(0))
        return Outcome(True, judge_ends(*ends) + judge_results(place, [job.expected["out.json"]]))


def cases(setup):
    job = Job("two writers", {"study.json": study(3)}, RUN, ["out.json"], has_journal=True, replaces=False)
    other = Job("another study", job.inputs, [*RUN, *OTHER], ["out.json"], has_journal=True, replaces=False)
    setup.expect(job)
    setup.expect(other)
    for at, (operation, name) in enumerate(operations_of(setup, job), 1):
        yield Case("two writers, one held at an operation", f"{at}: {operation} {name}", lambda at=at: try_held(setup, job, job, at))
        yield Case("two writers of different studies", f"{at}: {operation} {name}", lambda at=at: try_held(setup, job, other, at))
    for i in range(20):
        yield Case("three writers at once", str(i), lambda i=i: try_at_once(setup, job, random.Random(i)))
