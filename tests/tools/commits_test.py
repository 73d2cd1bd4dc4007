"""What CONTRIBUTING.md says of commits, of the last fifty: "area: what changes" in 72 characters, and the reason in the body."""

import re
import shutil
import subprocess
import unittest

from python_support import ROOT

BEGAN = "2026-11-24T23:00:00Z"  # before, nobody held to it
SUBJECT = re.compile(r"[a-z0-9_/.-]+: \S.*")


def wrong(subject):
    return "" if SUBJECT.fullmatch(subject) and len(subject) <= 72 and not re.search(r"\b(wip|in work)\b", subject.lower()) else subject


class Commits(unittest.TestCase):
    @unittest.skipUnless(shutil.which("git"), "git is not here")
    def test_are_called_what_they_change(self):
        log = subprocess.run(["git", "log", "--no-merges", "-50", f"--since={BEGAN}", "--format=%h %s"], cwd=ROOT,
                             capture_output=True, text=True, check=False)
        if log.returncode != 0:
            self.skipTest("this is no checkout of a Git repository")
        subjects = dict(line.split(" ", 1) for line in log.stdout.splitlines())
        self.assertEqual({commit: subject for commit, subject in subjects.items() if wrong(subject)}, {})

    def test_a_subject_that_says_nothing_or_goes_on_and_on_is_wrong(self):
        self.assertEqual(wrong("anchor: look on both sides of the step"), "")
        for subject in ["Formatted", "wip: items", "Fixes things", "anchor:", "anchor: " + "x" * 65]:
            self.assertEqual(wrong(subject), subject)


if __name__ == "__main__":
    unittest.main()
