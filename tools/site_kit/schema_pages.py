"""One page for each kind of file, from its JSON Schema: every key, its type and what it is."""

import json
import re

from site_kit.markdown import cell, table
from site_kit.pages import Page, SiteError

TITLES = {"scenario": "Scenario files", "model": "Model files", "topology": "Topology files", "device": "Device files",
          "library": "Communication libraries", "offer": "Price models (offers)", "kernels": "Kernel rates", "published": "Published runs"}
HEAD = ["key", "type", "what it is"]
AS_OBJECT = "as an object"  # of what may also be a plain value


def anchor_of(path):
    return "-".join(re.sub(r"[^\w]+", "-", part).strip("-") or "any" for part in path) or "the-file"


class SchemaText:
    """The sections of a page: the file, then the objects inside it, then what the schema defines once and uses often."""

    def __init__(self, schema):
        self.definitions = schema.get("definitions", {})
        self.waiting = []  # objects met in a section, which get sections of their own
        self.sections = []
        self._all(("",), schema)
        for name, definition in self.definitions.items():
            if self._has_keys(definition):
                self._all((f"definition {name}",), definition)

    @staticmethod
    def _has_keys(schema):
        return bool(schema.get("properties") or schema.get("patternProperties")) or any(
            SchemaText._has_keys(one) for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word, [])) or (
                isinstance(schema.get("items"), dict) and SchemaText._has_keys(schema["items"]))

    def _all(self, path, schema):
        """Depth first: what is inside an object follows it."""
        left = [(path, schema)]
        while left:
            self.waiting = []
            self._section(*left.pop(0))
            left = self.waiting + left

    def _section(self, path, schema):
        if not (schema.get("properties") or schema.get("patternProperties")):  # a choice, or a list, of objects
            description = cell(schema.get("description", ""))
            lines = [f"{description}\n\nType: {self.type_of(schema, (*path, AS_OBJECT))}\n"]
        else:
            lines = [cell(schema.get("description", "")) + "\n", *self._rules(schema), table(HEAD, self._rows(path, schema))]
        name = path[0].removeprefix("definition ") if path[0] else "The file"
        title = "`" + "/".join(["", *path[1:]]) + "`" if len(path) > 1 and not path[0] else "/".join([name, *path[1:]])
        title = title.replace("/" + AS_OBJECT, ", " + AS_OBJECT)
        self.sections.append(f"## {title} {{#{self._section_anchor(path)}}}\n\n" + "\n".join(lines))

    @staticmethod
    def _section_anchor(path):
        return "object-" + anchor_of([part.removeprefix("definition ") if part.startswith("definition ") else part
                                      for part in path if part]) if any(path) else "the-file"

    def _rules(self, schema):
        """What holds between keys."""
        choices = [[f"`{name}`" for name in one["required"]] for one in schema.get("oneOf", []) if set(one) == {"required"}]
        if choices:
            yield "Exactly one of " + ", ".join(" with ".join(names) for names in choices) + ".\n"
        for rule in schema.get("allOf", []):
            condition = rule.get("if", {}).get("properties", {})
            values = ", ".join(f"`{key}` is `{value.get('const')}`" for key, value in condition.items())
            for key, value in rule.get("then", {}).get("properties", {}).items():
                yield f"Where {values}, `{key}` is {self.type_of(value, ('', key))}.\n"

    def _rows(self, path, schema):
        required = schema.get("required", [])
        for key, value in [*schema.get("properties", {}).items(), *schema.get("patternProperties", {}).items()]:
            name = f"`{key}`" if key in schema.get("properties", {}) else f"any name like `{key}`".replace("|", "\\|")
            note = " (required)" if key in required else ""
            place = f'<a id="key-{anchor_of([*self._named(path), key])}"></a>'
            inside = (*path, key if key in schema.get("properties", {}) else "*")
            yield [place + name + note, self.type_of(value, inside), cell(self._description(value))]
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            yield ["any other name", self.type_of(others, (*path, "*")), cell(self._description(others))]

    @staticmethod
    def _named(path):
        return [part.removeprefix("definition ") for part in path if part]

    def _description(self, schema):
        own = schema.get("description", "") if isinstance(schema, dict) else ""
        if not own and "$ref" in schema:
            return self._description(self._definition(schema))
        return own + (f" Default `{json.dumps(schema['default'])}`." if "default" in schema else "")

    def _definition(self, schema):
        name = schema["$ref"].removeprefix("#/definitions/")
        if name not in self.definitions:
            raise SiteError(f"expected the name of a definition, got \"{schema['$ref']}\"")
        return self.definitions[name]

    def type_of(self, schema, path):
        """In words; objects have their section, and a link to it."""
        if "$ref" in schema:
            definition = self._definition(schema)
            name = schema["$ref"].rsplit("/", 1)[-1]
            return f"[{name}](#object-{anchor_of([name])})" if self._has_keys(definition) else self.type_of(definition, path)
        if "const" in schema:
            return f"`{json.dumps(schema['const'])}`"
        if "enum" in schema:
            return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
        if schema.get("properties") or schema.get("patternProperties"):
            self.waiting.append((path, schema))
            return f"[object](#{self._section_anchor(path)})"
        choices = [one for one in schema.get("anyOf", schema.get("oneOf", [])) if set(one) != {"required"}]
        if choices:
            objects = [one for one in choices if one.get("properties") or one.get("patternProperties")]
            return " or ".join(dict.fromkeys(
                self.type_of(one, (*path, str(objects.index(one))) if one in objects[1:] else path) for one in choices))
        return self._plain(schema, path)

    def _plain(self, schema, path):
        kinds = schema.get("type", "any value")
        if kinds == "array":
            return "list of " + (self.type_of(schema["items"], path) if schema.get("items") else "values")
        if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
            return "object, for any name: " + self.type_of(schema["additionalProperties"], (*path, "*"))
        words = " or ".join([kinds] if isinstance(kinds, str) else kinds)
        limits = [f"{sign} {schema[word]}" for word, sign in
                  [("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most")] if word in schema]
        if "examples" in schema:
            limits.append("such as " + ", ".join(f"`{json.dumps(example)}`" for example in schema["examples"]))
        return ", ".join([words, *limits])


def schema_pages(root):
    folder = root / "sim" / "config" / "schemas"
    order = list(TITLES)
    names = [path.name.split(".")[0] for path in sorted(folder.glob("*.schema.json"))]
    for name in sorted(names, key=lambda name: order.index(name) if name in order else len(order)):
        path = folder / f"{name}.schema.json"
        try:
            schema = json.loads(path.read_text(encoding="utf-8"))
            sections = SchemaText(schema).sections
        except (ValueError, SiteError) as error:
            raise SiteError(f"{path.relative_to(root)}: {error}") from error
        title = TITLES.get(name, f"{name} files")
        text = (f"# {title}\n\n{cell(schema['title'])} {cell(schema.get('description', ''))}\n\n"
                f"Made from `{path.relative_to(root)}`; `farandole check FILE` holds a file against it. A number with a dimension is a "
                "string with its unit; what is not listed here is refused.\n\n")
        yield Page(f"reference/files/{name}.md", title, text + "\n".join(sections))
