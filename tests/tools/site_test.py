"""tools/site: every document, command, schema key and catalogue entry has its place on the site, and every link ends somewhere."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from python_support import PROGRAM, ROOT, SKIPPED, InAFolder

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "packaging")]

import program_help
from site_kit import markdown, navigation, schema_pages
from site_kit.pages import Links, Page, SiteError

if not pathlib.Path(PROGRAM).is_file():
    print(f"skipped: {PROGRAM} is not built")
    sys.exit(SKIPPED)

# Run without Python's packages as well: once with MkDocs is enough.
MKDOCS = shutil.which("mkdocs")
FEWEST_WORDS = 20


def site(*arguments, **settings):
    return subprocess.run([ROOT / "tools" / "site", *map(str, arguments)], capture_output=True, text=True, check=False, **settings)


def ask(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def without_code(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^    .*$", "", text, flags=re.MULTILINE))


def keys_of(schema):
    """The names of all properties of a schema, as often as they are defined."""
    if isinstance(schema, list):
        return [key for one in schema for key in keys_of(one)]
    if not isinstance(schema, dict):
        return []
    found = []
    for word, value in schema.items():
        if word == "properties" and "if" not in schema:
            found += [key for key, one in value.items() if isinstance(one, dict)]
        if word in ("properties", "patternProperties", "definitions"):
            found += [key for one in value.values() for key in keys_of(one)]
        elif word in ("items", "anyOf", "oneOf", "additionalProperties"):
            found += keys_of(value)
    return found


class Anchors(html.parser.HTMLParser):
    """What a page of HTML links to, and where links to it may end."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name in ("href", "src") and value and not re.match(r"[a-z]+:|//", value):
                self.targets.add(value)


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.finished = site("--program", PROGRAM, "--output", cls.folder, *([] if MKDOCS else ["--source-only"]))
        cls.source = cls.folder / "site-source"
        cls.pages = {str(path.relative_to(cls.source)): path.read_text(encoding="utf-8") for path in cls.source.rglob("*.md")
                     if path.relative_to(cls.source).parts[0] != "files"}

    def setUp(self):
        self.assertEqual((self.finished.returncode, self.finished.stderr), (0, ""))

    def assert_listed(self, words, place):
        missing = [word for word in words if f"`{word}`" not in self.pages[place]]
        self.assertEqual(missing, [], place)

    def test_no_page_is_empty_and_each_opens_with_its_title(self):
        for place, text in self.pages.items():
            self.assertRegex(text, r"\A# \S", place)
            self.assertGreaterEqual(len(text.split()), FEWEST_WORDS, place)

    def test_each_link_ends_at_a_page_or_file_and_at_an_anchor_of_it(self):
        checked = 0
        for place, text in self.pages.items():
            for target in re.findall(r"\]\(([^()\s]+)\)", without_code(text)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                found = os.path.normpath(os.path.join(os.path.dirname(place), path)) if path else place
                self.assertTrue((self.source / found).is_file(), f"{place}: {target}")
                if anchor:
                    self.assertIn(anchor, markdown.anchors(self.pages[found]), f"{place}: {target}")
                checked += 1
        self.assertGreater(checked, 200)

    def test_each_document_of_the_repository_is_a_page(self):
        sources = [path for folder in (".", "models", "scenarios", "sim", "tests", "tools", "topologies", "docs")
                   for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md") if "node_modules" not in path.parts]
        self.assertGreater(len(sources), 30)
        for path in sources:
            sentences = [line for line, is_prose in markdown.lines_with_kind(path.read_text(encoding="utf-8"))
                         if is_prose and re.match(r"[A-Z]\w+ [\w ,]+$", line)]
            for line in sentences[:3]:
                self.assertTrue(any(f"\n{line}\n" in text for text in self.pages.values()), f"{path}: {line}")

    def test_each_key_of_a_schema_has_its_row(self):
        for path in (ROOT / "sim" / "config" / "schemas").glob("*.schema.json"):
            page = self.pages[f"reference/files/{path.name.split('.')[0]}.md"]
            rows = re.findall(r'^\| <a id="key-[\w-]+"></a>`([^`]+)`(?: \(required\))? \| \S', page, re.MULTILINE)
            keys = keys_of(json.loads(path.read_text(encoding="utf-8")))
            self.assertGreater(len(keys), 10)
            self.assertEqual(sorted(rows), sorted(keys), path.name)

    def test_each_command_has_a_page_with_all_of_its_options(self):
        listed = ask("--help").partition("Subcommands:\n")[2].partition("\n\n")[0]
        commands = re.findall(r"^  (\w+) ", listed, re.MULTILINE)
        self.assertIn("run", commands)
        for command in commands:
            options = re.findall(r"^  (--[\w-]+)", ask(command, "--help"), re.MULTILINE)
            self.assert_listed(options, f"reference/commands/{command}.md")
            self.assertIn(f"({command}.md)", self.pages["reference/commands/index.md"])

    def test_each_entry_of_a_catalogue_is_listed(self):
        for kind in ("models", "topologies", "algorithms", "strategies", "offers"):
            names = [entry["name"] for entry in json.loads(ask("show", kind, "--format", "json"))[kind]]
            self.assertTrue(names)
            self.assert_listed(names, f"reference/catalogues/{kind}.md")

    def test_each_room_and_the_headers_that_a_program_of_ones_own_includes_are_in_the_interface(self):
        included = re.findall(r'#include "(\w+)/([\w./]+)"', (ROOT / "tests" / "consumer" / "consumer.cpp").read_text())
        self.assertTrue(included)
        for room, header in included:
            self.assertIn(f"## {room}/{header} ", self.pages[f"reference/interface/{room}.md"])
        for room in (path.parent.name for path in (ROOT / "sim").glob("*/CMakeLists.txt")):
            self.assertIn(f"({room}.md)", self.pages["reference/interface/index.md"])

    def test_nothing_on_it_names_the_machine_that_made_it(self):
        for place, text in self.pages.items():
            self.assertNotIn(str(ROOT), text, place)

    def test_made_again_is_the_same(self):
        again = site("--program", PROGRAM, "--output", self.folder, "--source-only")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        for place, text in self.pages.items():
            self.assertEqual((self.source / place).read_text(encoding="utf-8"), text, place)

    @unittest.skipUnless(MKDOCS, "MkDocs is not installed; tools/setup docs installs it")
    def test_mkdocs_builds_it_strictly_and_each_link_of_the_html_ends_somewhere(self):
        built = self.folder / "site"
        read = {path: Anchors(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}
        self.assertGreaterEqual(len(read), len(self.pages))
        for path, page in read.items():
            if path.name in ("404.html", "search.html"):
                continue
            for target in page.targets:
                where, _, anchor = target.partition("#")
                found = pathlib.Path(os.path.normpath(path.parent / where.partition("?")[0])) if where else path
                self.assertTrue(found.exists(), f"{path.relative_to(built)}: {target}")
                if anchor and found in read:
                    self.assertIn(anchor, read[found].ids, f"{path.relative_to(built)}: {target}")


class Refusals(InAFolder):
    def test_help_is_printed_and_nothing_is_made(self):
        for option in ("--help", "-h"):
            finished = site(option, "--output", "here", cwd=self.folder)
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertIn("usage: tools/site", finished.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_it_does_not_know_is_refused_in_one_line(self):
        for arguments in (["--colour"], ["all"], ["--output"], ["--program", "none"], ["--program", "--source-only"]):
            self.assert_refused(site(*arguments, cwd=self.folder), "tools/site: expected ")

    def test_a_folder_that_it_has_not_made_is_left_alone(self):
        (self.folder / "site-source").mkdir()
        self.write("site-source/mine.txt", "mine")
        finished = site("--program", PROGRAM, "--output", self.folder, "--source-only")
        self.assertEqual((finished.returncode, finished.stdout), (1, ""))
        self.assertIn("not made by tools/site", finished.stderr)
        self.assertEqual([path.name for path in self.folder.rglob("*")], ["site-source", "mine.txt"])

    def test_a_link_that_ends_nowhere_and_a_page_that_is_in_no_line_of_the_navigation_are_errors(self):
        page = Page("index.md", "Index", "# Index\n\n[there](../none/README.md)\n", "docs/index.md")
        with self.assertRaisesRegex(SiteError, r"docs/index.md: expected a link to a file .* got \"../none/README.md\" \(line 3"):
            Links(ROOT, [page]).rewrite(page)
        page.text = "# Index\n\n[there](../sim/README.md#the-ruel)\n"
        rooms = Page("rooms.md", "Rooms", "# Rooms\n\n## The rule\n", "sim/README.md")
        with self.assertRaisesRegex(SiteError, 'expected a heading of sim/README.md, got "#the-ruel"; did you mean "#the-rule"'):
            Links(ROOT, [page, rooms]).rewrite(page)
        with self.assertRaisesRegex(SiteError, "\"index.md\" is not there"):
            navigation.complete("site_name: x\nnav:\n  - other/*\n", [page])
        with self.assertRaisesRegex(SiteError, "expected a page, got \"none.md\""):
            navigation.complete("site_name: x\nnav:\n  - none.md\n", [page])
        self.assertEqual(navigation.complete("site_name: x\nnav:\n  - a/*\n  - First: index.md\n", [page, Page("a/b.md", "B", "")]),
                         "site_name: x\nnav:\n  - \"B\": a/b.md\n  - \"First\": index.md\n")


class Markdown(unittest.TestCase):
    def test_links_in_code_are_left_as_they_are(self):
        text = "[a](b)\n\n```\n[c](d)\n```\n\n    [e](f)\n\n`[g](h)` and [i `j`](k#l)"
        self.assertEqual(markdown.links(text), ["b", "k#l"])
        self.assertEqual(markdown.replace_links(text, lambda target, line: f"{target}{line}").count("](k#l9)"), 1)

    def test_a_list_or_table_behind_a_paragraph_gets_its_empty_line(self):
        self.assertEqual(markdown.spaced("so:\n- one\n- two\n  more"), "so:\n\n- one\n- two\n  more")
        self.assertEqual(markdown.spaced("so:\n| a |\n|---|"), "so:\n\n| a |\n|---|")
        self.assertEqual(markdown.spaced("```\nso:\n- one\n```"), "```\nso:\n- one\n```")

    def test_an_anchor_is_the_heading_in_small_letters_and_numbered_where_it_comes_again(self):
        text = "# `A` b, c!\n## x {#own}\n## Twice\n## Twice\n"
        self.assertEqual([anchor for _, _, anchor in markdown.headings(text)], ["a-b-c", "own", "twice", "twice_1"])

    def test_a_schema_becomes_a_section_for_each_object(self):
        schema = {"required": ["a"], "definitions": {"n": {"type": "integer", "minimum": 1}, "o": {"properties": {"z": {"const": 1}}}},
                  "properties": {"a": {"$ref": "#/definitions/n", "description": "A | b."}, "c": {"items": {"$ref": "#/definitions/o"},
                                 "type": "array"}, "d": {"properties": {"e": {"enum": ["f", "g"]}}}}}
        text = "\n".join(schema_pages.SchemaText(schema).sections)
        self.assertIn('<a id="key-a"></a>`a` (required) | integer, at least 1 | A \\| b. |', text)
        self.assertIn("| list of [o](#object-o) |", text)
        self.assertIn("## `/d` {#object-d}", text)
        self.assertIn('`e` | `"f"`, `"g"` |', text)
        self.assertLessEqual({target[1:] for target in markdown.links(text)}, markdown.anchors(text))
        with self.assertRaisesRegex(SiteError, "expected the name of a definition"):
            schema_pages.SchemaText({"properties": {"a": {"$ref": "#/definitions/none"}}})


class Help(unittest.TestCase):
    def test_what_json_help_says_becomes_options_and_commands(self):
        whole, commands = program_help.read_program(PROGRAM)
        self.assertIn("--version", [name for option in whole.options for name in option.names])
        found = {(command.name, option.names[-1]): (option.names, option.metavar, option.default, option.notes)
                 for command in commands for option in [*command.positionals, *command.options]}
        for key, expected in {
                ("run", "--help"): (["-h", "--help"], "", "", ""),
                ("run", "--budget"): (["--budget"], "TIME, SIZE", "30 s, 1 GiB", ""),
                ("run", "--point-timeout"): (["--point-timeout"], "TIME", "1 h", ""),
                ("run", "--jobs"): (["--jobs"], "N", "", ""),
                ("run", "--set"): (["--set"], "KEY=VALUE", "", ""),
                ("show", "kind"): (["kind"], "KIND", "", ""),
                ("validate", "measured"): (["measured"], "MEASURED", "", "Excludes: --published")}.items():
            self.assertEqual(found[key], expected, key)


if __name__ == "__main__":
    unittest.main()
