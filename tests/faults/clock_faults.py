"""Clocks that jump while a run is on: the time of day back or ahead by a year, any clock ahead by an hour."""

from outcome import Case, Outcome
from place import Place

YEAR = 365 * 24 * 3600
JUMPS = [("realtime", YEAR), ("realtime", -YEAR), ("monotonic", 3600)]


def try_jump(setup, job, fault):
    with Place(setup, job) as place:
        log = place.root / "log"
        finished = place.run(job.arguments, {**fault, "log": log})
        faults = [] if finished.status == 0 else [f"status {finished.status}: {finished.err.strip()}"]
        return Outcome(True, faults + list(place.unlike_undisturbed()), int(log.exists()))


def cases(setup):
    for name in ("run, a study with pages", "run, one point", "collective", "explore"):
        job = setup.jobs[name]
        for clock, seconds in JUMPS:
            for at in (1, 2, 5, 20):
                fault = {"clock": clock, "seconds": seconds, "at": at}
                yield Case("a clock jumps", f"{name}, {clock} by {seconds} s from call {at}", lambda job=job, fault=fault: try_jump(setup, job, fault))
