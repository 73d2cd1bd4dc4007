"""mkdocs.yml with its navigation complete: a line "- FOLDER/*" becomes all pages of the folder that are named nowhere else."""

import json
import re

from site_kit.pages import SiteError

ENTRY = re.compile(r"^(\s*)- (?:(.+): )?([\w./*-]+\.md|[\w./-]+/\*)$")


def complete(text, pages):
    """The configuration, with titles; every page of it is there, and every page is in it."""
    titles = {page.place: page.title for page in pages}
    head, nav, tree = text.partition("\nnav:\n")
    if not nav:
        raise SiteError("docs/mkdocs.yml: expected a line \"nav:\"")
    entries = [ENTRY.match(line) for line in tree.splitlines()]
    named = [entry[3] for entry in entries if entry and not entry[3].endswith("*")]
    for place in named:
        if place not in titles:
            raise SiteError(f"docs/mkdocs.yml: expected a page, got \"{place}\"; the site has no such page")
    left = [place for place in titles if place not in named]
    lines = []
    for line, entry in zip(tree.splitlines(), entries):
        places = [] if not entry else [entry[3]]
        if entry and entry[3].endswith("/*"):
            places = [place for place in left if place.startswith(entry[3][:-1])]
            left = [place for place in left if place not in places]
        lines += [f"{entry[1]}- {json.dumps(entry[2] or titles[place])}: {place}" for place in places] if entry else [line]
    if left:
        raise SiteError(f"docs/mkdocs.yml: expected every page in the navigation, \"{left[0]}\" is not there")
    return head + nav + "\n".join(lines) + "\n"
