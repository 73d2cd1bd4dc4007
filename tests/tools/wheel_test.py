"""The wheel installs into an empty virtual environment without a network, and brings the program, its data and its types."""

import ast
import hashlib
import inspect
import json
import os
import pathlib
import subprocess
import sys
import typing
import zipfile

from python_support import PROGRAM, ROOT, InAFolder, is_here, require

require("farandole", "venv", "ensurepip")

import unittest

import farandole

BUILD = pathlib.Path(os.environ.get("FARANDOLE_BUILD", ROOT / "build" / "release"))
CLEAN = {name: value for name, value in os.environ.items() if name not in ("FARANDOLE_DATA", "PYTHONPATH")}

SCENARIO = {
    "name": "small",
    "workload": {"model": "resnet50", "batch_per_rank": 64},
    "platform": {"topology": "dgx-a100"},
    "strategy": {"kind": "ddp"},
    "measure": {"fidelity": "analytic"},
    "sweep": {"/platform/ranks": [8, 16]},
}


class Wheel(unittest.TestCase):
    """Made and installed once: a virtual environment takes seconds."""

    @classmethod
    def setUpClass(cls):
        folder = InAFolder()
        folder.setUp()
        cls.addClassCleanup(folder.doCleanups)
        cls.folder = folder.folder
        made = cls.start(sys.executable, "-B", ROOT / "tools" / "packaging" / "wheel.py", BUILD, cls.folder)
        cls.wheel = pathlib.Path(made.stdout.strip())
        cls.start(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.start(cls.folder / "venv" / "bin" / "pip", "install", "--no-index", "--no-deps", "--quiet", cls.wheel)

    @classmethod
    def start(cls, *command):
        finished = subprocess.run([str(one) for one in command], cwd=cls.folder, capture_output=True, text=True, check=False,
                                  env=CLEAN)
        if finished.returncode != 0:
            raise AssertionError(f"{command}: {finished.stdout}{finished.stderr}")
        return finished

    def python(self, text):
        return self.start(self.folder / "venv" / "bin" / "python", "-c", text).stdout

    def test_a_dict_runs_and_gives_what_the_program_prints(self):
        (self.folder / "small.json").write_text(json.dumps(SCENARIO))
        printed = json.loads(self.start(PROGRAM, "run", "small.json", "--format", "json", "--quiet").stdout)
        ours = json.loads(self.python(f"import farandole, json; print(json.dumps(farandole.run({SCENARIO!r})))"))
        self.assertEqual(ours, printed["points"])

    def test_the_data_is_that_of_the_wheel(self):
        doctor = self.start(self.folder / "venv" / "bin" / "farandole", "doctor").stdout
        self.assertRegex(doctor, rf"data +{self.folder}/venv/lib/python[0-9.]+/site-packages/farandole/share/farandole ")
        self.assertEqual(self.python("import farandole; print(farandole.command('show', 'models'), end='')"),
                         self.start(self.folder / "venv" / "bin" / "farandole", "show", "models").stdout)

    def test_every_file_stands_in_the_record_with_its_digest_and_nothing_else(self):
        with zipfile.ZipFile(self.wheel) as archive:
            record = next(name for name in archive.namelist() if name.endswith("RECORD"))
            listed = [line.split(",")[0] for line in archive.read(record).decode().splitlines()]
            self.assertEqual(sorted(listed), sorted(archive.namelist()))
            self.assertIn("farandole/py.typed", listed)
        self.assertEqual(self.start(self.folder / "venv" / "bin" / "pip", "check").stdout.strip(), "No broken requirements found.")

    def test_the_same_build_makes_the_same_wheel(self):
        again = self.start(sys.executable, "-B", ROOT / "tools" / "packaging" / "wheel.py", BUILD, self.folder / "again").stdout.strip()
        digests = [hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in (again, self.wheel)]
        self.assertEqual(*digests)

    def test_pandas_takes_what_a_run_gives(self):
        if not is_here("pandas"):
            self.skipTest("pandas is not here")
        frame = farandole.run(SCENARIO).to_frame()
        self.assertEqual(list(frame["ranks"]), [8, 16])
        self.assertIn("breakdown.compute", frame.columns)

    def test_a_notebook_shows_what_differs_as_a_table(self):
        shown = farandole.run(SCENARIO)._repr_html_()
        self.assertIn("<th>ranks</th>", shown)
        self.assertEqual(shown.count("<tr>"), 3)
        self.assertNotIn("<th>platform</th>", shown)  # the same for both

    def test_all_that_is_public_has_types_and_says_what_it_is(self):
        for name in ("run", "sweep", "collective", "command"):
            function = getattr(farandole, name)
            hints = typing.get_type_hints(function, vars(farandole))
            self.assertEqual(set(hints), set(inspect.signature(function).parameters) | {"return"}, name)
            self.assertTrue(function.__doc__, name)
        stub = ast.parse((ROOT / "tools" / "python" / "farandole" / "_program.pyi").read_text())
        declared = {node.name for node in stub.body if hasattr(node, "name")} | {"version"}
        self.assertLessEqual(declared, set(dir(farandole._program)))


if __name__ == "__main__":
    unittest.main()
