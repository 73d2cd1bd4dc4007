"""The C++ interface: headers of sim/ that others than their own room include, with their head comments and what they declare."""

import re

from site_kit.markdown import code
from site_kit.pages import Page

INCLUDE = re.compile(r'^#include "([\w/.]+\.hpp)"', re.MULTILINE)
DECLARED = re.compile(r"^((?:///.*\n)+)([a-zA-Z](?:[^;{}]|\{\})*[;{])", re.MULTILINE)
SUMMARY = re.compile(r"^\| `([\w/]+)/` \| (.*) \|$", re.MULTILINE)


def _room(path):
    return path.split("/", 1)[0]


def outward_headers(root):
    """Those that are read from outside: included from another room, from tools/ or from tests/consumer."""
    used = set()
    for folder in ("sim", "tools", "tests/consumer"):
        for path in (root / folder).rglob("*.[ch]pp"):
            room = path.relative_to(root / "sim").parts[0] if folder == "sim" else ""
            used |= {name for name in INCLUDE.findall(path.read_text(encoding="utf-8")) if _room(name) != room}
    return sorted(name for name in used if (root / "sim" / name).is_file())


def head_comment(text):
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(re.sub(r"^// ?", "", line))
    return "\n".join(lines).strip()


def _declarations(text):
    """What has a comment of its own at the top level: the comment, and the declaration up to its body."""
    for match in DECLARED.finditer(text):
        yield match[1] + re.sub(r"\s*\{$", ";", match[2])


def _header(root, name):
    text = (root / "sim" / name).read_text(encoding="utf-8")
    section = f"## {name} {{#{re.sub(r'[^a-z0-9]+', '-', name)}}}\n\n" + code(head_comment(text))
    declared = "\n\n".join(_declarations(text))
    return section + ("\n```cpp\n" + declared + "\n```\n" if declared else "")


def interface_pages(root):
    rooms = dict(SUMMARY.findall((root / "sim" / "README.md").read_text(encoding="utf-8")))
    headers = outward_headers(root)
    listed = "\n".join(f"- [{room}](reference/interface/{room}.md): {summary}" for room, summary in rooms.items())
    yield Page("reference/interface/index.md", "C++ interface",
               "# C++ interface\n\n`find_package(Farandole)` gives each room of the library as a target, `Farandole::scenario` and so on, "
               "`Farandole::farandole` for all; headers are included by room. Everything is in namespace `farandole`. The example that the "
               "tests build:\n\n```cpp\n" + (root / "tests" / "consumer" / "consumer.cpp").read_text(encoding="utf-8") + "```\n\n"
               f"The rooms, from the ground up:\n\n{listed}\n")
    for room, summary in rooms.items():
        own = [_header(root, name) for name in headers if _room(name) == room]
        text = f"# {room}\n\n{summary[:1].upper() + summary[1:]}.\n\n" + "\n".join(own or ["No other room includes a header of this one."])
        yield Page(f"reference/interface/{room}.md", room, text + "\n")
