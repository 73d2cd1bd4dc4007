"""The random studies of a soak: models, strategies, numbers of ranks and fidelities, a second or so each."""

from jobs import PAGES, RUN, scenario, shards_of, text
from place import Job, Place

MODELS = ["alexnet", "mnist_mlp", "mobilenet_v2", "resnet18", "resnet34", "resnet50", "vgg11"]
STRATEGIES = [{"kind": "horovod", "version": "0.19.0"}, {"kind": "ddp"}, {"kind": "fsdp"}, {"kind": "zero", "stage": 1}, {"kind": "allgather"},
              {"kind": "local_sgd", "period": 4}, {"kind": "parameter_server", "mode": "synchronous", "servers": 1}]
TOPOLOGIES = ["ethernet-10g", "ethernet-25g", "ethernet-100g"]
ITERATIONS = {"analytic": 12, "flow": 6, "message": 2}


def study(draw):
    """8 to 36 points."""
    fidelity = draw.choice(list(ITERATIONS))
    return text(scenario(name="soak",
                         platform={"topology": draw.choice(TOPOLOGIES), "ranks": 2},
                         strategy=draw.choice(STRATEGIES),
                         measure={"iterations": ITERATIONS[fidelity], "warmup": 1, "seed": draw.randrange(1000), "fidelity": fidelity},
                         sweep={"/workload/model": draw.sample(MODELS, draw.randint(2, 4)),
                                "/platform/ranks": draw.sample([2, 3, 4, 6, 8, 12, 16], draw.randint(2, 3)),
                                "/workload/batch_per_rank": draw.sample([8, 16, 32, 64], draw.randint(2, 3))}))


def plain(draw, _):
    return [Job("study", {"study.json": study(draw)}, RUN, ["out.json"], has_journal=True, replaces=draw.random() < 0.5)]


def with_pages(draw, _):
    return [Job("study with pages", {"study.json": study(draw)}, [*RUN, *PAGES], ["out.json", "page.html", "page.md", "trace.json"],
                has_journal=True, replaces=draw.random() < 0.5)]


def in_shards(draw, program):
    """Each shard, and merging them."""
    document, of = study(draw), draw.randint(2, 3)
    shards = shards_of(program, document, of)
    for shard, name in enumerate(shards, 1):
        yield Job("shard", {"study.json": document}, [*RUN[:6], name, "--jobs", "2", "--shard", f"{shard}/{of}"], [name], has_journal=True, replaces=draw.random() < 0.5)
    yield Job("merge", shards, ["merge", *shards, "--output", "out.json"], ["out.json"])


def one_point(draw, _):
    return [Job("one point", {"point.json": text(scenario(strategy=draw.choice(STRATEGIES)))}, ["run", "point.json", "--quiet", "--format", "json", "--output", "out.json"], ["out.json"])]


KINDS = {"study": plain, "study with pages": with_pages, "shards and merge": in_shards, "one point": one_point}


def long_study(points):
    """So many small points."""
    thresholds = -(-points // 10)
    return text(scenario(name="long", measure={"iterations": 1, "warmup": 1, "fidelity": "analytic", "bands": False},
                         sweep={"/strategy/fusion_threshold": [f"{4096 + i} KiB" for i in range(thresholds)], "/workload/batch_per_rank": list(range(1, 11))}))


def whole_of(setup, document):
    """What a run of all points at once writes."""
    job = Job("whole", {"study.json": document}, RUN, ["out.json"], has_journal=True, replaces=False)
    with Place(setup, job) as place:
        finished = place.run(job.arguments)
        return place.bytes_of("out.json") if finished.status == 0 else finished.err.encode()
