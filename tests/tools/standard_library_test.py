"""Tests in Python run without installed packages (ctest gives them -S); those that need some are skipped there, and say which."""

import os
import pathlib
import subprocess
import sys
import unittest

from python_support import SKIPPED

NEED_MORE = [path for path in sorted(pathlib.Path(__file__).parent.glob("*_test.py")) if "\nrequire(" in path.read_text()]


class WithTheStandardLibraryOnly(unittest.TestCase):
    def test_this_one_runs(self):
        self.assertTrue(sys.flags.no_site, "ctest runs a test without require() as python3 -S")

    def test_those_that_need_more_say_what_and_how_it_is_installed(self):
        self.assertTrue(NEED_MORE)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        for path in NEED_MORE:
            with self.subTest(path.name):
                finished = subprocess.run([sys.executable, "-S", str(path)], capture_output=True, text=True, check=False, env=environment)
                self.assertEqual(finished.returncode, SKIPPED, finished.stdout + finished.stderr)
                self.assertRegex(finished.stdout, r"^skipped: .* has no \w.*; tools/setup python installs what is missing\n$")


if __name__ == "__main__":
    unittest.main()
