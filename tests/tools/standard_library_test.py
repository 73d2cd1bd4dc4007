"""Every other test in Python, where Python has nothing but its standard library: it passes, or is skipped and says why."""

import os
import pathlib
import subprocess
import sys
import unittest

from python_support import SKIPPED

OTHERS = sorted(path for path in pathlib.Path(__file__).parent.glob("*_test.py") if path.name != pathlib.Path(__file__).name)


class WithTheStandardLibraryOnly(unittest.TestCase):
    def run_it(self, path):
        """-S: without the folders of installed packages."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run([sys.executable, "-S", str(path)], capture_output=True, text=True, check=False, env=environment)

    def test_no_test_fails(self):
        self.assertTrue(OTHERS)
        for path in OTHERS:
            with self.subTest(path.name):
                finished = self.run_it(path)
                self.assertIn(finished.returncode, (0, SKIPPED), finished.stdout + finished.stderr)
                self.assertNotIn("Traceback", finished.stderr)

    def test_those_that_need_more_say_what_and_how_it_is_installed(self):
        for path in OTHERS:
            if "require(" not in path.read_text():
                continue
            with self.subTest(path.name):
                finished = self.run_it(path)
                self.assertEqual(finished.returncode, SKIPPED, finished.stdout + finished.stderr)
                self.assertRegex(finished.stdout, r"^skipped: .* has no \w.*; tools/setup python installs what is missing\n$")


if __name__ == "__main__":
    unittest.main()
