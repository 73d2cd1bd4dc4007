"""What `cmake --install` and the Debian packages bring is complete and works where it lies, without the source tree."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from python_support import ROOT, SKIPPED, InAFolder

BUILD = pathlib.Path(os.environ.get("FARANDOLE_BUILD", ROOT / "build" / "release"))
ELSEWHERE = {name: value for name, value in os.environ.items() if name != "FARANDOLE_DATA"}
BUILDER = "A Builder <builder@localhost>"
PACKAGING = {**os.environ, "DEBFULLNAME": "A Builder", "DEBEMAIL": "builder@localhost"}
CONSUMER = pathlib.Path(os.environ.get("FARANDOLE_CONSUMER", ROOT / "tests" / "consumer"))

if not (BUILD / "CPackConfig.cmake").exists():
    print(f"skipped: {BUILD} is no build tree that can be installed")
    sys.exit(SKIPPED)


class Installed(InAFolder):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        self.succeed("cmake", "--install", BUILD, "--prefix", self.prefix)

    def succeed(self, *command):
        finished = subprocess.run([str(one) for one in command], cwd=self.folder, capture_output=True, text=True, check=False,
                                  env=ELSEWHERE)
        self.assertEqual(finished.returncode, 0, finished.stdout[-4000:] + finished.stderr[-4000:])
        return finished.stdout

    def data_of(self, program):
        return re.search(r"^data +(\S+) \((\d+) models", self.succeed(program, "doctor"), re.MULTILINE)[1]

    def test_the_program_finds_its_data_from_where_it_lies_also_through_a_link_and_when_it_was_moved(self):
        self.assertEqual(self.data_of(self.prefix / "bin" / "farandole"), str(self.prefix / "share" / "farandole"))
        (self.folder / "link").symlink_to(self.prefix / "bin" / "farandole")
        self.assertEqual(self.data_of(self.folder / "link"), str(self.prefix / "share" / "farandole"))
        moved = self.folder / "moved"
        self.prefix.rename(moved)
        self.assertEqual(self.data_of(moved / "bin" / "farandole"), str(moved / "share" / "farandole"))

    def test_a_module_whose_library_is_missing_is_said_to_be_so_and_nothing_else_suffers(self):
        modules = list(self.prefix.rglob("farandole_mpi.so"))
        if not modules:
            self.skipTest("built without MPI")
        modules[0].write_bytes(b"")  # as good as one that cannot be loaded
        doctor = self.succeed(self.prefix / "bin" / "farandole", "doctor")
        self.assertRegex(doctor, r"\nbackend mpi    not usable: .*farandole_mpi\.so.*; install an MPI")
        self.assertIn("\nstatus         ready\n", doctor)
        bench = subprocess.run([self.prefix / "bin" / "farandole", "bench"], capture_output=True, text=True, check=False, env=ELSEWHERE)
        self.assertEqual((bench.returncode, bench.stderr.count("\n")), (2, 1))

    def test_every_data_file_of_the_repository_is_there_and_passes_check(self):
        share = self.prefix / "share" / "farandole"
        for folder in ("models", "topologies", "scenarios", "sim/config/schemas"):
            files = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.json")}
            self.assertTrue(files)
            self.assertEqual({path.relative_to(share) for path in (share / folder).rglob("*.json")}, files)
        program = self.prefix / "bin" / "farandole"
        self.assertIn(f"\nschemas        {share}/sim/config/schemas\n", self.succeed(program, "doctor"))
        self.succeed(program, "check", share / "models" / "resnet50.json", share / "topologies" / "dgx-a100.json",
                     share / "scenarios" / "horovod-512-roce25.json")

    def test_every_command_has_its_man_page_and_every_option_is_completed_by_every_shell(self):
        program, share = self.prefix / "bin" / "farandole", self.prefix / "share"
        completions = [(share / path).read_text() for path in
                       ("bash-completion/completions/farandole", "fish/vendor_completions.d/farandole.fish",
                        "zsh/site-functions/_farandole")]
        commands = re.findall(r"^  ([a-z]+) +\S", self.succeed(program, "--help").split("Subcommands:")[1].split("\n\n")[0], re.MULTILINE)
        self.assertIn("run", commands)
        for command in commands:
            self.assertTrue((share / "man" / "man1" / f"farandole-{command}.1.gz").exists(), command)
            options = set(re.findall(r"^  (?:-\w,)?--([a-z0-9_-]+)", self.succeed(program, command, "--help"), re.MULTILINE))
            self.assertIn("help", options)
            for text in completions:
                self.assertIn(command, text)
                for option in options:
                    self.assertRegex(text, rf"(--|-l ){option}\b")
        bash = share / "bash-completion" / "completions" / "farandole"
        typed = 'source "$1"; COMP_WORDS=(farandole run x.json --fi); COMP_CWORD=3; _farandole; echo "${COMPREPLY[@]}"'
        self.assertEqual(self.succeed("bash", "-c", typed, "bash", bash), "--fidelity\n")
        typed = typed.replace("--fi)", '--fidelity "")').replace("COMP_CWORD=3", "COMP_CWORD=4")
        self.assertEqual(self.succeed("bash", "-c", typed, "bash", bash), "analytic flow message all\n")
        typed = (f'PATH={program.parent}:$PATH; source "$1"; COMP_WORDS=(farandole show topology dgx1); COMP_CWORD=3; _farandole; '
                 'echo "${COMPREPLY[@]}"')
        self.assertEqual(self.succeed("bash", "-c", typed, "bash", bash), "dgx1-p100 dgx1-v100\n")

    def path(self):
        return f"{self.prefix / 'bin'}:{os.environ['PATH']}"

    @unittest.skipUnless(shutil.which("fish"), "fish is not here")
    def test_fish_completes_commands_kinds_names_and_files(self):
        def completed(typed):
            script = self.prefix / "share" / "fish" / "vendor_completions.d" / "farandole.fish"
            finished = subprocess.run(["fish", "--no-config", "-c", f'source "{script}"; complete -C "{typed}"'], capture_output=True, text=True,
                                      check=True, cwd=self.folder, env={**ELSEWHERE, "PATH": self.path(), "HOME": str(self.folder)})
            self.assertEqual(finished.stderr, "", typed)
            return [line.split("\t")[0] for line in finished.stdout.splitlines()]
        self.write("mine.json", "{}")
        self.assertIn("validate", completed("farandole va"))
        self.assertEqual(completed("farandole show topology dgx1"), ["dgx1-p100", "dgx1-v100"])
        self.assertEqual(completed("farandole show off"), ["offer", "offers"])
        self.assertIn("roce25-4xp100", completed("farandole collective --topology roce"))
        self.assertEqual(completed("farandole run x.json --fidelity fl"), ["flow"])
        self.assertEqual(completed("farandole run mi"), ["mine.json"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not here")
    def test_zsh_completes_commands_kinds_names_and_files(self):
        self.write("mine.json", "{}")
        for typed, rest in [("va", "lidate "), ("show topology dgx1-p", "100 "), ("show --ranks 8 algorithm halving_d", "oubling "),
                            ("show strategy horo", "vod "), ("collective --topology roce25-4xp", "100 "), ("run x.json --fidelity fl", "ow "),
                            ("run mi", "ne.json ")]:
            whole = f"farandole {typed}{rest}"
            self.assertIn(whole, self.completed_by_zsh(f"farandole {typed}", whole))

    def completed_by_zsh(self, typed, whole):
        """What a terminal shows after `typed` and the tabulator, until `whole` is there; zsh completes on terminals alone. Until it
        reads its line, the terminal itself shows what is typed."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**ELSEWHERE, "PATH": self.path(), "TERM": "dumb", "PS1": "", "HOME": str(self.folder)})
        shown = ""

        def wait(is_done):
            nonlocal shown
            end = time.monotonic() + 60
            while not is_done() and time.monotonic() < end:
                if select.select([terminal], [], [], 0.2)[0]:
                    shown += os.read(terminal, 65536).decode(errors="replace")
        functions = self.prefix / "share" / "zsh" / "site-functions"
        os.write(terminal, f'PS1=; fpath=("{functions}" $fpath); autoload -U compinit; compinit -u -D; print REA""DY\n'.encode())
        wait(lambda: "READY" in shown)
        shown = ""
        os.write(terminal, f"{typed}\t".encode())
        wait(lambda: whole in shown)
        os.close(terminal)
        os.waitpid(process, 0)
        return shown

    @unittest.skipUnless(shutil.which("man"), "man is not here")
    def test_man_pages_are_set_without_a_warning(self):
        for page in sorted((self.prefix / "share" / "man" / "man1").glob("*.gz")):
            finished = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, check=False,
                                      env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "120", "MANPAGER": "cat"})
            self.assertEqual((finished.returncode, finished.stderr), (0, ""), page.name)
            self.assertIn("NAME", finished.stdout)

    def test_a_program_elsewhere_builds_on_it_and_gets_what_the_program_gets(self):
        self.succeed("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", "consumer", "-DCMAKE_BUILD_TYPE=Debug",
                     f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.succeed("cmake", "--build", "consumer")
        os.link(self.folder / "consumer" / "consumer", self.prefix / "bin" / "consumer")  # so that it finds the data
        ranks, rate = self.succeed(self.prefix / "bin" / "consumer").split()
        scenario = re.search(r'R"\((.*)\)"', (CONSUMER / "consumer.cpp").read_text(), re.DOTALL)[1]
        self.write("same.json", scenario)
        header, row = self.succeed(self.prefix / "bin" / "farandole", "run", "same.json", "--format", "csv", "--quiet").split("\n")[:2]
        point = dict(zip(header.split(","), row.split(",")))
        self.assertEqual((ranks, f"{float(rate):.4g}"), (point["ranks"], f"{float(point['samples_per_second']):.4g}"))


@unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "dpkg-deb or dpkg-shlibdeps is not here")
class DebianPackages(InAFolder):
    """Made once, and not compressed, which takes half a minute: what is in them is the same."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.packages = pathlib.Path(folder.name)
        finished = subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", cls.packages,
                                   "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none"],
                                  capture_output=True, text=True, check=False, env=PACKAGING)
        if finished.returncode != 0:
            raise AssertionError(finished.stdout[-4000:] + finished.stderr[-4000:])

    def field(self, package, name):
        file = next(self.packages.glob(f"{package}_*.deb"))
        return self.run_command("dpkg-deb", "-f", file, name).stdout.strip()

    def test_the_program_needs_no_package_that_it_can_do_without_and_names_those_it_can_use(self):
        needed = self.field("farandole", "Depends")
        for optional in ("mpi", "nccl", "nlopt", "simgrid", "graphviz", "python", "cuda"):
            self.assertNotIn(optional, needed)
        self.assertNotIn("mpi", self.field("farandole", "Recommends"))  # apt installs what is recommended
        self.assertIn("graphviz", self.field("farandole", "Suggests"))
        if (BUILD / "modules" / "farandole_nlopt.so").exists():
            self.assertIn("libnlopt0", self.field("farandole", "Recommends"))
        if (BUILD / "modules" / "farandole_simgrid.so").exists():
            self.assertIn("libsimgrid", self.field("farandole", "Recommends"))
        self.assertNotIn("simgrid", self.field("farandole-dev", "Depends"))

    def test_what_is_given_away_is_compressed(self):
        self.assertIn('set(CPACK_DEBIAN_COMPRESSION_TYPE "xz")', (BUILD / "CPackConfig.cmake").read_text())

    # Debian Policy 5.6.2: the name first, then the address inside angle brackets.
    def test_the_maintainer_is_who_builds_it_and_nobody_is_made_up(self):
        self.assertEqual(self.field("farandole", "Maintainer"), BUILDER)
        self.assertEqual(self.field("farandole-dev", "Maintainer"), BUILDER)
        self.assertIn('"Unofficial build of Farandole <root@localhost>"', (BUILD / "CPackConfig.cmake").read_text())

    def test_unpacked_it_runs_on_its_own_data(self):
        root = self.folder / "root"
        self.assertEqual(self.run_command("dpkg-deb", "-x", next(self.packages.glob("farandole_*.deb")), root).returncode, 0)
        program = root / "usr" / "bin" / "farandole"
        finished = subprocess.run([program, "run", root / "usr/share/farandole/scenarios/thetagpu-dgx-a100.json", "--quiet",
                                   "--format", "csv"], capture_output=True, text=True, check=False, env=ELSEWHERE)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertGreater(len(finished.stdout.splitlines()), 1)
        doctor = subprocess.run([program, "doctor"], capture_output=True, text=True, check=False, env=ELSEWHERE).stdout
        self.assertIn(str(root / "usr/share/farandole"), doctor)
        for module in (BUILD / "modules").glob("farandole_*.so"):
            self.assertEqual(len(list(root.rglob(module.name))), 1)

    def test_the_program_itself_is_linked_with_nothing_that_is_optional(self):
        if not shutil.which("readelf"):
            self.skipTest("readelf is not here")
        needed = self.run_command("readelf", "-d", BUILD / "farandole").stdout
        self.assertNotRegex(needed, "lib(mpi|nccl|cudart|nlopt|simgrid)")


if __name__ == "__main__":
    unittest.main()
