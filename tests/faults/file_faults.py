"""Every operation of a command on its files, one at a time: it fails, the disk is full from then on, the process dies there."""

import errno
import os
import re
import resource
import shutil

from outcome import Case, Outcome
from place import PRIVATE, Place, faults_of_message

ERRORS = {"open": ["ENOSPC", "EIO", "ENFILE"], "write": ["ENOSPC", "EIO", "EDQUOT"], "cut": ["EIO"], "sync": ["EIO", "ENOSPC"],
          "rename": ["EIO", "ENOSPC"], "remove": ["EIO"], "chmod": ["EIO"], "close": ["EIO"], "close of new bytes": ["EDQUOT", "EIO"], "lock": ["ENOLCK"], "flock": ["ENOLCK"], "read": ["EIO"]}
# What follows such a failure is no result: a close is that of a file with bytes that were not synced yet.
MUST_END = {"open", "write", "cut", "sync", "rename", "chmod", "lock", "read", "close of new bytes"}


def operations_of(setup, job):
    """What an undisturbed run does to its files, in order."""
    with Place(setup, job) as place:
        log = place.root / "log"
        place.run(job.arguments, {"log": log})
        return list(told_apart(line.partition(" ")[::2] for line in log.read_text().splitlines()))


def told_apart(operations):
    """Closing what has been written matters, closing what is empty or synced does not."""
    unsynced = set()
    for operation, name in operations:
        if operation == "write":
            unsynced.add(name)
        elif operation == "sync":
            unsynced.discard(name)
        yield ("close of new bytes" if operation == "close" and name in unsynced else operation), re.sub(r"\d+-(\d+).tmp", r"N-\1.tmp", name)


def judge_failure(place, finished, operation, fault):
    """Of a command one of whose operations failed: what is wrong, and whether it went on all the same."""
    if finished.status == 0:
        faults = list(place.unlike_undisturbed())
        if fault["kind"] == "error" and operation in MUST_END:
            faults.append(f"status 0 though a {operation} failed")
        is_forgotten = operation == "remove"  # a journal or a temporary file that could not be removed
        return True, [fault for fault in faults if not (is_forgotten and "journal" in fault)]
    if operation == "read" and finished.status == 2:  # what cannot be read is bad input
        faults = []
    else:
        faults = faults_of_message(finished)
    return False, faults + list(place.half_written()) + list(place.forgotten_points()) + list(place.left_behind(operation == "remove" or fault["kind"] == "full"))


def is_refused(place):
    """`new` writes no file that is there, as the whole one is where only its folder could not be synced."""
    return place.job.name == "new" and (place.folder / "new.json").exists()


def try_failure(setup, job, at, operation, fault):
    with Place(setup, job) as place:
        finished = place.run(job.arguments, {"at": at, **fault})
        went_on, faults = judge_failure(place, finished, operation, fault)
        has_left = place.job.has_journal and (place.folder / job.journal).exists()
        if (not went_on or has_left) and not is_refused(place):
            faults += place.resume()
        return Outcome(went_on, faults)


def try_death(setup, job, at, fault):
    with Place(setup, job) as place:
        finished = place.run(job.arguments, {"at": at, **fault})
        faults = [] if finished.status == -9 else [f"status {finished.status} after SIGKILL"]
        faults += list(place.half_written()) + list(place.forgotten_points()) + list(place.left_behind(True))
        if not is_refused(place):
            faults += place.resume()
        return Outcome(False, faults)


class Disk:
    """What the files of a folder are by inode, before and, as far as they were synced, after."""

    def __init__(self, folder, synced):
        self.folder, self.synced = folder, synced
        self.before = {str(path.stat().st_ino): path.read_bytes() for path in folder.iterdir()}
        self.names_before = self.names_now()

    def names_now(self):
        return {path.name: str(path.stat().st_ino) for path in self.folder.iterdir()}

    def names_synced(self):
        file = self.synced / "names"
        if not file.exists():
            return self.names_before
        return {name: inode for inode, name in (line.split(" ", 1) for line in file.read_text().splitlines()) if name not in (".", "..")}

    def bytes_synced(self, inode):
        file = self.synced / f"data-{inode}"
        return file.read_bytes() if file.exists() else self.before.get(inode, b"")

    def after(self, which):
        """The folder as the loss of power leaves it: what of its names and bytes had come to the disk."""
        now, synced = self.names_now(), self.names_synced()
        names = {"synced": synced, "names": now, "removals": {name: inode for name, inode in synced.items() if name in now}}[which]
        return {name: self.bytes_synced(inode) for name, inode in names.items()}


def acknowledged_points(disk, job):
    """Points whose line had been synced when the power went."""
    inode = disk.names_now().get(job.journal)
    return max(0, disk.bytes_synced(inode).count(b"\n") - 1) if inode else 0


def try_power_loss(setup, job, at, which):
    with Place(setup, job) as place:
        synced = place.root / "synced"
        synced.mkdir()
        disk = Disk(place.folder, synced)
        place.run(job.arguments, {"at": at, "kind": "kill", "synced": synced})
        is_removed = job.has_journal and not (place.folder / job.journal).exists()
        points = 0 if is_removed else acknowledged_points(disk, job)
        files = disk.after(which)
        shutil.rmtree(place.folder)
        place.folder.mkdir()
        for name, data in files.items():
            (place.folder / name).write_bytes(data)
            if name in place.old:
                (place.folder / name).chmod(PRIVATE)
        faults = list(place.half_written()) + list(place.left_behind(True))
        if not is_refused(place):
            faults += place.resume(points)
        return Outcome(False, faults)


def cases_of_operation(setup, job, at, operation, name):
    def case(row, how, action, *rest):
        return Case(row, f"{job.name}, {at}: {operation} {name}: {how}", lambda: action(setup, job, at, *rest))

    for error in ERRORS[operation]:
        fault = {"kind": "error", "errno": getattr(errno, error)}
        yield case("reading fails" if operation == "read" else "an operation fails", error, try_failure, operation, fault)
    if operation in ("open", "write"):
        yield case("disk full from then on", "full", try_failure, operation, {"kind": "full", "errno": errno.ENOSPC})
    if operation == "write":
        yield case("half of a write", "short", try_failure, operation, {"kind": "short"})
        yield case("kill -9 within a write", "tear", try_death, {"kind": "tear"})
    if operation != "read":
        yield case("kill -9 at an operation", "kill", try_death, {"kind": "kill"})
        for which in ("synced", "names", "removals"):
            yield case("loss of power at an operation", which, try_power_loss, which)


def cases(setup):
    for job in setup.jobs.values():
        for at, (operation, name) in enumerate(operations_of(setup, job), 1):
            yield from cases_of_operation(setup, job, at, operation, name)
    yield from size_limits(setup)
    yield from small_disks(setup)


def try_size_limit(setup, job, size):
    """A limit on the size of files, as batch systems set it."""
    with Place(setup, job) as place:
        finished = place.run(job.arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        went_on, faults = judge_failure(place, finished, "write", {"kind": "full"})
        return Outcome(went_on, faults + ([] if went_on else place.resume()))


def size_limits(setup):
    for name in ("run, a study", "run, a study with pages", "merge"):
        job = setup.jobs[name]
        largest = max(len(data) for data in job.expected.values())
        for size in sorted({0, 1, *(largest * part // 12 for part in range(1, 13))}):
            yield Case("limit on the size of files", f"{name}, {size} bytes", lambda job=job, size=size: try_size_limit(setup, job, size))


def try_small_disk(setup, job, blocks):
    """A file system of so many pages; what is there is seen from within it only, so a shell looks."""
    with Place(setup, job) as place:
        disk = place.root / "disk"
        disk.mkdir()
        script = (f"mount -t tmpfs -o size={4096 * blocks} none '{disk}' && cp -a '{place.folder}'/. '{disk}' && cd '{disk}' && status=0; \"$@\" || status=$?; "
                  f"mount -o remount,size=64m '{disk}'; cp -a '{disk}'/. '{place.folder}'; exit $status")
        finished = place.finish(place.start([setup.program, *job.arguments], command=["unshare", "-m", "bash", "-c", script, "disk"]))
        went_on, faults = judge_failure(place, finished, "write", {"kind": "full"})
        return Outcome(went_on, faults + ([] if went_on else place.resume()))


def may_mount():
    return os.geteuid() == 0 and shutil.which("unshare") and os.system("unshare -m true 2>/dev/null") == 0


def small_disks(setup):
    if not may_mount():
        return
    for name in ("run, a study", "run, a study with pages"):
        job = setup.jobs[name]
        inputs = sum(-(-len(data) // 4096) for data in job.inputs.values()) + len(job.outputs)  # and the old results
        whole = inputs + sum(-(-len(data) // 4096) for data in job.expected.values()) + 8
        for blocks in sorted({inputs + 1 + (whole - inputs) * part // 16 for part in range(17)}):
            yield Case("small file system", f"{name}, {blocks} pages", lambda job=job, blocks=blocks: try_small_disk(setup, job, blocks))
