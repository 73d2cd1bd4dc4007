"""tools/setup, tools/quickstart, tools/test and .ci/run as one starts them: in a copy, where nothing can be installed or built."""

import os
import pty
import re
import shutil
import subprocess
import unittest

from python_support import ROOT, InAFolder

STARTED = ["tools/setup", "tools/quickstart", "tools/test", "tools/walkthroughs", "tools/screenshots", "tools/lint", ".ci/run"]
SHARED = ["tools/options.sh", "tools/stages.sh", "tools/build_costs", "tools/skipped_tests.py", "scenarios/horovod-512-roce25.json"]

# Each writes down how it was called. sudo only hands on.
STAND_INS = {
    "apt-get": '[[ " $* " != *" $UNKNOWN "* ]] || exit 100\n[[ " $* " != *" install "* ]] || touch "${@: -1}"',
    "sudo": 'shift\n[[ $1 == true ]] || "$@"',
    "git": "true",
    "cmake": 'if [[ $1 == --build ]]; then printf "%s\\n" "[1/4] one" "[2/4] two" "a warning" "[3/4] three" "[4/4] four"; fi',
    "ctest": 'if [[ $1 == --help ]]; then echo "  -R <regex>, --tests-regex <regex>   = Run"; fi',
    "../tools/explore/build": "[[ $1 != --check ]]",  # there is none of these sources
}


class Scripts(InAFolder):
    def setUp(self):
        super().setUp()
        for name in STARTED + SHARED:
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        (self.folder / "bin").mkdir()
        (self.folder / "tools" / "explore").mkdir()
        for name, does in STAND_INS.items():
            stand_in = self.folder / "bin" / name
            stand_in.write_text(f'#!/usr/bin/env bash\n[[ $1 == --help ]] || echo "{name} $*" >>"{self.folder}/calls"\n{does}\n')
            stand_in.chmod(0o755)
        outside = {name: value for name, value in os.environ.items() if not name.startswith("FARANDOLE_")}  # .ci/run sets some
        self.environment = outside | {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "UNKNOWN": "nothing"}

    def start(self, *command, standing_in=".", **settings):
        return subprocess.run(command, cwd=self.folder / standing_in, capture_output=True, text=True, check=False, timeout=60,
                              env=self.environment | settings)

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def needs(self, *rows):
        """What the copy of tools/setup looks for."""
        script = self.folder / "tools" / "setup"
        script.write_text(re.sub(r"<<'END'\n.*?END\n", "<<'END'\n" + "".join(row + "\n" for row in rows) + "END\n",
                                 script.read_text(), flags=re.DOTALL))

    def test_help_is_printed_and_nothing_else_is_done(self):
        before = sorted(self.folder.rglob("*"))
        for script in STARTED:
            for option in ("--help", "-h"):
                with self.subTest(f"{script} {option}"):
                    finished = self.start(script, option)
                    self.assertEqual((finished.returncode, finished.stderr), (0, ""))
                    self.assertIn(f"usage: {script}", finished.stdout)
                    self.assertNotIn("set -euo", finished.stdout)
                    self.assertEqual((self.calls(), sorted(self.folder.rglob("*"))), ([], before))
                    self.assertEqual(self.start(f"../{script}", option, standing_in="bin").stdout, finished.stdout)

    def test_what_a_script_does_not_know_is_refused_in_one_line(self):
        for script, *arguments in [("tools/setup", "--colour"), ("tools/setup", "spam"), ("tools/setup", "build", "test"),
                                   ("tools/quickstart", "--colour"), ("tools/quickstart", "none.json"),
                                   ("tools/quickstart", "tools"), ("tools/quickstart", "a.json", "b.json"),
                                   ("tools/test", "--colour"), ("tools/test", "units"), ("tools/test", "-R", "x", "--al"),
                                   ("tools/walkthroughs", "all"), ("tools/screenshots", "none"), (".ci/run", "--colour"), (".ci/run", "all")]:
            with self.subTest(f"{script} {arguments}"):
                finished = self.start(script, *arguments)
                self.assert_refused(finished, f"{script}: expected ")
                self.assertIn(arguments[-1], finished.stderr)
                self.assertEqual(self.calls(), [])

    def test_a_scenario_is_looked_for_before_anything_is_built_from_wherever_one_stands(self):
        self.needs()
        (self.folder / "results").mkdir()
        (self.folder / "results" / "own.json").write_text("{}")
        finished = self.start("../tools/quickstart", "own.json", standing_in="results")
        self.assertEqual(finished.returncode, 1)  # nothing was built, so nothing can be run
        self.assertIn("build/release/farandole: No such file", finished.stderr)

    def test_options_of_ctest_are_handed_on_to_it(self):
        self.needs()
        self.assertEqual(self.start("tools/test", "-R", "^units/").returncode, 0)
        self.assertRegex(self.calls()[-1], "^ctest .*-R \\^units/$")

    def test_long_checks_are_asked_for(self):
        self.needs()
        for options, left_out in [([], "(gate|slow)$"), (["--gate"], "slow$"), (["--all"], None)]:
            self.assertEqual(self.start("tools/test", *options).returncode, 0)
            words = self.calls()[-1].split()
            self.assertEqual(words[words.index("--label-exclude") + 1] if "--label-exclude" in words else None, left_out)
            self.assertEqual(words[words.index("--repeat") + 1], "until-pass:1")

    def test_a_test_that_failed_before_it_passed_is_named(self):
        (self.folder / "log").write_text(" 1/2 Test   #7: units/Seconds.Add ......***Failed    0.10 sec\n"
                                         "    Test   #8: engine/Queue.Ends ......***Exception: SegFault  0.10 sec\n"
                                         "    Test   #7: units/Seconds.Add ......   Passed    0.10 sec\n")
        finished = self.start("bash", "-c", "source tools/stages.sh; name_unsteady log")
        self.assertEqual(finished.stdout, "failed, then passed: engine/Queue.Ends\nfailed, then passed: units/Seconds.Add\n")

    def test_what_lands_is_tested_optimised_then_under_sanitizers(self):
        self.needs()
        finished = self.start(".ci/run")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        modules = [call for call in self.calls() if "explore" in call]
        self.assertEqual(modules[0], "../tools/explore/build --check")
        self.assertRegex(modules[1], r"^\.\./tools/explore/build (--trixie build/trixie)?$")
        calls = [call for call in self.calls() if re.search("^(cmake --preset|cmake --build|ctest)", call)]
        presets = [found[1] for call in calls if (found := re.search("(?:--preset |build/)([a-z]+)", call))]
        self.assertEqual(presets, ["release"] * 3 + ["asan"] * 3)
        build, test = calls[4:6]
        rooms = re.findall("test_([a-z]+)", build)
        self.assertIn("|".join(rooms), test)  # what is built is what is tested
        self.assertIn("until-pass:2", test)
        self.assertTrue(set(rooms) < {folder.name for folder in (ROOT / "tests").iterdir()})

    def test_a_build_says_now_and_then_how_far_it_is_and_keeps_its_whole_log(self):
        self.needs()
        finished = self.start("tools/test", FARANDOLE_PROGRESS_SECONDS="0")
        self.assertRegex(finished.stdout, r"build +\[2/4\] \d+ s elapsed, \d+ to \d+ s left \(build/logs/build\.log\)\n")
        self.assertNotIn("[2/4]", self.start("tools/test", FARANDOLE_PROGRESS_SECONDS="1000").stdout)
        self.assertEqual((self.folder / "build/logs/build.log").read_text(),
                         "[planned]\n[1/4] one\n[2/4] two\na warning\n[3/4] three\n[4/4] four\n")

    def test_on_a_terminal_a_build_says_so_in_place(self):
        self.needs()
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal is available here: {error}")
        finished = subprocess.run(["tools/test"], cwd=self.folder, stdout=theirs, stderr=theirs, check=False, env=self.environment)
        os.close(theirs)
        printed = os.read(ours, 100_000).decode()
        os.close(ours)
        self.assertEqual(finished.returncode, 0)
        self.assertRegex(printed, r"\rbuild +\[2/4\] \d+ s elapsed, \d+ to \d+ s left")
        self.assertRegex(printed, r"\rbuild +\d+ s\r\n")
        self.assertEqual([line for line in printed.split("\r\n") if re.search(r"\[\d/4\][^\r]*$", line)], [])

    def test_what_remains_of_a_build_is_a_range_beside_what_has_passed(self):
        for done, elapsed, text in [(10, 60, "1 min elapsed, 6 to 12 min left"), (50, 60, "60 s elapsed, 45 to 80 s left"),
                                    (100, 60, "60 s elapsed, 0 to 0 s left")]:
            with self.subTest(done):
                finished = self.start("bash", "-c", f"source tools/stages.sh; time_left {done} 100 {elapsed}")
                self.assertEqual(finished.stdout, text)
        self.assertEqual(self.start("bash", "-c", "source tools/stages.sh; time_left 1 100 60").stdout, "")

    def test_what_remains_is_counted_by_what_objects_cost_and_not_by_their_number(self):
        (self.folder / "tools" / "build_costs").write_text("farandole_dear 30\nfarandole_cheap 2\n")
        plan = [f"Building CXX object sim/{room}/CMakeFiles/farandole_{room}.dir/{room}_0.cpp.o" for room in ["cheap", "dear"]]
        lines = [f"[{number + 1}/3] {text}" for number, text in enumerate(plan + ["Linking farandole"])]
        text = "\n".join(lines + ["[planned]"] + lines)
        finished = self.start("bash", "-c", "source tools/stages.sh; time_left() { echo $1 of $2; }; show_progress build log <<<\"$PLAN\"",
                              PLAN=text, FARANDOLE_PROGRESS_SECONDS="0")
        self.assertEqual(re.findall(r"\d+ of \d+", finished.stdout), ["2 of 33", "32 of 33", "33 of 33"], finished.stderr)

    def test_a_build_that_fails_shows_the_end_of_its_log(self):
        self.needs()
        (self.folder / "bin" / "cmake").write_text('#!/usr/bin/env bash\necho "[1/4] one"\necho "error: two"\nexit 1\n')
        finished = self.start("tools/quickstart")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("configure failed", finished.stderr)
        self.assertIn("error: two", finished.stderr)

    def test_what_is_only_wished_for_and_cannot_be_had_is_named_and_keeps_nothing_else_away(self):
        self.needs("build here command:bash", "optional one file:one", "browser two file:two", "python three file:three")
        finished = self.start("tools/setup", "all", UNKNOWN="two")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("Done without two:", finished.stderr)
        self.assertTrue((self.folder / "one").exists() and (self.folder / "three").exists())
        self.assertEqual(self.start("tools/setup", "all", UNKNOWN="two").stdout, "Installing two (wished for, not needed)\n")

    def test_what_is_needed_and_cannot_be_had_is_an_error(self):
        self.needs("build here command:bash", "browser two file:two")
        finished = self.start("tools/setup", "browser", UNKNOWN="two")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("apt-get install --no-install-recommends two\n", finished.stderr)
        self.assertEqual(self.start("tools/setup", "browser").returncode, 0)


RESULTS = """<?xml version="1.0"?><testsuite>
<testcase name="a/Fine" status="run"><system-out>skipped: this only says so</system-out></testcase>
<testcase name="b/Bench" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>[ RUN      ] Bench
bench_test.cpp:28: Skipped
mpirun is not installed; tools/setup optional installs it

[  SKIPPED ] Bench</system-out></testcase>
<testcase name="b/Others" status="notrun"><skipped message=""/><system-out>bench_test.cpp:30: Skipped
mpirun is not installed; tools/setup optional installs it
</system-out></testcase>
<testcase name="c/Root" status="notrun"><skipped message=""/><system-out>file_test.cpp:58: Skipped
root may read everything
</system-out></testcase>%s</testsuite>"""

PAGES = """<testcase name="d/pages" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>skipped: no Chromium; tools/setup browser installs it</system-out></testcase>"""


class SkippedTests(InAFolder):
    def summary(self, results):
        self.write("results.xml", results)
        finished = self.tool("skipped_tests.py", "results.xml")
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        return finished.stdout

    def test_are_named_by_reason_with_the_one_command_that_installs_what_they_need(self):
        self.assertEqual(self.summary(RESULTS % ""), "\nSkipped: 3 of 4 tests\n"
                         "  mpirun is not installed\n    b/Bench\n    b/Others\n"
                         "  root may read everything\n    c/Root\n"
                         "tools/setup optional installs what they need; then tools/test runs them.\n")
        self.assertTrue(self.summary(RESULTS % PAGES).endswith("tools/setup all installs what they need; then tools/test runs them.\n"))

    def test_are_failures_where_their_reason_is_not_on_the_list(self):
        self.write("results.xml", RESULTS % PAGES)
        self.write("allowed.txt", "# why | what\nroot is root | root may read .*\nnone | mpirun is not installed; .*\n")
        finished = self.tool("skipped_tests.py", "results.xml", "allowed.txt")
        self.assertEqual(finished.returncode, 1)
        self.assertTrue(finished.stdout.endswith("\nnot to be skipped here (allowed.txt): no Chromium; tools/setup browser installs it\n"))
        self.write("results.xml", RESULTS % "")
        self.assertEqual(self.tool("skipped_tests.py", "results.xml", "allowed.txt").returncode, 0)

    def test_are_not_mentioned_where_there_are_none(self):
        self.assertEqual(self.summary('<testsuite><testcase name="a" status="run"/></testsuite>'), "")

    def test_are_followed_by_the_ends_of_what_failed(self):
        said = "\n".join(f"line {number}" for number in range(100))
        failed = f'<testcase name="e/Fails" status="fail"><failure message="Failed"/><system-out>{said}\n</system-out></testcase>'
        shown = self.summary(RESULTS % failed)
        self.assertIn("\ntools/setup optional installs", shown)
        self.assertTrue(shown.endswith("\n\ne/Fails failed; the end of what it said:\n" + said[said.index("line 60"):] + "\n"))

    def test_for_which_nothing_can_be_installed_are_said_to_be_so(self):
        results = RESULTS.replace("; tools/setup optional installs it", "") % ""
        self.assertIn("\nNothing that could be installed lets them run here.\n", self.summary(results))


if __name__ == "__main__":
    unittest.main()
