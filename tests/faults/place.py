"""Where a run is disturbed: a folder of its own with the inputs, what an undisturbed run writes there, and what may be left."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PATIENCE = 120  # seconds after which a run hangs
TEMPORARY = re.compile(r"\.farandole-.*-\d+-\d+\.tmp$")
PRIVATE = 0o600  # of older results: nobody else may read the new ones
ANOTHER_RUN = "another run is writing it"


class Job:
    """A command, the files that it reads and those that it writes."""

    def __init__(self, name, inputs, arguments, outputs, has_journal=False, replaces=True):
        self.name, self.inputs, self.arguments, self.outputs = name, inputs, arguments, outputs
        self.has_journal, self.replaces = has_journal, replaces  # older results, which are there before
        self.expected = {}  # by output

    @property
    def journal(self):
        return self.outputs[0] + ".partial" if self.has_journal else ""

    @property
    def resumed(self):
        """The command that goes on after an end before its time."""
        arguments = [argument for argument in self.arguments if argument != "--quiet"]
        return arguments + ["--resume"] if self.has_journal else self.arguments


class Finished:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


SKIPPED = 77  # of ctest


def add_programs(parser):
    """What a Setup is of: arguments for the program and the layer, as absolute paths."""
    parser.add_argument("--program", type=os.path.abspath, default=os.environ.get("FARANDOLE_PROGRAM", "build/release/farandole"))
    parser.add_argument("--layer", type=os.path.abspath, default=os.environ.get("FARANDOLE_FAULT_LAYER", "build/release/tests/libfault_layer.so"),
                        help="the library that makes operations fail, built as fault_layer")


def require_layer(layer):
    if not os.path.exists(layer):
        print(f"skipped: {layer} was not built: cmake --build with the target fault_layer", file=sys.stderr)
        sys.exit(SKIPPED)


class Setup:
    """The program, the layer in place of the C library's functions, and the jobs with what they write undisturbed."""

    def __init__(self, program, layer, jobs):
        self.program, self.layer, self.jobs = program, layer, {job.name: job for job in jobs}
        for job in jobs:
            self.expect(job)

    def expect(self, job):
        with Place(self, job) as place:
            finished = place.run(job.arguments)
            if finished.status != 0:
                raise SystemExit(f"{job.name} fails undisturbed: {finished.err}")
            job.expected = {name: place.bytes_of(name) for name in job.outputs}


class Place:
    def __init__(self, setup, job):
        self.setup, self.job = setup, job
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # nothing need reach a disk: what would is kept account of
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="farandole-faults-", dir=memory)).resolve()
        self.folder = self.root / "work"
        self.folder.mkdir()
        for name, data in job.inputs.items():
            (self.folder / name).write_bytes(data)
        self.old = {name: b"old " + name.encode() for name in job.outputs} if job.replaces else {}
        for name, data in self.old.items():
            (self.folder / name).write_bytes(data)
            (self.folder / name).chmod(PRIVATE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, fault=None):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.root), "FARANDOLE_FAULT_FOLDER": str(self.folder)}
        # What a killed launcher leaves goes with the folder.
        environment.update({"OMPI_MCA_btl_vader_backing_directory": str(self.root), "OMPI_MCA_orte_tmpdir_base": str(self.root)})
        if fault is not None:
            environment["LD_PRELOAD"] = self.setup.layer
            environment.update({"FARANDOLE_FAULT_" + key.upper(): str(value) for key, value in fault.items()})
        return environment

    def start(self, arguments, fault=None, command=None, **options):
        """In a session of its own, so that whatever it starts can be found and ended."""
        command = [self.setup.program] if command is None else command
        return subprocess.Popen([*command, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(fault), start_new_session=True, **options)

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return Finished("hang", out.decode(errors="replace"), err.decode(errors="replace"))
        return Finished(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))

    def run(self, arguments, fault=None, **options):
        return self.finish(self.start(arguments, fault, **options))

    def bytes_of(self, name):
        file = self.folder / name
        return file.read_bytes() if file.exists() else None

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def finished_points(self):
        """Whole lines of the journal after its heading."""
        journal = self.bytes_of(self.job.journal) if self.job.has_journal else None
        return max(0, journal.count(b"\n") - 1) if journal else 0

    def half_written(self):
        """No file under its own name is anything but what was there or the whole new result."""
        for name in self.job.outputs:
            data = self.bytes_of(name)
            if data != self.job.expected[name] and data != self.old.get(name):
                yield f"{name} is {'missing' if data is None else 'neither the old file nor the whole result'}"
        for name, data in self.job.inputs.items():
            if self.bytes_of(name) != data:
                yield f"{name}, which is read, was changed"

    def forgotten_points(self):
        """As long as one of its files is missing, a study's points are kept."""
        written = [name for name, data in self.job.expected.items() if self.bytes_of(name) == data]
        if self.job.has_journal and 0 < len(written) < len(self.job.outputs) and not (self.folder / self.job.journal).exists():
            yield f"all points must be run again for {', '.join(set(self.job.outputs) - set(written))}"

    def left_behind(self, may_leave_temporary):
        for name in self.names():
            known = name in self.job.inputs or name in self.job.outputs or (name == self.job.journal)
            if not known and not (may_leave_temporary and TEMPORARY.search(name)):
                yield f"{name} is left behind"

    def unlike_undisturbed(self):
        for name, data in self.job.expected.items():
            if self.bytes_of(name) != data:
                yield f"{name} is not what an undisturbed run writes"
        for name in self.old:
            if (self.folder / name).exists() and (self.folder / name).stat().st_mode & 0o777 != PRIVATE:
                yield f"{name} may be read by others than the old one"
        if self.job.has_journal and (self.folder / self.job.journal).exists():
            yield "the journal is left"
        for name in self.names():
            if TEMPORARY.search(name):
                yield f"{name} of an ended run is left"

    def resume(self, least=None):
        """Goes on, undisturbed: what is wrong then. `least`: so many points at least need not be run again."""
        least = self.finished_points() if least is None else least
        finished = self.run(self.job.resumed)
        if finished.status != 0:
            return [f"resumed: status {finished.status}: {finished.err.strip()}"]
        said = re.search(r"resumed: (\d+) points", finished.err)
        kept = int(said.group(1)) if said else 0
        faults = [f"only {kept} of {least} finished points were kept"] if kept < least else []
        return faults + [f"resumed: {fault}" for fault in self.unlike_undisturbed()]


def faults_of_message(finished):
    """Status 1 and one line that says what could not be done."""
    lines = finished.err.strip().split("\n")
    if finished.status != 1:
        return [f"status {finished.status} where the machine failed: {finished.err.strip()[:200]}"]
    if len(lines) != 1 or not lines[0].startswith("farandole: cannot "):
        return [f"said: {finished.err.strip()[:300]}"]
    return []
