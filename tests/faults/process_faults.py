"""Processes of a run are killed or stopped at any moment, and a study is killed and resumed fifty times."""

import json
import os
import random
import signal
import time

from jobs import PAGES, RUN, study
from outcome import Case, Outcome
from place import Job, Place, faults_of_message
from processes import end, processes_of, survivors, workers_of

TIMES = 50
POINTS = 12


def long_job(name="run, many points"):
    return Job(name, {"study.json": study(POINTS, 100, "flow")}, RUN, ["out.json"], has_journal=True)


def undisturbed_seconds(setup, job):
    begin = time.monotonic()
    setup.expect(job)
    return time.monotonic() - begin


def wait_until(moment, process):
    while time.monotonic() < moment and process.poll() is None:
        time.sleep(0.001)


def wait_for_points(place, process, points):
    """Until so many are finished, and the next one has begun."""
    while place.finished_points() < points and process.poll() is None:
        time.sleep(0.001)


def judge_failed_point(place, finished):
    """One point has failed with its worker: the others are written all the same, and the failed one is named."""
    faults = [] if finished.status == 1 else [f"status {finished.status} where a worker died: {finished.err.strip()[:200]}"]
    faults += [] if "points failed" in finished.err and "signal 9" in finished.err else [f"said: {finished.err.strip()[:300]}"]
    try:
        result = json.loads(place.bytes_of("out.json"))
    except (TypeError, ValueError):
        return faults + ["no whole result of the points that finished"]
    return faults + ([] if result.get("failed") else ["the result does not say which point failed"])


def kill_manager(setup, job, after):
    with Place(setup, job) as place:
        process = place.start(job.arguments)
        wait_until(time.monotonic() + after, process)
        end(process.pid)
        finished = place.finish(process)
        left = survivors(process.pid, 10)
        if finished.status == 0:  # it was over already
            return Outcome(True, left + list(place.unlike_undisturbed()), 0)
        return Outcome(False, left + list(place.half_written()) + list(place.left_behind(True)) + place.resume())


def kill_worker(setup, job, after, draw):
    with Place(setup, job) as place:
        process = place.start(job.arguments)
        wait_until(time.monotonic() + after, process)
        workers = workers_of(process.pid)
        if workers:
            end(draw.choice(workers))
        finished = place.finish(process)
        if finished.status == 0:
            return Outcome(True, list(place.unlike_undisturbed()), int(bool(workers)))
        return Outcome(False, judge_failed_point(place, finished) + list(place.left_behind(False)) + place.resume())


def kill_explaining_worker(setup, job, draw):
    """Workers run again once all points are there: those that explain some of them for the page."""
    with Place(setup, job) as place:
        process = place.start(job.arguments)
        workers = []
        while process.poll() is None and not workers:
            workers = workers_of(process.pid) if place.bytes_of("out.json") == job.expected["out.json"] else []
        if workers:
            end(draw.choice(workers))
        finished = place.finish(process)
        if finished.status == 0:
            return Outcome(True, list(place.unlike_undisturbed()), int(bool(workers)))
        return Outcome(False, faults_of_message(finished) + list(place.half_written()) + list(place.left_behind(False)) + place.resume())


def kill_drawing(setup, job):
    """Graphviz, which draws the network for the page, is killed."""
    with Place(setup, job) as place:
        programs = place.root / "programs"
        programs.mkdir()
        (programs / "dot").write_text("#!/bin/sh\nkill -9 $$\n")
        (programs / "dot").chmod(0o755)
        finished = place.finish(place.start(job.arguments, command=["env", f"PATH={programs}:{os.environ['PATH']}", setup.program]))
        return Outcome(False, faults_of_message(finished) + list(place.half_written()) + list(place.left_behind(False)) + place.resume())


def stop_for_a_while(setup, job, after, draw):
    with Place(setup, job) as place:
        process = place.start(job.arguments)
        wait_until(time.monotonic() + after, process)
        chosen = [one.pid for one in processes_of(process.pid) if draw.random() < 0.5]
        for pid in chosen:
            end(pid, signal.SIGSTOP)
        time.sleep(0.5)
        for pid in chosen:
            end(pid, signal.SIGCONT)
        finished = place.finish(process)
        return Outcome(True, ([] if finished.status == 0 else [f"status {finished.status}: {finished.err.strip()}"]) + list(place.unlike_undisturbed()))


def resume_fifty_times(setup, how):
    """Each time one point is finished, and the next one's line is cut short or not begun."""
    job = Job("run, resumed", {"study.json": study(TIMES + 3)}, RUN, ["out.json"], has_journal=True)
    setup.expect(job)
    faults = []
    with Place(setup, job) as place:
        for time_killed in range(TIMES):
            first_lines = 3 if time_killed == 0 else 2  # the heading is written once
            finished = place.run(job.resumed, {"only": "write:.partial", "at": first_lines, "kind": how})
            faults += [] if finished.status == -9 else [f"time {time_killed + 1}: status {finished.status}: {finished.err.strip()}"]
            faults += list(place.half_written())
            lines = (place.bytes_of(job.journal) or b"").count(b"\n") - 1
            faults += [] if lines == time_killed + 1 else [f"time {time_killed + 1}: {lines} points are kept"]
        faults += place.resume()
    return Outcome(False, faults, TIMES)


def cases(setup):
    job = long_job()
    seconds = undisturbed_seconds(setup, job)
    draw = random.Random(1)

    def moment(share):
        return seconds * share

    for i in range(TIMES):
        share = draw.random()
        own = random.Random(i)
        yield Case("kill -9 of the manager, any moment", f"after {share:.2f}", lambda share=share: kill_manager(setup, job, moment(share)))
        yield Case("kill -9 of a worker, any moment", f"after {share:.2f}", lambda share=share, own=own: kill_worker(setup, job, moment(share), own))
        if i < 10:
            yield Case("processes stopped and continued", f"after {share:.2f}", lambda share=share, own=own: stop_for_a_while(setup, job, moment(share), own))
            yield Case("kill -9 of a worker, for a page", str(i), lambda own=own: kill_explaining_worker(setup, setup.jobs["run, a study with pages"], own))
    page = Job("run, a page", {"study.json": study(3)}, [*RUN, *PAGES], ["out.json", "page.html", "page.md", "trace.json"], has_journal=True)
    setup.expect(page)
    yield Case("kill -9 of dot, for a page", "dot", lambda: kill_drawing(setup, page))
    for how in ("kill", "tear"):
        yield Case("50 resumes of one study", how, lambda how=how: resume_fifty_times(setup, how))
