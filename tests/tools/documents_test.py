"""What READMEs and docs show of a command is what it prints, and what they count is there.

Commands that stand alone, indented, are run where they print a table or a text; the fenced blocks after them, up to the next
command, are their output. Of a line columns may be left out, of an output lines: "..." says so. What is quoted after a command
that makes a page is what the page says.
"""

import html
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

from python_support import PROGRAM, ROOT, SKIPPED, InAFolder

if not pathlib.Path(PROGRAM).is_file():
    print(f"skipped: {PROGRAM} is not built")
    sys.exit(SKIPPED)

# The history quotes what was printed once.
DOCUMENTS = [ROOT / name for name in ("README.md", "scenarios/README.md", "topologies/README.md")]
DOCUMENTS += [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "history.md"]
PRINTING = ("run", "network", "tune", "diagnose", "place", "cost", "compare", "show", "collective", "validate", "calibrate")
# Of these the output goes elsewhere, or what they read is the reader's own.
NOT_PRINTING = re.compile(r"--published|--timeline|--output|[<>|]|(?<![\w\x22])[A-Z]{4,}|my-|measured\.json|net\.json|own\.json|calibrated\.json|aws-p4d-on-demand --")


def commands_with_blocks(text):
    """Pairs of command lines that stand together and the blocks that show their output."""
    found, fence, block = [([], [])], None, []
    for line in text.replace("\\\n", " ").splitlines():
        if fence is not None:
            if line.startswith("```"):
                if fence == "":
                    found[-1][1].append(block)
                fence, block = None, []
            else:
                block.append(line)
        elif line.startswith("```"):
            fence = line[3:].strip()
        elif re.match(r"    (?:[a-z./]|\$ )\S* ", line):
            if found[-1][1]:
                found.append(([], []))
            found[-1][0].append(re.split(r"\s+#", line.strip())[0])
    return [(commands, blocks) for commands, blocks in found if blocks]


def files_shown(text):
    """The files of JSON that a document writes out, by their names."""
    blocks = re.findall(r"^```json\n(\{\n.*?^\})\n```$", text, re.MULTILINE | re.DOTALL)
    documents = [(block, json.loads(block)) for block in blocks]
    return {f"{document['name']}.json": block for block, document in documents if "name" in document}


def prints(command):
    words = command.split()
    return words[0] == "farandole" and words[1] in PRINTING and not NOT_PRINTING.search(command)


def traces(command):
    """Whether it makes what the next one reads."""
    return re.match(r"farandole run .* --timeline \S+\.trace$", command)


def is_within(shown, printed):
    """Whether the words of `shown` come in that order in `printed`."""
    words = iter(printed.split())
    return all(word in words for word in shown.replace("...", "").split())


class Shown(InAFolder):
    printed = {}

    def printed_by(self, command, files):
        """Asked once of what several documents show, unless it reads what another command has left."""
        is_known = not re.search(r"\.trace|--timeline|--output", command)
        key = re.sub(r" --(html|draw) \S+", "", command), *(text for name, text in sorted(files.items()) if name in command)
        if not is_known or key not in self.printed:
            self.printed[key] = self.print_by(command, files)
        return self.printed[key]

    def print_by(self, command, files):
        arguments = shlex.split(re.sub(r" --(html|draw) \S+", "", command))
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        for name in ("scenarios", "tests", "topologies", "models"):
            if not (self.folder / name).exists():
                os.symlink(ROOT / name, self.folder / name)
        finished = subprocess.run([PROGRAM, *arguments[1:]], cwd=self.folder, capture_output=True, text=True, check=False)
        return (finished.stdout + finished.stderr).splitlines()

    def test_every_table_and_number_is_what_its_command_prints(self):
        asked = 0
        for path in DOCUMENTS:
            text = path.read_text(encoding="utf-8")
            files = files_shown((ROOT / "docs" / "index.md").read_text(encoding="utf-8")) | files_shown(text)
            for commands, blocks in commands_with_blocks(text):
                printing = list(filter(prints, commands))
                if not printing:
                    continue
                for command in filter(traces, commands):
                    self.printed_by(command, files)
                asked += len(printing)
                printed = [line for command in printing for line in self.printed_by(command, files)]
                shown = [line for block in blocks for line in block if line.strip() not in ("", "...")]
                stale = [line for line in shown if not any(is_within(line, one) for one in printed)]
                with self.subTest(f"{path.relative_to(ROOT)}: {printing[0]}"):
                    self.assertEqual(stale, [])
        self.assertGreater(asked, 30)

    def test_what_is_quoted_of_a_page_is_what_the_page_says(self):
        quoted = 0
        for path in DOCUMENTS:
            text = path.read_text(encoding="utf-8")
            for command, quote in re.findall(r"^    farandole (run \S+) --html \S+\n\n((?:> .*\n)+)", text, re.MULTILINE):
                quoted += 1
                self.printed_by(f"farandole {command} --output out.txt --html=page.html", {})
                page = re.sub(r"<[^>]+>", " ", (self.folder / "page.html").read_text(encoding="utf-8"))
                said = " ".join(html.unescape(page).split())
                with self.subTest(f"{path.relative_to(ROOT)}: {command}"):
                    self.assertIn(" ".join(quote.replace("> ", " ").split()), said)
        self.assertGreater(quoted, 3)

    def test_the_frame_of_the_python_package_has_the_program_s_numbers(self):
        text = (ROOT / "tools" / "python" / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\d +(\S+) +(\d+) +([\d.]+) +([\d.]+)$", text, re.MULTILINE)
        axes = {"/workload/model": ["resnet101", "vgg16"], "/platform/ranks": [16, 512]}
        points = json.loads("\n".join(self.printed_by("farandole run scenarios/horovod-512-roce25.json --quiet --format json --set "
                                                      + shlex.quote("/sweep=" + json.dumps(axes)), {})))["points"]
        self.assertEqual(rows, [(p["model"], str(p["ranks"]), f"{p['samples_per_second']:.3f}", f"{p['scaling_efficiency']:.3f}")
                                for p in points])


class ForAgents(unittest.TestCase):
    def test_each_link_of_llms_txt_is_there_and_it_names_each_schema(self):
        text = (ROOT / "llms.txt").read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)]+)\)", text)
        self.assertGreater(len(links), 20)
        self.assertEqual([link for link in links if not (ROOT / link).exists()], [])
        for schema in (ROOT / "sim" / "config" / "schemas").glob("*.schema.json"):
            self.assertRegex(text, rf"\b{schema.name.split('.')[0]}\b")


class Counted(unittest.TestCase):
    def test_models_topologies_and_devices_are_as_many_as_there_are(self):
        there = {"models": "models", "topologies": "topologies", "devices": "topologies/devices"}
        said = dict((what, int(count)) for count, what in
                    re.findall(r"\b(\d+) (models|topologies|devices)\b(?=,| and| \(|;|\.)", (ROOT / "README.md").read_text()))
        for what, folder in there.items():
            self.assertEqual(said.get(what), len(list((ROOT / folder).glob("*.json"))), what)

    def test_the_range_of_the_host_rate_has_two_ends(self):
        ends = re.findall(r"^  host rate (\S+) GB/s", (ROOT / "docs" / "accuracy.md").read_text(), re.MULTILINE)
        self.assertEqual(len(set(ends)), 2)
        topology = json.loads((ROOT / "topologies" / "roce25-4xp100.json").read_text())
        self.assertEqual([f"{end} GB/s" for end in ends], topology["priors"]["/node/nic/host_rate"]["between"])


if __name__ == "__main__":
    unittest.main()
