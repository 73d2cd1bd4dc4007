#!/usr/bin/env python3
"""`farandole tune` against an exhaustive search, on twenty scenarios.

Every value of every setting that keeps a step's numbers, each with every value of all others, is run (without
intervals); what does not fit into the devices is left out, as tune leaves it out. Printed for each scenario: how many
combinations there are and how many runs tune took, the fastest of either, and by how much tune's is slower. Status 1
where that is more than 1 %, or where tune ran more than a tenth of them (of at least 1,000).

    PYTHONPATH=build/release/python tests/bench/tune_exhaustive.py [--only N ...]
"""
from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import sys
from typing import Any

import farandole

MOST_SLOWER = 0.01
MOST_RUNS = 0.1
FEW = 1000  # combinations: of fewer, values one by one and in pairs are more than a tenth

Scenario = dict[str, Any]


def job(model: str, topology: str, ranks: int, strategy: Scenario, **workload: Any) -> Scenario:
    return {"name": "job", "workload": {"model": model, "precision": "bf16", **workload},
            "platform": {"topology": topology, "ranks": ranks}, "strategy": strategy,
            "measure": {"iterations": 4}}


def slower_network(scenario: Scenario, rate: str) -> Scenario:
    scenario["platform"]["override"] = {"/node/nic/rate": rate}
    return scenario


LLM = {"optimizer": "adam", "batch_per_rank": 1}
PASCAL = {"precision": "fp32", "batch_per_rank": 32}
SCENARIOS = [
    job("llama3_8b", "hgx-h100", 16, {"kind": "fsdp"}, recompute="full", **LLM),
    job("llama3_8b", "hgx-h100", 64, {"kind": "fsdp"}, recompute="full", **LLM),
    slower_network(job("llama3_8b", "hgx-h100", 64, {"kind": "fsdp"}, recompute="selective", **LLM), "100 Gbit/s"),
    job("llama3_8b", "dgx-a100", 32, {"kind": "fsdp"}, sequence_length=2048, recompute="full", **LLM),
    job("llama2_13b", "hgx-h100", 32, {"kind": "fsdp", "accumulation": 2}, recompute="full", **LLM),
    slower_network(job("gpt2_xl", "dgx-a100", 16, {"kind": "fsdp"}, optimizer="adam", batch_per_rank=4), "25 Gbit/s"),
    job("bert_large", "dgx-a100", 64, {"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP"}, optimizer="adam",
        batch_per_rank=16),
    job("gpt2_medium", "perlmutter", 32, {"kind": "fsdp"}, optimizer="adam", batch_per_rank=8),
    job("llama3_8b", "hgx-h100", 32, {"kind": "zero", "stage": 3}, recompute="full", **LLM),
    job("gpt2_xl", "dgx-a100", 32, {"kind": "zero", "stage": 2}, optimizer="adam", batch_per_rank=4),
    job("bert_large", "dgx-h100", 16, {"kind": "zero", "stage": 1}, optimizer="adam", batch_per_rank=32),
    job("resnet50", "dgx-a100", 32, {"kind": "ddp"}, batch_per_rank=64),
    job("vgg16", "roce25-4xp100", 32, {"kind": "ddp", "find_unused_parameters": True}, **PASCAL),
    job("bert_base", "perlmutter", 64, {"kind": "ddp", "bucket_cap_mb": 5}, optimizer="adam", batch_per_rank=32),
    job("gpt2_medium", "polaris", 64, {"kind": "ddp"}, optimizer="adam", batch_per_rank=4),
    job("resnet101", "roce25-4xp100", 64, {"kind": "horovod"}, **PASCAL),
    job("vgg16", "roce25-4xp100", 32, {"kind": "horovod", "fusion_threshold": "1 MiB"}, **PASCAL),
    job("inception_v3", "tcp25-4xp100", 16, {"kind": "horovod"}, **PASCAL),
    job("resnet50", "tcp25-4xp100", 16, {"kind": "parameter_server", "servers": 2}, **PASCAL),
    job("vgg16", "roce25-4xp100", 16, {"kind": "parameter_server", "servers": 4, "colocated": True},
        **PASCAL),
]

Value = dict[str, Any]  # what is set, by pointer


def applied(scenario: Scenario, sets: tuple[Value, ...]) -> Scenario:
    document = json.loads(json.dumps(scenario))
    document["measure"]["bands"] = False
    for pointer, value in (item for one in sets for item in one.items()):
        *folders, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
        place = document
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return document


def step(scenario: Scenario, room: float) -> float | None:
    """Seconds, where it runs and fits."""
    try:
        point = farandole.run(scenario)[0]
    except farandole.InputError:
        return None
    memory = point["memory"]
    fits = memory["total"] <= max(memory["device"] - memory["outside"], room)
    return point["iteration_seconds"] if fits else None


def one(place: int) -> tuple[int, int, int, float, float, float]:
    """Of a scenario: its combinations, tune's runs, the step as it stands, tune's fastest, the fastest of all."""
    scenario = SCENARIOS[place]
    found = farandole.tune(scenario)
    own = found["own"]
    settings = [[{}] + [value["set"] for value in setting["values"]]
                for setting in found["tried"] if not setting["changes_numbers"]]
    combinations = list(itertools.product(*settings))
    steps = [step(applied(scenario, sets), own["memory"]["total"]) for sets in combinations]
    tuned = min([own["iteration_seconds"]] + [row["point"]["iteration_seconds"] for row in found["best"]])
    return place, len(combinations), found["runs"], own["iteration_seconds"], tuned, min(s for s in steps if s)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", type=int, nargs="*", default=range(len(SCENARIOS)), help="scenarios by number")
    missed = 0
    with multiprocessing.Pool() as pool:
        print(f"{'scenario':44} combinations  tune's runs  as it stands (ms)    tune  fastest  slower (%)")
        for place, combinations, runs, own, tuned, best in pool.imap(one, parser.parse_args().only):
            job_of = SCENARIOS[place]
            name = (f"{place} {job_of['workload']['model']} {job_of['strategy']['kind']} "
                    f"{job_of['platform']['ranks']} {job_of['platform']['topology']}")
            slower = tuned / best - 1
            missed += slower > MOST_SLOWER or (combinations >= FEW and runs > MOST_RUNS * combinations)
            print(f"{name:44} {combinations:12} {runs:12} {own * 1e3:18.3f} {tuned * 1e3:9.3f} {best * 1e3:8.3f} "
                  f"{slower * 100:11.2f}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
