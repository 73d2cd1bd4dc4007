"""What `farandole --help` and `farandole COMMAND --help` say, as values: documents.py makes man pages and completion of it."""

import dataclasses
import re
import subprocess

# Metavariables whose values the description lists: "table, json or csv".
WITH_CHOICES = {"FORMAT", "LEVEL", "KIND"}


@dataclasses.dataclass
class Option:
    """An option, or a positional argument, which has no dashes."""

    names: list
    metavar: str  # empty: a flag
    default: str
    notes: str  # Excludes: ..., Needs: ..., as printed
    description: str

    @property
    def choices(self):
        if self.metavar not in WITH_CHOICES:
            return []
        words = re.sub(r"\s*\((?:[^()]|\([^()]*\))*\)|\s+of\s[^;]*", "", self.description)
        return [part for part in re.split(r"[;,]\s*|\s+or\s+", words) if re.fullmatch(r"[a-z_]+", part)]


@dataclasses.dataclass
class Command:
    name: str
    summary: str
    usage: str
    positionals: list
    options: list
    examples: str  # all that follows the options


def _text(program, *arguments):
    return subprocess.run([program, *arguments, "--help"], capture_output=True, text=True, check=True).stdout


# NAMES [VALUE[:TYPE][=DEFAULT]] [...] [REQUIRED] [NOTES]; a value and its default may be of several words.
HEAD = re.compile(r"(\S+)(?: (?!REQUIRED|Excludes:|Needs:|Env:)(.*?))?(?: \.\.\.)?(?: REQUIRED)?(?: ((?:Excludes|Needs|Env):.*))?")


def read_option(head, description):
    names, value, notes = HEAD.fullmatch(" ".join(head.split())).groups(default="")
    default = ""
    if not value.startswith("/"):  # "/POINTER=VALUE" is no default
        value, _, default = value.partition("=")
        value = value.split(":")[0]
    return Option(names.split(","), value, default, notes, " ".join(description.split()))


def _options(lines):
    """A line that is indented by two begins an option; further in goes on with the one before."""
    heads = []
    for line in lines:
        if re.match(r"  \S", line):
            head, _, description = line[2:].partition("  ")
            heads.append([head, description])
        elif heads:
            heads[-1][1] += " " + line
    return [read_option(head, description) for head, description in heads]


def _sections(text):
    """The lines under each of the headings that CLI11 writes; the rest under "" (before) and "more" (after)."""
    sections, now = {"": []}, ""
    for line in text.splitlines():
        heading = re.fullmatch(r"(Positionals|Options|Subcommands):", line)
        if heading:
            now = heading[1]
        elif line and not line.startswith(" ") and now not in ("", "more"):
            now = "more"
        sections.setdefault(now, [])
        if not heading:
            sections[now].append(line)
    return sections


def read_command(program, *arguments):
    sections = _sections(_text(program, *arguments))
    before = sections[""]
    usage = next(line for line in before if line.startswith("Usage: "))
    return Command(" ".join(arguments), " ".join(before[:before.index(usage)]).strip(), usage.removeprefix("Usage: "),
                   _options(line for line in sections.get("Positionals", []) if line.strip()),
                   _options(line for line in sections.get("Options", []) if line.strip()),
                   "\n".join(sections.get("more", [])).strip())


def read_program(program):
    """The program itself, and its commands."""
    whole = read_command(program)
    names = [option.names[0] for option in _options(_sections(_text(program)).get("Subcommands", []))]
    return whole, [read_command(program, name) for name in names]
