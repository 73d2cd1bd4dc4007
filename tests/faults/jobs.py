"""What is disturbed: every command that writes files, each with inputs small enough to be run thousands of times."""

import json
import shutil
import subprocess
import tempfile

from place import Job


def scenario(**others):
    return {"name": "faults", "workload": {"model": "resnet18", "batch_per_rank": 32}, "platform": {"topology": "ethernet-25g", "ranks": 4},
            "strategy": {"kind": "horovod", "version": "0.19.0"}, "measure": {"iterations": 2, "warmup": 1, "fidelity": "analytic"}, **others}


def text(document):
    return json.dumps(document).encode()


def study(points, iterations=2, fidelity="analytic"):
    return text(scenario(sweep={"/strategy/fusion_threshold": [f"{4 + i} MiB" for i in range(points)]},
                         measure={"iterations": iterations, "warmup": 1, "fidelity": fidelity}))


RUN = ["run", "study.json", "--quiet", "--format", "json", "--output", "out.json", "--jobs", "2"]
PAGES = ["--html", "page.html", "--markdown", "page.md", "--timeline", "trace.json"]
SUMMARY = b"""Layer (type)                Output Shape              Param #
=================================================================
 dense (Dense)               (None, 128)               100480
 dense_1 (Dense)             (None, 10)                1290
=================================================================
Total params: 101,770
"""


def shards_of(program, document, of):
    with tempfile.TemporaryDirectory() as folder:
        shards = {}
        for shard in range(1, of + 1):
            with open(f"{folder}/study.json", "wb") as file:
                file.write(document)
            name = f"s{shard}"
            subprocess.run([program, "run", "study.json", "--quiet", "--format", "json", "--shard", f"{shard}/{of}", "--output", name], cwd=folder, check=True)
            with open(f"{folder}/{name}", "rb") as file:
                shards[name] = file.read()
        return shards


def all_jobs(program):
    small = study(4)
    point = text(scenario())
    drawn = ["--draw", "net.svg"] if shutil.which("dot") else []
    yield Job("run, a study", {"study.json": small}, RUN, ["out.json"], has_journal=True, replaces=False)
    yield Job("run, a study again", {"study.json": small}, RUN, ["out.json"], has_journal=True)
    yield Job("run, a study with pages", {"study.json": study(3)}, [*RUN, *PAGES, *drawn],
              ["out.json", "page.html", "page.md", "trace.json", *drawn[1:]], has_journal=True)
    yield Job("run, one point", {"point.json": point}, ["run", "point.json", "--quiet", "--output", "point.txt"], ["point.txt"])
    yield Job("run, a shard", {"study.json": small}, [*RUN[:6], "s1", "--shard", "1/2"], ["s1"], has_journal=True, replaces=False)
    yield Job("merge", shards_of(program, small, 2), ["merge", "s1", "s2", "--output", "out.json"], ["out.json"])
    yield Job("collective", {}, ["collective", "--topology", "ethernet-25g", "--ranks", "4", "-b", "8", "-e", "64", "--output", "table.txt", "--markdown", "table.md"],
              ["table.txt", "table.md"])
    yield Job("explore", {"point.json": point}, ["explore", "point.json", "--html", "page.html"], ["page.html"])
    yield Job("new", {}, ["new", "new.json", "--model", "resnet50", "--topology", "dgx-a100"], ["new.json"], replaces=False)
    yield Job("import", {"net.txt": SUMMARY}, ["import", "keras_summary", "net.txt", "--input", "784", "--output", "net.json"], ["net.json"])
