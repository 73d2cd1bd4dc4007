"""Markdown as both GitHub and MkDocs read it: lines outside of code, headings and their anchors, links, tables."""

import html
import re

LINK = re.compile(r"(\]\()([^()\s]+)(\))")  # its text may have begun on the line before
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
EXPLICIT_ANCHOR = re.compile(r"\s*\{\s*#([\w-]+)\s*\}\s*$")


def lines_with_kind(text):
    """(line, is it prose): fenced blocks and blocks that are indented by four after an empty line are code."""
    fenced = indented = False
    before = ""
    for line in text.split("\n"):
        fence = line.startswith("```")
        if not fenced and not fence:
            indented = line.startswith("    ") and (indented or not before.strip()) or (indented and not line.strip())
        yield line, not (fenced or fence or indented)
        fenced ^= fence
        before = line


def slug(heading):
    """The anchor that Python-Markdown gives a heading."""
    plain = re.sub(r"[`*]|!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    plain = re.sub(r"[^\w\s-]", "", plain.encode("ascii", "ignore").decode()).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)


def headings(text):
    """(level, title, anchor) of each; a title that comes again has a number behind its anchor."""
    used, found = set(), []
    for line, is_prose in lines_with_kind(text):
        match = re.match(r"(#{1,6}) +(.*?)\s*#*$", line) if is_prose else None
        if not match:
            continue
        explicit = EXPLICIT_ANCHOR.search(match[2])
        title = EXPLICIT_ANCHOR.sub("", match[2])
        anchor = first = explicit[1] if explicit else slug(title)
        number = 0
        while anchor in used:
            number += 1
            anchor = f"{first}_{number}"
        used.add(anchor)
        found.append((len(match[1]), title, anchor))
    return found


def anchors(text):
    """Everything that a link may end at."""
    return {anchor for _, _, anchor in headings(text)} | set(re.findall(r'<a id="([\w-]+)"></a>', text))


def replace_links(text, replacement):
    """Each link's target becomes replacement(target, number of its line), outside of code."""
    changed = []
    for number, (line, is_prose) in enumerate(lines_with_kind(text), 1):
        if is_prose and "](" in line:
            code = [match.span() for match in CODE_SPAN.finditer(line)]

            def one(match, code=code, number=number):
                if any(begin <= match.start() < end for begin, end in code):
                    return match[0]
                return match[1] + replacement(match[2], number) + match[3]

            line = LINK.sub(one, line)
        changed.append(line)
    return "\n".join(changed)


def links(text):
    """Targets of all links, outside of code."""
    found = []
    replace_links(text, lambda target, number: found.append(target) or target)
    return found


def spaced(text):
    """An empty line before each list and table that follows a paragraph: GitHub needs none, MkDocs does."""
    result, before = [], ""
    for line, is_prose in lines_with_kind(text):
        begins = re.match(r"([-*]|\d+\.) ", line) and not re.match(r"([-*]|\d+\.| )", before)
        if is_prose and before.strip() and (begins or (line.startswith("|") and not before.startswith("|"))):
            result.append("")
        result.append(line)
        before = line
    return "\n".join(result)


def cell(text):
    """Text as the cell of a table: nothing in it is markup but code in backticks."""
    parts = re.split(r"(`[^`]*`)", " ".join(str(text).split()))
    plain = [part if part.startswith("`") and len(part) > 1 else re.sub(r"([\\*_\[\]])", r"\\\1", html.escape(part, quote=False))
             for part in parts]
    return "".join(plain).replace("|", "\\|")


def table(head, rows):
    """Cells are Markdown already."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def code(text):
    return f"```\n{text.rstrip()}\n```\n"
