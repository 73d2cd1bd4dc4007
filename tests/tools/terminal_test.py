"""On a terminal headings are bold and settings faint; into a pipe or with NO_COLOR there is text alone, the same text.

There `farandole new` asks, and asks again what it cannot take.
"""

import os
import pty
import re
import subprocess
import unittest

from python_support import PROGRAM, ROOT, InAFolder

COMMAND = [PROGRAM, "run", str(ROOT / "scenarios" / "one-node-resnet50.json"), "--fidelity", "analytic", "--quiet"]
ESCAPE = re.compile(r"\x1b\[\d+m")


class Terminal(InAFolder):
    def on_a_terminal(self, **settings):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal is available here: {error}")
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | settings
        process = subprocess.Popen(COMMAND, stdout=theirs, stderr=subprocess.PIPE, cwd=self.folder, env=environment)
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 65536):
                printed += part
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        process.stderr.close()
        return printed.decode().replace("\r\n", "\n")

    def test_tables_have_bold_headings_on_a_terminal_only(self):
        printed, piped = self.on_a_terminal(), self.farandole(*COMMAND[1:])
        self.assertRegex(printed, r"\n\x1b\[1mmodel .*\x1b\[0m\n")
        self.assertRegex(printed, r"^\x1b\[2m# farandole .*\x1b\[0m\n")
        self.assertNotIn("\x1b", piped)
        self.assertEqual(ESCAPE.sub("", printed), piped)

    def test_no_color_and_dumb_terminals_get_text_alone(self):
        piped = self.farandole(*COMMAND[1:])
        self.assertEqual(self.on_a_terminal(NO_COLOR="1"), piped)
        self.assertEqual(self.on_a_terminal(TERM="dumb"), piped)
        self.assertEqual(self.on_a_terminal(OMPI_COMM_WORLD_SIZE="1"), piped)  # mpirun holds a terminal to its processes
        self.assertNotEqual(self.on_a_terminal(NO_COLOR=""), piped)  # an empty value says nothing, as no-color.org has it

    def answered(self, answers):
        """What `new` says where these lines are typed, and its exit status."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal is available here: {error}")
        os.write(ours, answers.encode())
        process = subprocess.Popen([PROGRAM, "new", "mine.json"], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, cwd=self.folder)
        os.close(theirs)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
            os.close(ours)
        return out.decode(), process.returncode

    def test_new_takes_empty_answers_for_the_usual(self):
        self.assertEqual(self.answered("resnet50\ndgx-a100\n\n\n\n"),
                         ("mine.json: resnet50 on dgx-a100, 1, 8, 16, 32, 64, 128 ranks, ddp in bf16, 64 samples a rank\n"
                          "Next: farandole run mine.json --explain\n", 0))

    def test_new_asks_again_what_it_cannot_take(self):
        out, status = self.answered("\nresnet5\nresnet50\ndgx-a100\n0\n8\nmany\n32\ndpd\nddp\n")
        self.assertEqual((out.split("\n")[0], status),
                         ("mine.json: resnet50 on dgx-a100, 8 ranks, ddp in bf16, 32 samples a rank", 0))


if __name__ == "__main__":
    unittest.main()
