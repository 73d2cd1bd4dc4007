"""What was found wrong once, kept."""

import documents
from case import ANY, DONE, REFUSED, Case
from json_cases import COLLECTIVE, RUN, with_device, with_model, with_offer
from values import short, text_of


def run(name, expect, is_long=False, **others):
    return Case("known", name, {"s.json": text_of(documents.scenario(**others))}, RUN, expect, is_long=is_long)


def machine(name, expect, kind, network, nodes="as needed", **others):
    topology = {**documents.topology(kind, network), **others}
    topology.pop("condition")
    topology["nodes"] = nodes
    return Case("known", name, {"t.json": text_of(topology)}, COLLECTIVE, expect)


def collective(name, expect, *words, files=None):
    return Case("known", name, files or {}, ["collective", "-b", "1K", "-e", "1K", *words], expect)


def numbers():
    servers = {"kind": "parameter_server", "mode": "stale_synchronous"}
    yield run("a bound of 2^31 - 1", DONE, strategy={**servers, "bound": 2147483647})
    model = {"model": "resnet18", "global_batch": 2147483647}
    yield run("global_batch with accumulation 2^30", REFUSED, workload=model, strategy={"kind": "ddp", "accumulation": 1 << 30})
    yield run("accumulation 2^27 with a storage limit", REFUSED, workload={"model": "resnet18", "batch_per_rank": 32}, strategy={"kind": "ddp", "accumulation": 1 << 27},
              effects={"input": {"storage_samples_per_second": 1000}})
    for ranks in (10**9, 10**8, 2**31 - 1):
        yield collective(f"{ranks} ranks", REFUSED, "--topology", "ethernet-25g", "--ranks", str(ranks))
    for segments in (10**6, 10**7, 2**31 - 1):
        for algorithm in ("chain", "double_tree"):
            yield collective(f"{segments} segments, {algorithm}", REFUSED, "--topology", "ethernet-25g", "--ranks", "8", "--op", "broadcast", "--algorithm", algorithm, "--segments", str(segments))
    for key in ("iterations", "warmup", "seeds"):
        for number in (10**5, 10**6, 10**7, 2**31 - 1):
            yield run(f"{number} {key}", ANY, workload={"model": "resnet50", "batch_per_rank": 32}, measure={"iterations": 2, key: number})
    yield run("a straggler that is one 30,000 times", REFUSED, effects={"straggler": {"ranks": [1] * 30000, "slowdown": "20 %"}})
    yield run("a rank in 300 stragglers", REFUSED, effects={"straggler": [{"ranks": [1], "slowdown": "10000 %"}] * 300})
    overlapping = {"kind": "diloco", "inner_steps": 2, "fragments": 2, "overlap_steps": 1}
    yield run("an exchange beside the next step, with jitter", DONE, strategy=overlapping, effects={"step_jitter": "3 %"}, measure={"iterations": 4, "seed": 5})
    yield run("a period of 10^7", REFUSED, strategy={"kind": "local_sgd", "period": 10**7})
    yield run("a period of 10^6", ANY, is_long=True, strategy={"kind": "local_sgd", "period": 10**6})
    yield run("10^6 servers", REFUSED, strategy={"kind": "parameter_server", "servers": 10**6, "colocated": True})
    yield run("65536 servers", ANY, is_long=True, strategy={"kind": "parameter_server", "servers": 65536, "colocated": True})
    for number in (10**5, 10**6):
        yield run(f"{number} iterations to infer a device's time from", ANY, workload={"model": "resnet50", "batch_per_rank": 32, "measured": [{"ranks": 4, "samples_per_second": 400}]},
                  measure={"iterations": number})
        yield run(f"{number} iterations in each of 100,000 evaluations", REFUSED, measure={"iterations": number},
                  optimise={"maximise": "samples_per_second", "over": {"/strategy/bucket_cap": {"from": "1 MiB", "to": "64 MiB"}}, "evaluations": 100000})
        yield run(f"{number} iterations of stale workers", REFUSED, platform={"topology": "ethernet-25g", "ranks": 64}, measure={"iterations": number},
                  strategy={"kind": "parameter_server", "mode": "asynchronous", "servers": 8})
        yield run(f"{number} iterations explained", ANY, is_long=number == 10**5, measure={"iterations": number, "explain": True})
    yield run("99,999 points", ANY, sweep={"/measure/seed": list(range(99999))})
    yield run("65,536 ranks at message, unfolded", ANY, platform={"topology": "ethernet-25g", "ranks": 65536}, measure={"iterations": 1, "fidelity": "message"})
    yield collective("alltoall of 10^6 ranks", ANY, "--topology", "ethernet-25g", "--ranks", "1000000", "--op", "alltoall")
    yield collective("65,536 ranks message by message", ANY, "--topology", "ethernet-25g", "--ranks", "65536", "--fidelity", "message", "--no-fold")


def machines():
    wire = {"link": {"rate": "100 Gbit/s"}}
    for groups in (10**3, 10**5, 10**7, 2**31 - 1):
        yield machine(f"dragonfly of {groups} groups", ANY, "dragonfly", {"groups": groups, "routers_per_chassis": 2, "nodes_per_router": 2, "rank1": wire, "rank3": {**wire, "cables_per_pair": 1}})
        yield machine(f"dragonfly of {groups} routers", ANY, "dragonfly", {"groups": 2, "routers_per_chassis": groups, "nodes_per_router": 2, "rank1": wire, "rank3": {**wire, "cables_per_pair": 1}})
    for number in (4194304, 4194305, 10**7, 2**31 - 1):
        yield machine(f"star of {number} nodes, 2 used", ANY, "star", {}, nodes=number)
        for topology in ("ethernet-25g", "dgx-a100", "theta"):
            yield run(f"first node {number} of {topology}", ANY, platform={"topology": topology, "ranks": 2, "placement": {"first_node": number}})
            yield run(f"{number} ranks of {topology}", ANY, platform={"topology": topology, "ranks": number})
            yield run(f"{number} launched on {topology}", ANY, platform={"topology": topology, "launch": f"mpirun -np {number} python x"})
    for spines in (10**5, 2**31 - 1):
        yield machine(f"leaf_spine of {spines} spines", ANY, "leaf_spine", {"nodes_per_leaf": 4, "spines": spines, "link": {"rate": "100 Gbit/s"}})
        yield machine(f"fat_tree of {spines} parents", ANY, "fat_tree", {"levels": [{"down": 4}, {"parents": spines, "down": 4, "link": {"rate": "100 Gbit/s"}}]})
        yield machine(f"torus of {spines}^3", ANY, "torus", {"sizes": [spines] * 3, "link": {"rate": "100 Gbit/s"}})
        yield machine(f"star of {spines} nodes", ANY, "star", {}, nodes=spines)


def readers():
    graph = {**documents.TOPOLOGIES["graph"]}
    for ending in ("dot", "xml"):
        graph["network"] = {"file": f"g.{ending}", "link": {"rate": "25 Gbit/s"}}
        text = documents.DOT.replace("2 us", "-40 us") if ending == "dot" else documents.SIMGRID.replace("50us", "-50us")
        for line in (COLLECTIVE, ["check", "t.json"]):
            yield Case("known", f"a negative latency in .{ending}, {line[0]}", {"t.json": text_of(graph), f"g.{ending}": text.encode()}, line, REFUSED)
        yield Case("known", f".{ending} is /dev/zero", {"t.json": text_of(graph)}, COLLECTIVE, REFUSED, prepare=lambda folder, ending=ending: (folder / f"g.{ending}").symlink_to("/dev/zero"))
    for name in ("n" * 80 + ".dot", "it's \"quoted\".dot"):
        graph["network"] = {"file": name}
        yield Case("known", f"a graph file called {name[:20]}", {"t.json": text_of({**graph, "condition": {}}), name: documents.DOT.encode()}, COLLECTIVE, DONE)
    broadcast = {"name": "own", "op": "broadcast", "ranks": 2, "chunks": 1, "phases": [{"name": "p", "transfers": [{"from": 0, "to": 1, "chunk": 0, "action": "reduce"}]}]}
    line = ["--topology", "ethernet-25g", "--ranks", "2", "--op", "broadcast", "--algorithm", "./a.json"]
    yield collective("a broadcast that reduces", REFUSED, *line, files={"a.json": text_of(broadcast)})
    for weights in ([-1], [0], [1e308], []):
        copied = {**broadcast, "weights": weights, "phases": [{"name": "p", "transfers": [{"from": 0, "to": 1, "chunk": 0, "action": "copy"}]}]}
        yield collective(f"weights {weights}", REFUSED if weights == [-1] else ANY, *line, files={"a.json": text_of(copied)})
    for setting in ("/platform/ranks=abc", "/platform/ranks=4", "=abc"):
        yield Case("known", f"--set {setting} that a sweep overrides", {"s.json": text_of(documents.scenario(sweep={"/platform/ranks": [1, 2]}))}, [*RUN, "--set", setting], REFUSED)


def named(file, document, user):
    """Names that are none, and texts that say nothing, in the file that a scenario names."""
    def case(pointer, value):
        return Case("known", f"{file} {pointer} = {short(value)}", {file: text_of(put(document, pointer.split("/")[1:], value)), "s.json": text_of(user)}, RUN, REFUSED)

    for value in ("", "o ", "'", "\u202e", "\u009b31m", "../m", "/dev/zero", "a\nb"):
        yield case("/name", value)
        if file == "d.json":
            yield case("/generation", value)
    if file == "d.json":
        yield case("/measurements/0/variant", "")


def put(document, path, value):
    key = int(path[0]) if isinstance(document, list) else path[0]
    copied = list(document) if isinstance(document, list) else dict(document)
    copied[key] = put(copied[key], path[1:], value) if path[1:] else value
    return copied


def strict():
    yield from named("o.json", documents.OFFER, with_offer())
    yield from named("d.json", documents.DEVICE, with_device())
    yield from named("m.json", documents.MODEL, with_model("")[0])
    yield run("a summary that is a number", REFUSED, summary=4)
    brief = put(documents.BOUGHT, ["bought", "lifetime", "low"], "1e-18 years")
    yield Case("known", "a lifetime of 1e-18 years at least", {"o.json": text_of(brief), "s.json": text_of(with_offer())}, RUN, ANY)
    long = "y" * 5000
    for line in (["run", "s.json", "--jobs", long], ["run", "s.json", "--output", long], ["run", long], ["run", "s.json", "--" + long]):
        yield Case("known", f"{' '.join(line)[:30]} and 5,000 more", {"s.json": text_of(documents.scenario())}, line, REFUSED)


def cases():
    yield from strict()
    yield from numbers()
    yield from machines()
    yield from readers()
