"""Damage to the text of every kind of file: cut, of another encoding, of another kind, too long, and its numbers changed."""

import json
import os
import random
import re

import documents
from case import ANY, REFUSED, Case
from json_cases import CALIBRATE, COLLECTIVE, RUN, VALIDATE
from values import QUANTITIES, text_of

GRAPH = {**documents.TOPOLOGIES["graph"], "network": {"file": "g.dot", "link": {"rate": "25 Gbit/s"}}}
PLATFORM = {**GRAPH, "network": {"file": "g.xml"}}
ALGORITHM = ["collective", "--topology", "ethernet-25g", "--ranks", "2", "-b", "1M", "-e", "1M", "--format", "json", "--output", "out.json", "--algorithm"]


def kinds():
    """(group, text, its file, other files, command line)"""
    def json_text(value):
        return json.dumps(value, indent=1)

    yield "scenario", json_text(documents.SCENARIOS["ddp"]), "s.json", {}, RUN
    yield "topology", json_text(documents.TOPOLOGIES["leaf_spine"]), "t.json", {}, COLLECTIVE
    yield "model", json_text(documents.MODEL), "m.json", {"s.json": text_of(documents.scenario(workload={"model": "./m.json", "batch_per_rank": 8}))}, RUN
    yield "schedule", json_text(documents.SCHEDULE), "a.json", {}, ALGORITHM + ["./a.json"]
    yield "msccl", documents.MSCCL, "a.xml", {}, ALGORITHM + ["./a.xml"]
    yield "dot", documents.DOT, "g.dot", {"t.json": text_of(GRAPH)}, COLLECTIVE
    yield "simgrid", documents.SIMGRID, "g.xml", {"t.json": text_of(PLATFORM)}, COLLECTIVE
    yield "nccl_tests", documents.NCCL_TESTS, "m.txt", {}, VALIDATE + ["m.txt", "--op", "allreduce"]
    yield "nccl_tests/calibrate", documents.NCCL_TESTS, "m.txt", {}, CALIBRATE + ["m.txt", "--op", "allreduce"]
    yield "osu", documents.OSU, "m.txt", {}, VALIDATE + ["m.txt", "--ranks", "4", "--nodes", "4"]
    yield "imb", documents.IMB, "m.txt", {}, VALIDATE + ["m.txt", "--nodes", "4"]
    yield "imb/calibrate", documents.IMB, "m.txt", {}, CALIBRATE + ["m.txt", "--nodes", "4"]
    yield "lab", documents.LAB_LINES, "m.jsonl", {}, VALIDATE + ["m.jsonl"]
    yield "keras", documents.KERAS, "k.txt", {}, ["import", "keras_summary", "k.txt", "--input", "784", "--output", "out.json"]
    yield "horovod_trace", json_text(documents.horovod_trace()), "h.json", {}, ["import", "horovod_timeline", "h.json", "--batch", "8", "--output", "out.json"]
    yield "profiler_trace", json_text(documents.profiler_trace()), "h.json", {}, ["import", "pytorch_profiler", "h.json", "--model", "mnist_mlp", "--variant", "keras", "--output", "out.json"]
    zero = documents.scenario(workload={"model": "mnist_mlp", "batch_per_rank": 8, "precision": "bf16"}, strategy={"kind": "zero", "deepspeed": "./ds.json"})
    yield "deepspeed", json_text({"zero_optimization": {"stage": 2, "reduce_bucket_size": 500000, "overlap_comm": True}, "bf16": {"enabled": True}}), "ds.json", {"s.json": text_of(zero)}, RUN
    fsdp = documents.scenario(strategy={"kind": "fsdp", "llm_foundry": "./f.yaml"})
    yield "yaml", "fsdp_config:\n  sharding_strategy: FULL_SHARD\n  mixed_precision: FULL\n  activation_checkpointing: false\n", "f.yaml", {"s.json": text_of(fsdp)}, RUN


def encodings(text):
    data = text.encode()
    yield "UTF-16", text.encode("utf-16")
    yield "UTF-16 without mark", text.encode("utf-16-le")
    yield "UTF-32", text.encode("utf-32")
    yield "UTF-8 with mark", b"\xef\xbb\xbf" + data
    yield "Latin-1", text.replace("a", "\u00e9", 1).encode("latin-1")
    yield "EBCDIC", text.encode("cp500")
    yield "CRLF", text.replace("\n", "\r\n").encode()
    yield "CR", text.replace("\n", "\r").encode()
    yield "NUL at the end", data + b"\0"
    yield "NULs", data.replace(b" ", b"\0 ", 3)
    yield "gzip", b"\x1f\x8b\x08\0\0\0\0\0" + data
    yield "bytes", bytes(range(256)) * 8


def shapes(text):
    data = text.encode()
    yield "empty", b""
    yield "a space", b" "
    yield "a line break", b"\n"
    yield "twice", data + data
    yield "a long line", lambda: data + b"x" * 1_000_000
    yield "many lines", lambda: data + b"\n" * 1_000_000
    yield "brackets", b"[" * 200_000
    yield "braces", b"{" * 200_000
    yield "quotes", b"\"" * 100_001
    yield "tags", b"<a>" * 100_000
    yield "its middle many times", data[: len(data) // 2] + data[len(data) // 4: len(data) // 2] * 2000 + data[len(data) // 2:]
    yield "66 MiB", lambda: data + b" " * (66 << 20)
    for i in range(1, 13):
        yield f"cut at {i}/13", data[: len(data) * i // 13]
    lines = data.splitlines(True)
    for i in range(0, len(lines), max(1, len(lines) // 12)):
        yield f"without line {i + 1}", b"".join(lines[:i] + lines[i + 1:])
        yield f"line {i + 1} twice", b"".join(lines[: i + 1] + lines[i:])


def special(kind):
    def make(folder, name):
        path = folder / name
        path.unlink(missing_ok=True)
        if kind == "a folder":
            path.mkdir()
        elif kind == "a link to itself":
            path.symlink_to(name)
        elif kind == "unreadable":
            path.symlink_to("/proc/self/mem")
        elif kind != "missing":
            path.symlink_to(kind)
    return make


NUMBER = re.compile(r"(?<![\w.#])-?\d+(?:\.\d+)?(?![\w.])")
BAD_NUMBERS = QUANTITIES + ["2147483647", "2147483648", "-2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
                            "18446744073709551616", "-1", "0.5", "0", "65536", "1000000"]


def changed_numbers(text, most, rng):
    found = list(NUMBER.finditer(text))
    for match in found if len(found) <= most else rng.sample(found, most):
        for bad in BAD_NUMBERS:
            yield f"{match.group()} at {match.start()} = {bad[:30]}", (text[: match.start()] + bad + text[match.end():]).encode()


WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def changed_words(text, rng):
    found = list(WORD.finditer(text))
    for match in rng.sample(found, min(12, len(found))):
        for bad in ("", "x", match.group() + match.group(), "\"", "&lt;", "a" * 5000, "-", "\u00e9", match.group().upper()):
            yield f"{match.group()} at {match.start()} = {bad[:12]}", (text[: match.start()] + bad + text[match.end():]).encode()


def damages(text, rng, count=60):
    data = text.encode()
    for number in range(count):
        mutant = bytearray(data)
        for _ in range(1 + number % 4):
            at = rng.randrange(len(mutant))
            kind = rng.randrange(5)
            if kind == 0:
                mutant[at] = rng.choice(b"{}[]<>:,\"'\\/ \n\t0123456789.eE+-\x00\x7f\x80\xff")
            elif kind == 1:
                mutant[at:at] = bytes([rng.randrange(256)])
            elif kind == 2:
                del mutant[at: at + rng.randrange(1, 30)]
            elif kind == 3:
                piece = mutant[at: at + rng.randrange(1, 60)]
                where = rng.randrange(len(mutant))
                mutant[where:where] = piece
            else:
                mutant[at] ^= 1 << rng.randrange(8)
            if not mutant:
                mutant = bytearray(b"x")
        yield f"damage {number}", bytes(mutant)


HUGE = {"dot": lambda: "graph g {" + "".join(f"h{i} -- s;" for i in range(300_000)) + "}",
        "imb": lambda: documents.IMB + "      1048576           40       900.00      1000.00       950.00\n" * 300_000,
        "osu": lambda: documents.OSU + "1048576  1159.77\n" * 500_000,
        "nccl_tests": lambda: documents.NCCL_TESTS + "     1048576        262144     float     sum      -1    452.7    2.32    2.32      0    452.1    2.32    2.32      0\n" * 300_000,
        "scenario": lambda: "{" + ",".join(f'"k{i}": {i}' for i in range(1_500_000)) + "}",
        "keras": lambda: documents.KERAS.replace("output (Dense)               (None, 10)                1290      \n", "drop (Dropout)               (None, 128)               0      \n" * 200_000),
        "simgrid": lambda: documents.SIMGRID.replace("<host id=\"b\"", "".join(f"<host id=\"h{i}\" speed=\"1Gf\"/>" for i in range(100_000)) + "<host id=\"b\""),
        "horovod_trace": lambda: json.dumps(documents.horovod_trace() * 20_000)}


def cases():
    for group, text, file, others, line in kinds():
        rng = random.Random(group)

        def case(name, data, expect=ANY):
            return Case(f"text/{group}", name, {**others, file: data}, line, expect)

        yield case("as it is", text.encode())
        for name, data in encodings(text):
            yield case(name, data, ANY if name in ("CRLF", "CR", "Latin-1", "UTF-8 with mark") else REFUSED)
        for name, data in shapes(text):
            yield case(name, data, REFUSED if name in ("empty", "a space", "66 MiB", "brackets", "bytes") else ANY)
        for name, data in changed_numbers(text, 14, rng):
            yield case(name, data)
        for name, data in changed_words(text, rng):
            yield case(name, data)
        for name, data in damages(text, rng):
            yield case(name, data)
        if group in HUGE:
            yield case("huge", lambda: HUGE[group]().encode())
        for kind in ("missing", "a folder", "a link to itself", "unreadable", "/dev/zero", "/dev/null", "/dev/urandom", "/dev/full", "/proc/self/cmdline", "/etc/shadow/x"):
            made = special(kind)
            yield Case(f"text/{group}", f"{kind} instead", {name: data for name, data in others.items()}, line, REFUSED,
                       prepare=lambda folder, made=made, file=file: made(folder, file))
