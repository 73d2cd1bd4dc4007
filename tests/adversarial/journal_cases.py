"""Shards and journals of the program's own, altered, with right checksums and with wrong ones."""

import functools
import json
import pathlib
import random
import subprocess
import tempfile

import documents
import values
from case import ANY, DONE, REFUSED, Case, Later
from json_cases import replaced, walk
from text_cases import damages, encodings, shapes, special

POLYNOMIAL = 0xC96C5795D7870F42  # CRC-64/XZ, reflected


def table():
    entries = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
        entries.append(byte)
    return entries


TABLE = table()


def checksum(data):
    value = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return f"{value ^ 0xFFFFFFFFFFFFFFFF:016x}".encode()


def line_of(record):
    data = values.text_of(record)
    return checksum(data) + b" " + data + b"\n"


@functools.lru_cache
def shards(program):
    """Two shards of one sweep, each as lines of bytes."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = documents.scenario(sweep={"/platform/ranks": [1, 2, 3]})
        pathlib.Path(folder, "s.json").write_bytes(values.text_of(scenario))
        for number in (1, 2):
            subprocess.run([program, "run", "s.json", "--quiet", "--shard", f"{number}/2", "--output", f"{number}.shard"], cwd=folder, check=True)
        return [pathlib.Path(folder, f"{number}.shard").read_bytes() for number in (1, 2)]


MERGE = ["merge", "1.shard", "2.shard", "--format", "json", "--output", "out.json"]


def altered(first, second, place, path, value):
    lines = first.splitlines(True)
    record = json.loads(lines[place][17:])
    lines[place] = line_of(replaced(record, path, value))
    return Case("shards", f"line {place + 1} /{'/'.join(map(str, path))} = {values.short(value)}", {"1.shard": b"".join(lines), "2.shard": second}, MERGE, ANY)


def cases(program):
    first, second = shards(program)
    both = {"1.shard": first, "2.shard": second}
    yield Case("shards", "as they are", both, MERGE, DONE)
    yield Case("shards", "one twice", {"1.shard": first, "2.shard": first}, MERGE, REFUSED)
    yield Case("shards", "one missing", both, ["merge", "1.shard", "--output", "out.json"], REFUSED)
    yield Case("shards", "onto itself", both, [*MERGE[:-1], "1.shard"], REFUSED)
    for place in (0, 1):
        for path, _ in walk(json.loads(first.splitlines()[place][17:])):
            for value in values.NUMBERS + values.OTHERS:
                yield Later("shards", functools.partial(altered, first, second, place, path, value))
    text = first.decode()
    rng = random.Random("shards")
    for name, data in [*encodings(text), *shapes(text), *damages(text, rng)]:
        yield Case("shards", name, {"1.shard": data, "2.shard": second}, MERGE, ANY)
    for kind in ("missing", "a folder", "a link to itself", "unreadable", "/dev/zero", "/dev/null", "/dev/urandom"):
        yield Case("shards", kind, {"2.shard": second}, MERGE, REFUSED, prepare=lambda folder, make=special(kind): make(folder, "1.shard"))
