#!/usr/bin/env python3
"""Breaks one statement of a room at a time and asks whether the room's own tests notice.

A mutant is one changed place of one .cpp of sim/ROOM: a comparison, a sign, a minimum for a maximum, a constant by one,
a condition turned round, a statement left out. It is built, test_ROOM runs without its Slow suites, and the file is
restored; until then the line ends with a comment that a test of the house refuses, so that no mutant is committed.

Killed: a test failed, crashed, or ran much longer than without. Survived: a test is missing, or the mutant means the
same; tests/mutation/survivors.txt says which of those are judged to. Ends with status 1 below --least.

The room's tests are timed once: the quick ones run first, and what they leave alive the slow ones try (with --quick-only they do not,
and the score is a lower bound).
"""

import argparse
import collections
import json
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = "  // a mutant"
JUDGED = pathlib.Path(__file__).with_name("survivors.txt")
Mutant = collections.namedtuple("Mutant", "file line operator before after")

# What is replaced, by what. Spaces tell operators from templates, references and streams, as clang-format sets them.
REPLACEMENTS = [
    ("comparison", r" < ", " <= "),
    ("comparison", r" <= ", " < "),
    ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "),
    ("equality", r" == ", " != "),
    ("equality", r" != ", " == "),
    ("sign", r"(?<![<>=(,{]) \+ ", " - "),
    ("sign", r"(?<=[\w)\]]) - ", " + "),
    ("factor", r"(?<=[\w)\]]) \* ", " / "),
    ("factor", r"(?<=[\w)\]]) / ", " * "),
    ("remainder", r" % ", " / "),
    ("sum", r" \+= ", " -= "),
    ("sum", r" -= ", " += "),
    ("logic", r" && ", " || "),
    ("logic", r" \|\| ", " && "),
    ("extreme", r"\bmin\(", "max("),
    ("extreme", r"\bmax\(", "min("),
    ("negation", r"(?<=[( ])!(?=[\w(])", ""),
    ("truth", r"\btrue\b", "false"),
    ("truth", r"\bfalse\b", "true"),
]
CONSTANT = re.compile(r"(?<![\w.\"'])(\d{1,7})(?![\w.\"'])")
STATEMENT = re.compile(r"^ +(?!return|throw|using|const |auto |static|break|continue|else|if|for|while|case|struct|class)[a-z_*][^=;]*(\(.*\)|[-+*/]?= .*|\+\+|--);$")
DECLARATION = re.compile(r"^ +[\w:<>,&* ]+ [\w]+(\{.*\}|\(.*\)| = .*)?;$")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room")
    parser.add_argument("--sample", type=int, default=15, help="so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a configured build folder")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--least", type=float, default=85, help="percent that must be killed")
    parser.add_argument("--quick", type=float, default=1, help="seconds up to which a test is a quick one")
    parser.add_argument("--quick-only", action="store_true", help="leave the slow ones out")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    return parser.parse_args()


def code_of(line):
    """Without literals and comments, which keep their width."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda text: '"' + "_" * (len(text[0]) - 2) + '"', line)
    return re.sub(r"//.*", "", line)


def changes_of(line, begins_a_statement):
    code = code_of(line).rstrip()
    if not code.startswith(" ") or "static_assert" in code or ".reserve(" in code:  # how much is reserved changes no result
        return
    for operator, pattern, after in REPLACEMENTS:
        for match in re.finditer(pattern, code):
            yield operator, line[: match.start()] + after + line[match.end() :]
    for match in CONSTANT.finditer(code):
        yield "constant", line[: match.start()] + str(int(match[1]) + 1) + line[match.end() :]
    if begins_a_statement and STATEMENT.match(code) and not DECLARATION.match(code):
        yield "statement", re.match(r" *", line)[0] + ";"


def mutants(room, only):
    for file in sorted((ROOT / "sim" / room).rglob("*.cpp")):
        if only not in str(file):
            continue
        lines = file.read_text().split("\n")
        is_raw = False
        for number, line in enumerate(lines):
            is_raw = (is_raw or 'R"(' in line) and ')"' not in line
            if is_raw:
                continue
            begins_a_statement = number > 0 and code_of(lines[number - 1]).rstrip().endswith((";", "{", "}", ":", ")"))
            for operator, after in changes_of(line, begins_a_statement):
                yield Mutant(file.relative_to(ROOT), number, operator, line, after)


def build(folder, room):
    return subprocess.run(["ninja", "-C", folder, f"test_{room}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a loop without end


def run_tests(arguments, chosen, limit, *options):
    """Whether those that the filter chooses pass."""
    command = [arguments.build / f"tests/test_{arguments.room}", f"--gtest_filter={chosen}", *options]
    try:
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit, check=False, preexec_fn=limit_memory).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def seconds_of_tests(arguments):
    """By name; None where one fails."""
    with tempfile.TemporaryDirectory() as folder:
        if not run_tests(arguments, "-Slow*", None, f"--gtest_output=json:{folder}/times.json"):
            return None
        suites = json.loads(pathlib.Path(folder, "times.json").read_text())["testsuites"]
        return {f"{test['classname']}.{test['name']}": float(test["time"].rstrip("s")) for suite in suites for test in suite["testsuite"]}


class RoomTests:
    """The tests of a room in two parts, each with the seconds after which it hangs."""

    def __init__(self, arguments, seconds):
        slow = [name for name, spent in seconds.items() if spent > arguments.quick]
        quick = sum(spent for spent in seconds.values() if spent <= arguments.quick)
        self.arguments, self.parts = arguments, [(":".join(["-Slow*", *slow]), 20 + 5 * quick)]
        if slow and not arguments.quick_only:
            self.parts.append((":".join(slow), 20 + 5 * (sum(seconds.values()) - quick)))
        self.is_whole = not slow or not arguments.quick_only
        print(f"{len(seconds) - len(slow)} quick tests of {quick:.0f} s, {len(slow)} slow ones of {sum(seconds.values()) - quick:.0f} s", flush=True)

    def pass_all(self):
        return all(run_tests(self.arguments, chosen, limit, "--gtest_fail_fast") for chosen, limit in self.parts)


class Changed:
    """A file with one line changed, for as long as the block lasts, whatever ends it."""

    def __init__(self, mutant):
        self.file, self.mutant = ROOT / mutant.file, mutant

    def __enter__(self):
        self.text = self.file.read_text()
        lines = self.text.split("\n")
        lines[self.mutant.line] = self.mutant.after + MARK
        self.file.write_text("\n".join(lines))

    def __exit__(self, *_):
        self.file.write_text(self.text)


def fate(mutant, arguments, tests):
    with Changed(mutant):
        if not build(arguments.build, arguments.room):
            return "not built"
        return "survived" if tests.pass_all() else "killed"


def key_of(mutant):
    return f"{mutant.file}: {mutant.before.strip()} -> {mutant.after.strip()}"


def judged():
    """Mutants that mean the same, a line each: FILE: BEFORE -> AFTER, and why on the line before."""
    return {line.strip() for line in JUDGED.read_text().splitlines()} if JUDGED.exists() else set()


def try_all(drawn, arguments, tests):
    fates = collections.Counter()
    for mutant in drawn:
        end = fate(mutant, arguments, tests)
        if end == "survived" and key_of(mutant) in judged():
            end = "means the same"
        fates[end] += 1
        print(f"{end:<14} {mutant.file}:{mutant.line + 1}: {mutant.operator}: {mutant.before.strip()}  ->  {mutant.after.strip()}", flush=True)
    return fates


def main():
    arguments = parse_arguments()
    every = list(mutants(arguments.room, arguments.only))
    drawn = random.Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
    if arguments.list:
        for mutant in every:
            print(f"{mutant.line + 1}: {key_of(mutant)}")
        print(f"{len(every)} in all")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the file is restored
    seconds = seconds_of_tests(arguments) if build(arguments.build, arguments.room) else None
    if not seconds:
        sys.exit(f"test_{arguments.room} fails without any change")
    tests = RoomTests(arguments, seconds)
    fates = try_all(drawn, arguments, tests)
    build(arguments.build, arguments.room)
    counted = fates["killed"] + fates["survived"]
    score = 100 * fates["killed"] / counted if counted else 100
    bound = "" if tests.is_whole else "at least "
    print(f"{arguments.room}: {bound}{fates['killed']} of {counted} killed, {score:.0f} % ({fates['means the same']} mean the same, {fates['not built']} not built)")
    return 0 if score >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
