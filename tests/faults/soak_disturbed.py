"""A run of a soak in its folder: what is wrong with it after each disturbance, and once it has ended."""

import re
import signal

from place import ANOTHER_RUN, faults_of_message
from process_faults import judge_failed_point
from processes import end, processes_of, survivors
from soak_disturbances import Attempt

RESUMED = re.compile(r"^resumed: .*\n", re.MULTILINE)
KILLED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}


class Disturbed:
    def __init__(self, place, draw, seconds, launcher):
        self.place, self.draw, self.seconds, self.launcher = place, draw, seconds, launcher
        self.allowed = {name: {data, place.old.get(name)} for name, data in place.job.expected.items()}
        self.has_begun = False

    def has_results(self):
        return all(self.place.bytes_of(name) == data for name, data in self.place.job.expected.items())

    def is_complete(self):
        return self.has_results() and not self.has_journal()

    def has_journal(self):
        return self.place.job.has_journal and (self.place.folder / self.place.job.journal).exists()

    def disturb(self, disturbance):
        """Whether it happened, and what is wrong then."""
        points = self.place.finished_points()
        attempt = Attempt(self.place, self.place.job.resumed if self.has_begun else self.place.job.arguments, self.draw, self.seconds, self.launcher)
        self.has_begun = True
        happened = disturbance(attempt)
        ends = attempt.finish()
        faults = self.faults_of_processes(attempt.runs)
        for finished in ends:
            faults += self.faults_of_end(finished)
        faults += self.faults_of_files(attempt.may_leave_temporary or any(finished.status != 0 for finished in ends))
        # A second writer that comes after the first has ended begins a journal of its own: the first one's points are in the results.
        if not self.has_results() and self.place.finished_points() < points:
            faults.append(f"{self.place.finished_points()} of {points} finished points are kept")
        return happened, faults

    def faults_of_processes(self, runs):
        faults = [fault for run in runs for fault in survivors(run.pid, 60 if self.launcher else 10)]
        for process in [process for run in runs for process in processes_of(run.pid)]:
            end(process.pid)
        return faults

    def faults_of_end(self, finished):
        if finished.status == "hang":
            return ["it hangs"]
        if "points failed" in finished.err:
            return self.faults_of_failed_points(finished)
        is_refused = finished.status == 2 and ANOTHER_RUN in finished.err
        if finished.status == 0 or finished.status in KILLED or is_refused or self.launcher:  # mpirun's words are its own
            return []
        finished.err = RESUMED.sub("", finished.err)
        return faults_of_message(finished)

    def faults_of_failed_points(self, finished):
        """All others are in the results, which stand there until it is resumed."""
        for name, allowed in self.allowed.items():
            allowed.add(self.place.bytes_of(name))
        return judge_failed_point(self.place, finished) if "out.json" in self.allowed else []

    def faults_of_files(self, may_leave_temporary):
        faults = [f"{name} is neither what was there nor the whole result" for name, allowed in self.allowed.items() if self.place.bytes_of(name) not in allowed]
        faults += [f"{name}, which is read, was changed" for name, data in self.place.job.inputs.items() if self.place.bytes_of(name) != data]
        return faults + list(self.place.left_behind(may_leave_temporary))

    def complete(self):
        """Undisturbed, to the end. A run that wrote all it had to has only the files of killed ones to leave to the next."""
        return [] if self.is_complete() else self.place.resume()
