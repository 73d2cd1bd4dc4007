"""The processes of a session: who they are, and how they are ended."""

import os
import pathlib
import signal
import time


class Process:
    def __init__(self, pid):
        fields = (pathlib.Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
        self.pid, self.state, self.parent, self.session = pid, fields[0], int(fields[1]), int(fields[3])
        self.program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        words = (pathlib.Path("/proc") / str(pid) / "environ").read_bytes().split(b"\0")
        ranks = [word.partition(b"=")[2] for word in words if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
        self.rank = int(ranks[0]) if ranks else None


def processes_of(session, program="farandole"):
    """Those that live, by number."""
    found = []
    for name in os.listdir("/proc"):
        try:
            process = Process(int(name)) if name.isdigit() else None
        except (OSError, IndexError, ValueError):  # gone meanwhile, or not ours
            continue
        if process and process.session == session and process.program == program and process.state not in "ZX":
            found.append(process)
    return sorted(found, key=lambda process: process.pid)


def ranks_of(session):
    """The process of each rank, without those it has forked."""
    processes = processes_of(session)
    own = {process.pid for process in processes}
    return {process.rank: process.pid for process in processes if process.rank is not None and process.parent not in own}


def workers_of(session):
    """What was forked by a process of the program."""
    processes = processes_of(session)
    own = {process.pid for process in processes}
    return [process.pid for process in processes if process.parent in own]


def end(pid, how=signal.SIGKILL):
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        pass


def survivors(session, seconds):
    """Who is still there after so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and processes_of(session):
        time.sleep(0.05)
    return [f"process {process.pid} of the ended run is still there" for process in processes_of(session)]
