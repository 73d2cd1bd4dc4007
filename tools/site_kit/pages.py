"""The pages that people wrote: docs/, and the READMEs in their places on the site, with the links between them."""

import dataclasses
import difflib
import os
import pathlib
import posixpath
import re

from site_kit import markdown

# Where a document of the repository is on the site.
PLACES = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "scenarios/README.md": "scenarios.md",
    "scenarios/published/collectives/README.md": "published-collectives.md",
    "topologies/README.md": "topologies.md",
    "topologies/devices/README.md": "devices.md",
    "topologies/libraries/README.md": "library-releases.md",
    "topologies/offers/README.md": "price-models.md",
    "models/README.md": "models.md",
    "sim/README.md": "internals/rooms.md",
    "sim/calibration/README.md": "calibration.md",
    "sim/simulate/library/README.md": "libraries.md",
    "tools/README.md": "scripts.md",
    "tools/lab/README.md": "laboratory.md",
    "tools/python/README.md": "python.md",
    "tools/notebooks/README.md": "notebooks.md",
    "tools/runbooks/README.md": "runbooks/index.md",
}
# What a folder's README is called on the site, where its own title is only the folder's name.
TITLES = {
    "scenarios/README.md": "Scenarios",
    "scenarios/published/collectives/README.md": "Published collectives",
    "topologies/README.md": "Topologies",
    "topologies/devices/README.md": "Devices",
    "topologies/libraries/README.md": "Libraries' releases",
    "topologies/offers/README.md": "Price models",
    "models/README.md": "Models",
    "sim/README.md": "The library's rooms",
    "sim/calibration/README.md": "How calibration works",
    "sim/simulate/library/README.md": "Communication libraries",
    "tools/README.md": "Scripts",
    "tools/lab/README.md": "A network of namespaces",
    "tools/python/README.md": "Python package",
    "tools/notebooks/README.md": "Notebooks",
    "tools/runbooks/README.md": "Runbooks",
}
NOT_DOCUMENTS = {"build", "results", "docs", "node_modules"}


class SiteError(Exception):
    """What keeps the site from being made; the message is one line."""


@dataclasses.dataclass
class Page:
    place: str  # below the site's root, such as "reference/commands/run.md"
    title: str
    text: str
    source: str = ""  # the document it comes from; empty: generated


def _documents(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_DOCUMENTS and not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".md"):
                yield str((pathlib.Path(folder) / name).relative_to(root))


def place_of(source):
    """Documents without a place of their own: READMEs among the internals, others where they lie."""
    if source in PLACES:
        return PLACES[source]
    if source.startswith("tools/runbooks/"):
        return source.removeprefix("tools/")
    if source.endswith("/README.md"):
        return "internals/" + source.removesuffix("/README.md").replace("/", "-") + ".md"
    return source


def _titled(text, title):
    """The text without its first heading, and that heading or the title given."""
    first = re.match(r"# +(.*)\n", text)
    if not first:
        raise SiteError(f"expected a heading on the first line, got \"{text.splitlines()[0] if text.strip() else ''}\"")
    return title or first[1].strip("/ "), text[first.end():]


def _read(path, name):
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"{name}: cannot be read: {error}") from error


def documents(root):
    """All documents of the repository but docs/; links are still those of the repository."""
    pages = []
    for source in _documents(root):
        try:
            title, body = _titled(_read(root / source, source), TITLES.get(source))
        except SiteError as error:
            raise SiteError(f"{source}:1: {error}") from error
        pages.append(Page(place_of(source), title, f"# {title}\n{body}", source))
    return pages


def written(root):
    """The pages of docs/, which are at the top of the site."""
    pages = []
    for path in sorted((root / "docs").rglob("*.md")):
        source = str(path.relative_to(root))
        text = _read(path, source)
        try:
            pages.append(Page(source.removeprefix("docs/"), _titled(text, None)[0], text, source))
        except SiteError as error:
            raise SiteError(f"{source}:1: {error}") from error
    return pages


class Links:
    """Rewrites links of the repository into links of the site; remembers the files that they need."""

    def __init__(self, root, pages):
        self.root = root
        self.first = {}  # of each document
        for page in pages:
            self.first.setdefault(page.source, page)
        self.files = set()

    def _on_site(self, page, target, line):
        path, _, anchor = target.partition("#")
        if path == "":
            return f"{page.place}#{anchor}"
        if not page.source or path.startswith("reference/"):
            return target  # from the root of the site already: made by the generator
        found = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path))
        if (self.root / found).is_dir():
            found = posixpath.join(found, "README.md")
        if found in self.first:
            return self._in_document(page, found, anchor)
        if not (self.root / found).is_file():
            raise SiteError(f"{page.source}: expected a link to a file of the repository, got \"{target}\" (line {line} of the page)")
        self.files.add(found)
        return f"files/{found}"

    def _in_document(self, page, found, anchor):
        first = self.first[found]
        known = {name: f"{first.place}#{name}" for name in markdown.anchors(first.text)} | {"": first.place}
        if anchor not in known:
            near = difflib.get_close_matches(anchor, known, 1)
            raise SiteError(f"{page.source}: expected a heading of {found}, got \"#{anchor}\""
                            + (f"; did you mean \"#{near[0]}\"?" if near else ""))
        return known[anchor]

    def rewrite(self, page):
        def one(target, line):
            if re.match(r"[a-z]+:", target):
                return target
            path, hash_sign, anchor = self._on_site(page, target, line).partition("#")
            relative = "" if path == page.place else posixpath.relpath(path, posixpath.dirname(page.place) or ".")
            return (relative + hash_sign + anchor) or posixpath.basename(page.place)

        page.text = markdown.spaced(markdown.replace_links(page.text, one))
