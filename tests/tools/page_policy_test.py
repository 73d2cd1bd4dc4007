"""The scripts of a page are those that its Content-Security-Policy names by their digest, and no others."""

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import unittest

from python_support import PROGRAM


def page():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "page.html")
        command = [PROGRAM, "collective", "--topology", "ethernet-25g", "--ranks", "2", "-b", "8", "-e", "64", "--html", file]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if "needs the charts of D3" in finished.stderr:
            print("built without D3")
            sys.exit(77)
        with open(file, encoding="utf-8", newline="") as stream:
            return stream.read()


class PagePolicy(unittest.TestCase):
    def setUp(self):
        self.html = page()
        self.policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', self.html).group(1)

    def test_names_every_script_that_runs_by_its_digest(self):
        scripts = re.findall(r"<script>(.*?)</script>", self.html, re.S)
        self.assertEqual(len(scripts), 2)
        for script in scripts:
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            self.assertIn(f"'sha256-{digest}'", self.policy)

    def test_lets_no_other_script_run_and_nothing_be_fetched(self):
        directives = dict(part.strip().split(" ", 1) for part in self.policy.split(";"))
        self.assertEqual(directives["default-src"], "'none'")
        self.assertNotIn("unsafe", directives["script-src"])
        self.assertEqual(directives["base-uri"], "'none'")
        self.assertIsNone(re.search(r"<[^>]*\son[a-z]+\s*=", self.html.split("<script>")[0]))


if __name__ == "__main__":
    unittest.main()
