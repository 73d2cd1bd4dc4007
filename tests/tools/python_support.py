"""What tests of the Python tools share: where the program is, what must be here for a test, a folder of its own."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FARANDOLE_PROGRAM", str(ROOT / "build" / "release" / "farandole"))
SKIPPED = 77  # ctest counts it as skipped


def is_here(name):
    """Also false, not an error, where the package that the module is in is not here."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def require(*modules):
    """Ends the test as skipped where one of the modules is not here."""
    missing = [name for name in modules if not is_here(name)]
    if missing:
        print(f"skipped: {sys.executable} has no {', '.join(missing)}; tools/setup python installs what is missing")
        sys.exit(SKIPPED)


class InAFolder(unittest.TestCase):
    """Each test runs commands in an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run_command(self, *command):
        return subprocess.run([str(one) for one in command], cwd=self.folder, capture_output=True, text=True, check=False)

    def farandole(self, *arguments):
        """Its output; fails the test unless it succeeds."""
        finished = self.run_command(PROGRAM, *arguments)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return finished.stdout

    def tool(self, name, *arguments):
        return self.run_command(sys.executable, ROOT / "tools" / name, *arguments)

    def assert_refused(self, finished, message):
        self.assertEqual((finished.returncode, finished.stdout), (2, ""), finished.stderr)
        self.assertIn(message, finished.stderr)
        self.assertEqual(finished.stderr.count("\n"), 1, finished.stderr)
