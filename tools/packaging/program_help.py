"""What `farandole --json-help` says, as values: documents.py makes man pages and completion of it."""

import dataclasses
import json
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
    notes: str  # Excludes: ..., Needs: ...
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


def _option(told):
    notes = [f"{word}: {' '.join(told[key])}" for key, word in (("excludes", "Excludes"), ("needs", "Needs")) if told[key]]
    return Option(told["names"], told["value"] or "", told["default"] or "", " ".join(notes), told["description"])


def _command(told, name):
    return Command(name, told["summary"], told["usage"], [_option(one) for one in told["positionals"]],
                   [_option(one) for one in told["options"]], told["more"].strip())


def read_program(program):
    """The program itself, and its commands."""
    finished = subprocess.run([program, "--json-help"], capture_output=True, text=True, check=True)
    told = json.loads(finished.stdout)
    return _command(told, ""), [_command(one, one["name"]) for one in told["commands"]]
