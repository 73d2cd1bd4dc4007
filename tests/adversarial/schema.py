"""As much of JSON Schema (draft 07) as sim/config/schemas uses: whether a value is valid, an example of one, and every
place of a document, also those that it leaves out."""

import copy
import re


def resolve(schema, root):
    while "$ref" in schema:
        target = root
        for token in schema["$ref"].lstrip("#/").split("/"):
            target = target[token]
        schema = target
    return schema


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def valid_number(value, schema):
    return not (value < schema.get("minimum", value) or value > schema.get("maximum", value)
                or ("exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]))


def valid_object(value, schema, root):
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    if any(key not in value for key in schema.get("required", [])):
        return False
    for first, others in schema.get("dependencies", {}).items():
        if first in value and any(other not in value for other in others):
            return False
    for key, member in value.items():
        matching = [known[key]] if key in known else []
        matching += [sub for pattern, sub in patterns.items() if re.search(pattern, key)]
        if not matching:
            extra = schema.get("additionalProperties", True)
            if extra is False:
                return False
            matching = [extra] if isinstance(extra, dict) else []
        if not all(is_valid(member, sub, root) for sub in matching):
            return False
    return True


def valid_array(value, schema, root):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    if schema.get("uniqueItems") and any(value.count(element) > 1 for element in value[:1000]):
        return False
    return all(is_valid(element, schema["items"], root) for element in value) if "items" in schema else True


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def is_valid(value, schema, root):
    schema = resolve(schema, root)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(has_type(value, name) for name in types):
        return False
    if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
        return False
    if "const" in schema and not same(value, schema["const"]):
        return False
    if has_type(value, "number") and not valid_number(value, schema):
        return False
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0) or ("pattern" in schema and not re.search(schema["pattern"], value)):
            return False
    if isinstance(value, dict) and not valid_object(value, schema, root):
        return False
    if isinstance(value, list) and not valid_array(value, schema, root):
        return False
    if "anyOf" in schema and not any(is_valid(value, sub, root) for sub in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(is_valid(value, sub, root) for sub in schema["oneOf"]) != 1:
        return False
    if "not" in schema and is_valid(value, schema["not"], root):
        return False
    return all(is_valid(value, sub, root) for sub in conditions(value, schema, root))


def conditions(value, schema, root):
    for sub in [schema] + schema.get("allOf", []):
        if "if" in sub:
            yield sub.get("then" if is_valid(value, sub["if"], root) else "else", {})
        elif sub is not schema:
            yield sub


def example(schema, root):
    schema = resolve(schema, root)
    for key in ("examples", "enum"):
        if key in schema:
            return copy.deepcopy(schema[key][0])
    if "const" in schema:
        return schema["const"]
    if "type" not in schema and "allOf" in schema:
        return example(schema["allOf"][-1], root)
    for key in ("anyOf", "oneOf"):
        if key in schema and "type" not in schema:
            return example(schema[key][0], root)
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        wanted = list(schema.get("required", []))
        for key in ("anyOf", "oneOf"):
            if key in schema:
                wanted += schema[key][0].get("required", [])
        return {key: example(schema.get("properties", {}).get(key, {}), root) for key in wanted}
    if kind == "array":
        return [example(schema.get("items", {}), root)] * max(1, schema.get("minItems", 1))
    if kind == "integer":
        return max(1, schema.get("minimum", 1))
    return {"number": 1.5, "boolean": True, "null": None}.get(kind, "text")


def parts(schema, value, root):
    """The schemas that a value of this kind must fulfil: those of all branches."""
    schema = resolve(schema, root)
    yield schema
    for key in ("anyOf", "oneOf"):
        for sub in schema.get(key, []):
            sub = resolve(sub, root)
            if isinstance(value, dict) == (sub.get("type") == "object") and isinstance(value, list) == (sub.get("type") == "array"):
                yield from parts(sub, value, root)
    for sub in conditions(value, schema, root):
        yield from parts(sub, value, root)


def member(schema, value, key, root):
    """The schema of one member of an object, or of an element: all that is said of it, together."""
    found = []
    for part in parts(schema, value, root):
        if isinstance(value, list):
            found += [part["items"]] if "items" in part else []
            continue
        here = [part["properties"][key]] if key in part.get("properties", {}) else []
        here += [sub for pattern, sub in part.get("patternProperties", {}).items() if re.search(pattern, key)]
        if not here and isinstance(part.get("additionalProperties"), dict):
            here = [part["additionalProperties"]]
        found += here
    return {} if not found else found[0] if len(found) == 1 else {"allOf": found}


def keys(schema, value, root):
    """Those that are there, and those that could be."""
    if isinstance(value, list):
        return list(range(min(len(value), 2)))
    known = list(value)
    for part in parts(schema, value, root):
        known += [key for key in part.get("properties", {}) if key not in known]
    return known


def places(value, schema, root, at=()):
    """(path, schema, value there or an example): what stands in a document, and what could."""
    yield at, schema, value
    if len(at) > 12 or not isinstance(value, (dict, list)):
        return
    for key in keys(schema, value, root):
        sub = member(schema, value, key, root)
        there = value[key] if isinstance(value, list) or key in value else example(sub, root)
        yield from places(there, sub, root, at + (key,))


def put(document, path, value, schema, root):
    """A copy with the value there; what is missing on the way is made as the schema asks."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    sub = member(schema, document, first, root)
    copied = copy.copy(document)
    there = copied[first] if isinstance(copied, list) or first in copied else example(sub, root)
    copied[first] = put(there, rest, value, sub, root)
    return copied
