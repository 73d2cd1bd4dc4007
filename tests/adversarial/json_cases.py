"""Every key of every schema, with every bad value; and of JSON files without a schema, every value that is there."""

import functools
import json

import documents
import schema as schemas
import values
from case import ANY, DONE, REFUSED, Case, Later

FOLDER = documents.PROJECT / "sim" / "config" / "schemas"

RUN = ["run", "s.json", "--quiet", "--format", "json", "--output", "out.json"]
COLLECTIVE = ["collective", "--topology", "./t.json", "--ranks", "2", "-b", "1M", "-e", "1M", "--format", "json", "--output", "out.json"]


def with_model(name):
    return documents.scenario(workload={"model": "./m.json", "batch_per_rank": 1}), name


def with_offer():
    return documents.scenario(platform={"topology": "dgx-a100", "ranks": 8}, run={"samples": 60000, "epochs": 3}, economics={"offer": "./o.json"})


def with_device():
    return documents.scenario(workload={"model": "mnist_mlp", "batch_per_rank": 8}, effects={"other_devices": [{"ranks": [0, 1, 2, 3], "device": "./d.json"}]})


def kinds():
    """(group, schema's file, document, name of its file, other files, command lines)"""
    for name, document in documents.SCENARIOS.items():
        yield f"scenario/{name}", "scenario", document, "s.json", {}, [RUN, ["check", "s.json"]]
    for name, document in documents.TOPOLOGIES.items():
        yield f"topology/{name}", "topology", document, "t.json", {}, [COLLECTIVE, ["show", "topology", "./t.json"]]
    yield "device", "device", documents.DEVICE, "d.json", {"s.json": with_device()}, [RUN, ["check", "d.json"]]
    for name, document in documents.LIBRARIES.items():
        file = f"{document['name']}.json"
        yield f"library/{name}", "library", document, file, {}, [["check", file], ["show", "constants", f"./{file}"]]
    for name, document in (("offer", documents.OFFER), ("offer/bought", documents.BOUGHT)):
        yield name, "offer", document, "o.json", {"s.json": with_offer()}, [RUN, ["check", "o.json"]]
    for name, document in (("model", documents.MODEL), ("model/sequence", documents.SEQUENCE)):
        yield name, "model", document, "m.json", {"s.json": with_model(name)[0]}, [RUN, ["show", "model", "./m.json"]]


def has_raw(value):
    return isinstance(value, values.Raw)


def expectation(document, schema, value, line):
    """What the schema refuses is refused. Raw text is never good JSON, but for a few forms; none at all may leave an empty list."""
    if has_raw(value):
        return ANY if value.text in ("", "-0", "1e5", r'"\u0000"') else REFUSED
    return ANY if schemas.is_valid(document, schema, schema) else REFUSED


def changed(group, schema, document, file, files, line, path, value):
    bad = schemas.put(document, path, value, schema, schema)
    name = f"/{'/'.join(map(str, path))} = {values.short(value)} ({line[0]})"
    return Case(group, name, {**files, file: values.text_of(bad)}, line, expectation(bad, schema, value, line))


def is_there(document, path):
    for token in path:
        if isinstance(document, dict) and token not in document:
            return False
        document = document[token]
    return True


def schema_cases():
    """What stands in a document of a kind is changed in the first that has it; what no document has, in the first."""
    seen = set()
    for present in (True, False):
        for group, schema_name, document, file, others, lines in kinds():
            schema = json.loads((FOLDER / f"{schema_name}.schema.json").read_text())
            files = {name: values.text_of(other) for name, other in others.items()}
            if present:
                for line in lines:
                    yield Case(group, f"as it is, {line[0]}", {**files, file: values.text_of(document)}, line, DONE)
            for path, _, there in schemas.places(document, schema, schema):
                place = (schema_name, tuple("#" if isinstance(token, int) else token for token in path))
                if place in seen or is_there(document, path) != present:
                    continue
                seen.add(place)
                for number, value in enumerate(values.for_place(there)):
                    line = lines[number % len(lines)] if number % 3 == 2 else lines[0]
                    yield Later(group, functools.partial(changed, group, schema, document, file, files, line, path, value))


def walk(value, at=()):
    yield at, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from walk(member, at + (key,))
    elif isinstance(value, list):
        for index, member in enumerate(value[:3]):
            yield from walk(member, at + (index,))


def replaced(value, path, new):
    if not path:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(copied[path[0]], path[1:], new)
    return copied


CALIBRATE = ["calibrate", "--topology", "ethernet-25g", "--output", "out.json", "--date", "2026-01-01"]
VALIDATE = ["validate", "--topology", "ethernet-25g", "--format", "json"]


def free_kinds():
    yield "schedule", documents.SCHEDULE, "a.json", [["collective", "--topology", "ethernet-25g", "--ranks", "2", "-b", "1M", "-e", "1M", "--algorithm", "./a.json", "--format", "json"],
                                                      ["show", "algorithm", "./a.json"]]
    yield "points", documents.POINTS, "p.json", [VALIDATE + ["p.json"], CALIBRATE + ["p.json"]]
    yield "nccl_json", documents.NCCL_JSON, "p.json", [VALIDATE + ["p.json", "--nodes", "4"], CALIBRATE + ["p.json", "--nodes", "4"]]
    yield "huggingface_config", documents.huggingface_config(), "config.json", [["import", "config.json", "--output", "out.json"], ["check", "config.json"]]
    yield "horovod_trace", documents.horovod_trace(), "h.json", [["import", "horovod_timeline", "h.json", "--batch", "8", "--output", "out.json"]]
    yield "profiler_trace", documents.profiler_trace(), "h.json", [["import", "pytorch_profiler", "h.json", "--model", "mnist_mlp", "--variant", "keras", "--batch", "8", "--output", "out.json"]]


def changed_freely(group, document, file, line, path, value):
    """Of others' formats what is not read may be any JSON, a zero byte in a string too."""
    expect = REFUSED if has_raw(value) and value.text not in ("-0", "1e5", r'"\u0000"') and path else ANY
    return Case(group, f"/{'/'.join(map(str, path))} = {values.short(value)} ({line[0]})", {file: values.text_of(replaced(document, path, value))}, line, expect)


def free_cases():
    for group, document, file, lines in free_kinds():
        for line in lines:
            yield Case(group, f"as it is, {line[0]}", {file: values.text_of(document)}, line, DONE)
        for path, there in walk(document):
            for number, value in enumerate(values.for_place(there)):
                yield Later(group, functools.partial(changed_freely, group, document, file, lines[number % len(lines)], path, value))


def cases():
    yield from schema_cases()
    yield from free_cases()
