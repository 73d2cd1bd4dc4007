"""Runs one case by itself, with limits, and says what is wrong with how it ended."""

import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from case import ANY, DONE, FAILED, REFUSED

CPU_SECONDS = 60  # what the program lets itself take, 30 s by its own estimate, on a processor half as fast
WALL_SECONDS = 120  # for a loaded machine; what counts is the processor's time
MEMORY = 1 << 30
ADDRESS_SPACE = 6 << 30  # so that nothing takes the machine along
LIBRARYS_OWN = "[hwloc/"  # what MPI's library says where /sys is missing
LONGEST_MESSAGE = 1200

# What only our own code may say to itself.
INSIDE_WORDS = re.compile(r"std::|json\.exception|basic_|bad_alloc|invariant|vector::|stoi|stod|Assertion|terminate called|what\(\)|0x[0-9a-f]{6}|filesystem error")
PLACE = re.compile(r"^(farandole: |[^\n]{1,1000}?(:\d+)?: )")


class Finished:
    def __init__(self, status, out, err, cpu, wall, memory, timed_out):
        self.status, self.out, self.err = status, out, err
        self.cpu, self.wall, self.memory, self.timed_out = cpu, wall, memory, timed_out


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 2))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def execute(program, case, folder):
    environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "HOME": str(folder)}
    if "FARANDOLE_DATA" in os.environ:
        environment["FARANDOLE_DATA"] = os.environ["FARANDOLE_DATA"]
    environment.update(case.environment)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        target = open(case.stdout, "wb", buffering=0) if case.stdout else out
        begin = time.monotonic()
        process = subprocess.Popen([program, *case.arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=target, stderr=err,
                                   env=environment, preexec_fn=limits, start_new_session=True)
        timed_out = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begin > WALL_SECONDS:
                timed_out = True
                os.killpg(process.pid, signal.SIGKILL)
                pid, status, usage = os.wait4(process.pid, 0)
                break
            time.sleep(0.002)
        process.returncode = 0  # it has been waited for
        wall = time.monotonic() - begin
        if case.stdout:
            target.close()
        out.seek(0)
        err.seek(0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return Finished(code, out.read(1 << 24).decode("utf-8", "replace"), err.read(1 << 20).decode("utf-8", "replace"),
                        usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, timed_out)


def refuse_constant(text):
    raise ValueError(f"{text} in JSON")


def wrong_numbers(value, where=""):
    """Every number of a result is finite, and no time, rate or count is negative."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from wrong_numbers(member, f"{where}/{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value[:1000]):
            yield from wrong_numbers(member, f"{where}/{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{where} is {value}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        if where.endswith(("seconds", "per_second", "bandwidth", "ranks", "cost_per_run")) and "/settings" not in where:
            yield f"{where} is {value}"


def faults_of_result(text):
    if not text.lstrip().startswith("{"):
        return []
    try:
        return [f"result: {fault}" for fault in wrong_numbers(json.loads(text, parse_constant=refuse_constant))][:2]
    except ValueError as error:
        return [f"result is no JSON: {error}"]


def faults_of_message(finished):
    text = finished.err
    if not text.strip():
        return ["no message"]
    faults = []
    lines = [line for line in text.rstrip("\n").split("\n") if not line.startswith(LIBRARYS_OWN)]
    text = "\n".join(lines)
    helps = len(lines) == 2 and lines[1].startswith("Try 'farandole --help'")
    if len(lines) > 1 and not helps:
        faults.append(f"{len(lines)} lines")
    if len(text) > LONGEST_MESSAGE:
        faults.append(f"a message of {len(text)} characters")
    if INSIDE_WORDS.search(text):
        faults.append("words from inside: " + INSIDE_WORDS.search(text).group())
    if not PLACE.match(text):
        faults.append("no place")
    if any(ord(c) < 32 and c != "\n" for c in text) or "\x7f" in text:
        faults.append("control characters")
    return faults


def faults_of_status(case, finished):
    status = finished.status
    if finished.timed_out or status == -signal.SIGXCPU or (status == -signal.SIGKILL and finished.cpu >= CPU_SECONDS - 1) or finished.cpu > CPU_SECONDS:
        return ["hang"]
    if status < 0 or status >= 128:
        return [f"crash: signal {-status if status < 0 else status - 128}"]
    if status == 1 and case.expect != FAILED:
        return ["status 1"]
    if case.expect == REFUSED and status in (0, 3):
        return ["accepted"]
    if case.expect == DONE and status != 0:
        return [f"status {status} of what is right"]
    if case.expect == FAILED and status != 1:
        return [f"status {status} where the machine failed"]
    if status not in (0, 1, 2, 3):
        return [f"status {status}"]
    if status == 2 and case.expect == ANY:
        return []
    return []


def snapshot(folder):
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            files[str(path.relative_to(folder))] = "-> " + os.readlink(path)
        elif path.is_file():
            files[str(path.relative_to(folder))] = path.read_bytes() if path.stat().st_size < (1 << 22) else path.stat().st_size
    return files


def judge(program, case):
    """What is wrong, as a list; and how the case ended."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="farandole-adversarial-"))
    try:
        for name, data in case.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data() if callable(data) else data)
        if case.prepare:
            case.prepare(folder)
        before = snapshot(folder)
        finished = execute(program, case, folder)
        after = snapshot(folder)
        faults = faults_of_status(case, finished)
        if finished.memory > MEMORY:
            faults.append(f"{finished.memory / (1 << 20):.0f} MiB")
        if finished.status in (1, 2) and not faults:
            faults += faults_of_message(finished)
        if finished.status == 2 and finished.out:
            faults.append("printed a result and refused")
        if finished.status in (0, 3):
            faults += faults_of_result(finished.out)
            for name in after.keys() - before.keys():
                if name.endswith(".json") and isinstance(after[name], bytes):
                    faults += faults_of_result(after[name].decode("utf-8", "replace"))
        elif after.keys() - before.keys():
            faults.append("left behind: " + ", ".join(sorted(after.keys() - before.keys())))
        changed = [name for name in before if after.get(name) != before[name]]
        if changed:
            faults.append("changed or removed: " + ", ".join(changed))
        if any(".tmp" in name for name in after.keys() - before.keys()):
            faults.append("a temporary file left")
        return faults, finished
    finally:
        shutil.rmtree(folder, ignore_errors=True)
