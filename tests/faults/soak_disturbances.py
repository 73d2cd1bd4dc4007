"""What happens to a run of a soak, at a moment drawn at random; each returns how its runs have ended."""

import errno
import os
import resource
import signal
import time

from clock_faults import JUMPS
from process_faults import wait_for_points, wait_until
from processes import end, processes_of, ranks_of, workers_of

LAYER_KINDS = ["kill", "tear", "error", "short"]


class Attempt:
    """One command, given once, and what is to disturb it."""

    def __init__(self, place, arguments, draw, seconds, launcher):
        self.place, self.arguments, self.draw, self.seconds, self.launcher = place, arguments, draw, seconds, launcher
        self.runs, self.ends = [], []
        self.may_leave_temporary = False  # where removing it is what fails

    def start(self, fault=None, **options):
        command = [*self.launcher, self.place.setup.program]
        self.runs.append(self.place.start(self.arguments, fault, command=command, **options))
        return self.runs[-1]

    def wait(self, process):
        """Till any moment. Under mpirun most of them pass before the first point and after the last: there, till any point, now and then."""
        if self.launcher and self.draw.random() < 0.7:
            wait_for_points(self.place, process, self.draw.randrange(8))
        else:
            wait_until(time.monotonic() + self.draw.random() * self.seconds, process)

    def finish(self):
        """How each has ended."""
        self.ends += [self.place.finish(run) for run in self.runs[len(self.ends):]]
        return self.ends

    def manager(self, process):
        return ranks_of(process.pid).get(0) if self.launcher else process.pid


def send(attempt, choose, how):
    """A signal to whom `choose` names; False where nobody is there any more."""
    process = attempt.start()
    attempt.wait(process)
    chosen = choose(process)
    if chosen is None or process.poll() is not None:
        return False
    end(chosen, how)
    return True


def kill_manager(attempt):
    return send(attempt, attempt.manager, signal.SIGKILL)


def kill_worker(attempt):
    def worker(process):
        workers = workers_of(process.pid)
        return attempt.draw.choice(workers) if workers else None
    return send(attempt, worker, signal.SIGKILL)


def kill_rank(attempt):
    def rank(process):
        ranks = [pid for rank, pid in ranks_of(process.pid).items() if rank > 0]
        return attempt.draw.choice(ranks) if ranks else None
    return send(attempt, rank, signal.SIGKILL)


def kill_launcher(attempt):
    return send(attempt, lambda process: process.pid, signal.SIGKILL)


def terminate(attempt):
    return send(attempt, lambda process: process.pid, signal.SIGTERM)


def interrupt(attempt):
    """As by Ctrl-C: all of them."""
    process = attempt.start()
    attempt.wait(process)
    was_running = process.poll() is None
    if was_running:
        os.killpg(process.pid, signal.SIGINT)
    return was_running


def stop_and_continue(attempt):
    process = attempt.start()
    attempt.wait(process)
    chosen = [one.pid for one in processes_of(process.pid) if attempt.draw.random() < 0.5]
    for pid in chosen:
        end(pid, signal.SIGSTOP)
    time.sleep(attempt.draw.random())
    for pid in chosen:
        end(pid, signal.SIGCONT)
    return bool(chosen)


def jump_clock(attempt):
    clock, seconds = attempt.draw.choice(JUMPS)
    log = attempt.place.root / "jumped"
    log.unlink(missing_ok=True)
    attempt.start({"clock": clock, "seconds": seconds, "at": attempt.draw.choice([1, 2, 5, 20, 100]), "log": log})
    attempt.finish()
    return log.exists()


def second_writer(attempt):
    """The same command beside it, one of both killed now and then."""
    first = attempt.start()
    attempt.wait(first)
    was_running = first.poll() is None
    second = attempt.start()
    if attempt.draw.random() < 0.5:
        attempt.wait(second)
        killed = attempt.draw.choice([first, second])
        if killed.poll() is None:
            end(attempt.manager(killed) or killed.pid)
    return was_running


def limit_size(attempt):
    largest = max(len(data) for data in attempt.place.job.expected.values())
    size = attempt.draw.randrange(largest + 1)
    attempt.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    return True


def fill_disk(attempt):
    attempt.start({"at": attempt.draw.randrange(1, 60), "kind": "full", "errno": errno.ENOSPC})
    return True


def fail_an_operation(attempt):
    attempt.may_leave_temporary = True
    attempt.start({"at": attempt.draw.randrange(1, 60), "kind": attempt.draw.choice(LAYER_KINDS), "errno": errno.EIO})
    return True


OF_ALL = {"kill -9 of the manager": kill_manager, "SIGTERM": terminate, "SIGINT": interrupt, "stopped and continued": stop_and_continue,
          "a clock jumps": jump_clock, "a second writer": second_writer, "limit on the size of files": limit_size,
          "disk full from an operation on": fill_disk, "an operation fails, or kills": fail_an_operation}
OF_WORKERS = {**OF_ALL, "kill -9 of a worker": kill_worker}
OF_MPI = {"MPI: kill -9 of the manager": kill_manager, "MPI: kill -9 of a rank": kill_rank, "MPI: kill -9 of a rank's worker": kill_worker,
          "MPI: kill -9 of the launcher": kill_launcher, "MPI: SIGTERM": terminate, "MPI: stopped and continued": stop_and_continue,
          "MPI: a clock jumps": jump_clock, "MPI: a second writer": second_writer, "MPI: an operation fails, or kills": fail_an_operation}


def of(job, launcher):
    """What can happen to a run, by name."""
    if launcher:
        return OF_MPI
    return OF_WORKERS if "--jobs" in job.arguments else OF_ALL
