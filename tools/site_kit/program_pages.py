"""Pages made from what the program says of itself: its commands (--help) and its catalogues (show ... --format json)."""

import json
import pathlib
import re
import subprocess
import sys

from site_kit.markdown import cell, code, table
from site_kit.pages import Page, SiteError

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "packaging"))

from program_help import read_program

# A catalogue's title, and its columns: a heading and a key of the program's JSON.
CATALOGUES = {
    "models": ("Models", [("model", "name"), ("what it is", "summary"), ("parameters", "parameters"), ("tensors", "tensors"),
                          ("multiply-adds forward", "forward_macs")]),
    "topologies": ("Machines", [("topology", "name"), ("what it is", "summary"), ("kind", "kind"), ("nodes", "nodes"),
                                ("devices per node", "devices_per_node"), ("device", "device"), ("library", "library")]),
    "algorithms": ("Collective algorithms", [("operation", "op"), ("algorithm", "name"), ("what it does", "summary")]),
    "strategies": ("Strategies", [("strategy", "name"), ("what it does", "summary")]),
    "offers": ("Price models", [("offer", "name"), ("what it is", "summary"), ("kind", "kind"), ("date", "date"),
                                ("cost of a node hour", "cost_per_node_hour"), ("currency", "currency")]),
}
AFTER = {
    "models": "`farandole show model NAME` lists a model's layers; `\"model\"` in a scenario may be a file of your own, too.",
    "topologies": "`farandole show topology NAME` shows one, `--format svg` draws it; `\"topology\"` may be a file of your own, too.",
    "algorithms": "`farandole show algorithm NAME --op OPERATION --ranks 4` goes through one step by step.",
    "strategies": "Each `\"kind\"` takes the settings below.",
    "offers": "`farandole show offer NAME` lists prices and power with their sources. The cost is of one node with all devices busy.",
}


def _ask(program, *arguments):
    finished = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise SiteError(f"farandole {' '.join(arguments)} failed: {' '.join(finished.stderr.split())}")
    return finished.stdout


def _value(value):
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else cell(value)


def _catalogue(program, kind):
    title, columns = CATALOGUES[kind]
    entries = json.loads(_ask(program, "show", kind, "--format", "json"))[kind]
    rows = [[f"`{entry['name']}`" if key == "name" else _value(entry.get(key, "")) for _, key in columns] for entry in entries]
    text = f"# {title}\n\n{AFTER[kind]}\n\n" + table([heading for heading, _ in columns], rows)
    if kind == "strategies":
        for entry in entries:
            anchor = entry["name"].replace("_", "-")
            text += f"\n## `{entry['name']}` {{#{anchor}}}\n\n" + code(_ask(program, "show", "strategy", entry["name"]))
    return Page(f"reference/catalogues/{kind}.md", title, text)


def catalogue_pages(program):
    return [_catalogue(program, kind) for kind in CATALOGUES]


def _option_row(option):
    names = ", ".join(f"`{name}`" for name in option.names)
    value = f" `{option.metavar}`" if option.metavar else ""
    notes = [f"default `{option.default}`"] if option.default else []
    notes += [re.sub(r"(--[\w-]+)", r"`\1`", option.notes)] if option.notes else []
    return [names + value, cell("; ".join([option.description, *notes]))]


def _command(command):
    name = f"farandole {command.name}".strip()
    text = f"# {name}\n\n{cell(command.summary)}\n\n" + code(command.usage)
    for heading, options in [("Arguments", command.positionals), ("Options", command.options)]:
        if options:
            text += f"\n## {heading}\n\n" + table(["", "what it is"], map(_option_row, options))
    if command.examples:
        text += "\n## Examples\n\n" + code(command.examples)
    return Page(f"reference/commands/{command.name}.md", name, text)


def command_pages(program):
    try:
        whole, commands = read_program(program)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise SiteError(f"{program}: --json-help cannot be read: {error}") from error
    rows = [[f"[`{command.name}`](reference/commands/{command.name}.md)", cell(command.summary)] for command in commands]
    text = f"# Commands\n\n{cell(whole.summary)}\n\n" + table(["command", "what it does"], rows) + "\n" + code(whole.examples)
    return [Page("reference/commands/index.md", "Commands", text), *map(_command, commands)]
