"""The files that other programs read (workflows, issue forms, recipes, citation, schemas) can be read by them, and name what is there."""

import datetime
import json
import re
import shutil
import subprocess
import unittest

from python_support import ROOT, require

require("yaml")

import yaml

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
SCHEMAS = sorted((ROOT / "sim" / "config" / "schemas").glob("*.schema.json"))
VERSION = re.search(r"project\(farandole VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def read(path):
    return yaml.safe_load(path.read_text())


def shell_of(path):
    """All shell lines of a recipe: of a workflow, a Dockerfile or an Apptainer definition."""
    if path.suffix == ".yml":
        steps = [step for job in read(path)["jobs"].values() for step in job["steps"]]
        return "\n".join(step["run"] for step in steps if "run" in step)
    if path.name == "Dockerfile":
        joined = re.sub(r"\\\n", " ", path.read_text())
        return "\n".join(re.findall(r"^RUN (.*)", joined, re.MULTILINE))
    return "\n".join(re.findall(r"^%(?:post|test|runscript)\n((?:    .*\n|\n)*)", path.read_text(), re.MULTILINE))


RECIPES = [*WORKFLOWS, ROOT / "Dockerfile", ROOT / "tools" / "packaging" / "farandole.def"]


class Recipes(unittest.TestCase):
    def test_workflows_have_jobs_whose_steps_do_one_thing_each(self):
        self.assertGreaterEqual(len(WORKFLOWS), 3)
        for path in WORKFLOWS:
            workflow = read(path)
            self.assertTrue(workflow.get("on", workflow.get(True)), path.name)  # YAML 1.1 reads the key "on" as true
            for name, job in workflow["jobs"].items():
                self.assertLessEqual(set([job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])),
                                     set(workflow["jobs"]), name)
                for step in job["steps"]:
                    self.assertEqual(("run" in step) + ("uses" in step), 1, f"{path.name}: {step}")
                    self.assertRegex(step.get("uses", "a/b@" + 40 * "0"), r"^[\w-]+/[\w-]+@[0-9a-f]{40}$")

    def test_they_may_read_and_nothing_else_and_write_where_a_tag_or_main_publishes(self):
        """A pull request runs a stranger's code: nothing that it starts may write."""
        for path in WORKFLOWS:
            workflow = read(path)
            self.assertEqual(workflow.get("permissions"), {"contents": "read"}, path.name)
            for name, job in workflow["jobs"].items():
                if "write" in job.get("permissions", {}).values():
                    self.assertRegex(job.get("if", ""), r"^(startsWith\(github.ref, 'refs/tags/v'\)|github.ref == 'refs/heads/main')$",
                                     f"{path.name}: {name}")

    def test_their_shell_lines_are_shell(self):
        for path in RECIPES:
            text = re.sub(r"\$\{\{.*?\}\}", "X", shell_of(path))
            self.assertTrue(text.strip(), path.name)
            self.assertEqual(subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False).stderr, "")
            if shutil.which("shellcheck"):
                finished = subprocess.run(["shellcheck", "--shell=bash", "--severity=warning", "-"], input=text, text=True,
                                          capture_output=True, check=False)
                self.assertEqual(finished.returncode, 0, finished.stdout)

    def test_what_they_start_copy_and_watch_is_in_the_repository(self):
        for path in RECIPES:
            for named in re.findall(r"(?<![\w./-])(?:tools|cmake)/[\w./-]+", shell_of(path)):
                self.assertTrue((ROOT / named).exists(), f"{path.name}: {named}")
        for path in WORKFLOWS:
            triggers = read(path).get("on", read(path).get(True))
            for pattern in (triggers.get("pull_request") or {}).get("paths", []):
                self.assertTrue(list(ROOT.glob(pattern.replace("**", "*"))), f"{path.name}: {pattern}")
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE):
            for named in line.split():
                self.assertTrue((ROOT / named).exists(), named)

    def test_presets_and_targets_that_they_build_exist(self):
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        cmake = "".join(path.read_text() for path in ROOT.glob("tools/**/CMakeLists.txt"))
        for path in RECIPES:
            for preset in re.findall(r"--preset (\w+)", shell_of(path)):
                self.assertIn(preset, presets, path.name)
            for target in re.findall(r"--target (\w+)", shell_of(path)):
                self.assertRegex(cmake, rf"(add_custom_target|add_executable)\({target}\b", path.name)

    def test_scenarios_that_they_run_are_installed(self):
        for path in RECIPES:
            for named in re.findall(r"/usr/share/farandole/(\S+\.json)", shell_of(path)):
                self.assertTrue((ROOT / named).exists(), f"{path.name}: {named}")


class IssueForms(unittest.TestCase):
    def test_have_a_name_a_description_and_fields_of_their_own_names(self):
        forms = [path for path in FORMS if path.name != "config.yml"]
        self.assertGreaterEqual(len(forms), 3)
        for path in forms:
            form = read(path)
            self.assertTrue(form["name"] and form["description"], path.name)
            names = [field["id"] for field in form["body"]]
            self.assertEqual(len(names), len(set(names)), path.name)
            for field in form["body"]:
                self.assertIn(field["type"], ("textarea", "input", "dropdown", "checkboxes"))
                self.assertTrue(field["attributes"]["label"])


class Citation(unittest.TestCase):
    def test_has_what_the_format_requires_and_the_version_of_the_program(self):
        citation = read(ROOT / "CITATION.cff")
        self.assertLessEqual({"cff-version", "message", "title", "authors", "version", "license"}, set(citation))
        self.assertEqual(str(citation["version"]), VERSION)
        if "date-released" in citation:
            datetime.date.fromisoformat(str(citation["date-released"]))
        self.assertIn("Apache License", (ROOT / "LICENSE").read_text())


class Notice(unittest.TestCase):
    def test_names_what_is_inside_and_is_installed_and_packed(self):
        notice = (ROOT / "NOTICE").read_text()
        for inside in ("D3", "CLI11", "valijson", "nlohmann", "Eigen", "Boost", "{fmt}", "libc++", "Emscripten"):
            self.assertIn(inside, notice)
        for licence in ("BSD-3-Clause", "BSD-2-Clause", "MIT", "MPL-2.0", "BSL-1.0", "ISC", "Apache License"):
            self.assertIn(licence, notice)
        self.assertRegex((ROOT / "cmake" / "FarandoleInstall.cmake").read_text(),
                         r"install\(FILES [^)]*\bNOTICE\b[^)]*COMPONENT program\)")
        self.assertIn('"NOTICE"', (ROOT / "tools" / "packaging" / "wheel.py").read_text())


class Schemas(unittest.TestCase):
    def test_each_has_an_identifier_of_its_own_with_the_version(self):
        minor = ".".join(VERSION.split(".")[:2])
        for path in SCHEMAS:
            self.assertEqual(json.loads(path.read_text())["$id"], f"urn:farandole:schema:{minor}:{path.name.split('.')[0]}")


if __name__ == "__main__":
    unittest.main()
