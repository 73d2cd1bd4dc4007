#!/usr/bin/env python3
"""Worlds drawn at random: a machine of topologies/, a model, a strategy with settings, effects; and laws of what `farandole run` says of them.

    tests/worlds/worlds.py [--program FILE] [--from SEED] [--worlds N] [--seconds S]

A world that is refused (status 2) must say where and print nothing else. Of one that runs: parts sum to the step and are not negative;
its interval holds it; --no-fold, our own solver in SimGrid's place and a point of a sweep are the same; a table as CSV has the numbers of the
JSON; bands change nothing else; a network of twice the rate, or half the latency, is never slower; the waterfall sums to the step; a what-if is
the change made by hand; a measured run is reproduced; nothing takes more than 40 s of processor time or 4 GiB.
A broken law is printed with its seed (`--from SEED --worlds 1` draws that world alone) and its scenario, then with the smallest one found in four
minutes that breaks it still: what is not needed is left out, numbers are halved. The status is 1 then.

What may be slower on a faster network is not asked: workers that do not wait, noise, storage and traffic at times of their own, links that a library
does not know to be slow, gradients that go at a cycle's tick; and Polaris, where NCCL was measured to take longer for 2 MiB than for 4.
"""

import argparse
import collections
import copy
import csv
import io
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEVICES = {"dgx-h100": 8, "hgx-h100": 8, "hgx-h200": 8, "hgx-b200": 8, "gb200-nvl72": 4, "dgx-a100": 8, "aws-p4d": 8, "aws-p5": 8, "gcp-a3-ultra": 8, "gcp-a3-mega": 8,
           "dgx1-v100": 8, "polaris": 4, "thetagpu": 8, "aurora": 12, "frontier": 8, "mi300x-8": 8, "roce25-4xp100": 4, "tcp25-4xp100": 4,
           "ethernet-25g": 1, "perlmutter": 4, "leonardo": 4, "juwels-booster": 4, "piz-daint": 1, "theta": 1, "eos": 8}
SEQUENCES = ["llama3_8b", "llama3_2_1b", "gpt2_xl", "gpt2_small", "bert_large", "llama2_7b", "mistral_7b", "t5_large"]
IMAGES = ["resnet50", "vgg16", "inception_v3", "resnet101", "alexnet", "vit_l_16"]
# Settings of each strategy with how often one is drawn, in per cent.
SETTINGS = {
    "fsdp": [(50, "sharding_strategy", ["FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2", "NO_SHARD"]),
             (20, "reshard_after_forward", [True, False, 2, 4]), (20, "limit_all_gathers", [True, False]),
             (20, "backward_prefetch", ["BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"]), (20, "param_dtype", ["fp32", "bf16"]),
             (20, "reduce_dtype", ["fp32", "bf16"]), (20, "no_sync", [True, False]), (20, "blocks_per_unit", [0, 1, 2, 4]),
             (25, "tensor_parallel", [2, 4, 8]), (10, "pipeline", [2])],
    "zero": [(80, "stage", [1, 2, 3]), (20, "overlap_comm", [True, False]), (20, "overlap_params", [True, False]),
             (20, "reduce_scatter", [True, False]), (20, "reduce_bucket_size", [1000000, 500000000]),
             (20, "communication_data_type", ["bf16", "fp32"]), (15, "shard_group", [2, 4, 8]), (15, "tensor_parallel", [2, 4])],
    "ddp": [(20, "bucket_cap_mb", [1, 25, 100]), (15, "gradient_as_bucket_view", [True]), (15, "broadcast_buffers", [False]),
            (10, "static_graph", [True]), (10, "find_unused_parameters", [True]), (15, "overlap", [False]), (20, "tensor_parallel", [2, 4]),
            (15, "compression", ["fp16", "int8", "one_bit", {"kind": "power_sgd", "rank": 4}, {"kind": "top_k", "keep": "1 %"}])],
    "horovod": [(40, "version", ["0.19.0", "0.21.0", "0.28.1"]), (30, "fusion_threshold", ["1 MiB", "64 MiB", "128 MiB"]),
                (30, "cycle_time", ["1 ms", "5 ms"]), (20, "compression", ["fp16"])],
    "parameter_server": [(60, "servers", [1, 2, 4, "one per node"]), (50, "colocated", [True]),
                         (40, "server_placement", ["round_robin", "by_size", "split"]),
                         (40, "mode", ["synchronous", "asynchronous", "stale_synchronous"])],
    "allgather": [],
    "local_sgd": [(50, "period", [2, 8])],
    "diloco": [(70, "inner_steps", [4, 20]), (30, "fragments", [2])],
}
EFFECTS = [(15, {"step_jitter": "1 %"}), (10, {"device_spread": "2 %"}), (10, {"straggler": {"ranks": [0], "slowdown": "20 %"}}),
           (8, {"slow_links": {"nodes": [0], "rate": "50 %"}}), (8, {"os_noise": {"period": "20 ms", "duration": "500 us"}}),
           (8, {"checkpoint": {"every_steps": 2, "rate": "2 GB/s"}}), (6, {"communication_compute_share": "10 %"})]
# Of any strategy; a value may say where it stands.
REST = [(5, "workload/host_dispatch", ["0 us", "20 us"]), (5, "workload/gradient_type", ["fp32", "fp16", "bf16"]),
        (5, "platform/condition", [{"degraded": {"*": "50 %"}}, {"background": {"*": "1 GB/s"}}]),
        (5, "platform/traffic", [[{"kind": "constant", "links": "*", "rate": "1 GB/s"}], [{"kind": "on_off", "links": "*", "rate": "1 GB/s", "on": "5 ms", "off": "5 ms"}]]),
        (6, "effects/other_devices", [[{"ranks": [0], "speed": "80 %"}], [{"nodes": [0], "device": "v100"}]]),
        (5, "effects/input", [{"sample_size": "108 KiB", "storage_bandwidth": "5 GB/s"}]),
        (6, "run", [{"epochs": 90, "samples": 1281167}, {"samples": 10**8, "failures": {"node_mtbf": "5000 h", "restart": "5 min"}}]),
        (5, "measure/seeds", [2])]
OF_SEQUENCES = [(10, "workload/loss", ["plain", "fused", "chunked"]), (6, "workload/lora", [{"rank": 16, "targets": ["q_proj", "v_proj"]}]),
                (6, "workload/sequence_length", [256, 512]), (6, "strategy/pipeline", [2, 4])]
OF_IMAGES = [(10, "workload/normalisation", ["with_activation", "in_convolution"])]
NOT_MONOTONE = ("asynchronous", "stale", "os_noise", "slow_links", "random", "horovod", "on_off", "input", "polaris")


def draw(seed):
    """A scenario; about a third of them is refused."""
    drawn = random.Random(seed)
    chance, one_of = lambda percent: drawn.random() * 100 < percent, drawn.choice  # noqa: E731
    topology = one_of(list(DEVICES))
    full = DEVICES[topology] * one_of([1, 2, 3, 4, 8, 16, 17])
    is_sequence = chance(65)
    workload = {"model": one_of(SEQUENCES if is_sequence else IMAGES), "batch_per_rank": one_of([1, 1, 2, 4] if is_sequence else [4, 16, 64])}
    for percent, key, values in [(30 if is_sequence else 0, "recompute", ["attention", "selective", "full"]), (15, "compile", [True]),
                                 (30, "precision", ["bf16", "bf16", "fp16", "fp32", "tf32"]), (25, "optimizer", ["sgd", "momentum", "adam"])]:
        if chance(percent):
            workload[key] = one_of(values)
    strategy = {"kind": one_of([*SETTINGS, "ddp", "fsdp", "fsdp", "zero"])}
    if chance(30) and strategy["kind"] in ("ddp", "fsdp", "zero", "horovod"):
        strategy["accumulation"] = one_of([1, 2, 3, 8])
    for percent, key, values in SETTINGS[strategy["kind"]]:
        if chance(percent) and (is_sequence or key not in ("tensor_parallel", "pipeline")):
            strategy[key] = one_of(values)
    world = {"name": f"world-{seed}", "workload": workload, "strategy": strategy,
             "platform": {"topology": topology, "ranks": full if chance(75) else drawn.randint(1, full)},
             "measure": {"seed": drawn.randint(1, 99), "iterations": drawn.randint(1, 6), "warmup": drawn.randint(0, 2)}}
    if chance(25):
        world["collectives"] = {"allreduce": one_of(["ring", "hierarchical", "double_tree", "nccl-2.18", "nccl-2.27", "halving_doubling"])}
    if chance(15):
        world["platform"]["placement"] = one_of([{"order": "by_node"}, {"nodes": "random"}])
    for percent, effect in EFFECTS:
        if chance(percent):
            world.setdefault("effects", {}).update(effect)
    if chance(40):
        world["measure"]["fidelity"] = one_of(["analytic", "flow", "flow", "message"])
    if chance(40):
        world["measure"]["bands"] = False
    for percent, pointer, values in [*REST, *(OF_SEQUENCES if is_sequence else OF_IMAGES)]:
        if chance(percent):
            put(world, pointer, one_of(values))
    return world


def put(world, pointer, value):
    """None: takes it out."""
    *folders, last = pointer.strip("/").split("/")
    for folder in folders:
        world = world.setdefault(folder, {})
    if value is None:
        del world[last]
    else:
        world[last] = value


def smaller(world):
    """Worlds that ask for one thing less, the largest first."""
    def without(folder, path):
        for key, value in list(folder.items()):
            if path + key not in ("/name", "/workload", "/workload/model", "/workload/batch_per_rank", "/platform", "/platform/topology",
                                  "/platform/ranks", "/strategy", "/strategy/kind", "/measure"):
                yield path + key, None
            if isinstance(value, dict):
                yield from without(value, path + key + "/")
            elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
                yield path + key, value // 2
    for pointer, value in sorted(without(world, "/"), key=lambda change: change[0].count("/")):
        other = copy.deepcopy(world)
        put(other, pointer, value)
        yield other


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (40, 45))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


class Program:
    def __init__(self, path, folder):
        self.path, self.file = path, pathlib.Path(folder, "world.json")

    def run(self, world, *options, form="json"):
        """(status, points, stdout, stderr)"""
        self.file.write_text(json.dumps(world))
        done = subprocess.run([self.path, "run", str(self.file), "--format", form, *options], capture_output=True, text=True,
                              preexec_fn=limit, check=False)
        points = json.loads(done.stdout)["points"] if done.returncode == 0 and form == "json" else None
        return done.returncode, points, done.stdout, done.stderr


def leaves(value, pointer=""):
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, f"{pointer}/{key}")
    else:
        yield pointer, value


def differences(one, other, rounding, but):
    """Pointers at which two points differ by more than rounding, of themselves or of the step."""
    first, second = dict(leaves(one)), dict(leaves(other))
    found = []
    for pointer in sorted({*first, *second}):
        a, b = first.get(pointer), second.get(pointer)
        if a == b or any(word in pointer for word in but):
            continue
        are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (a, b))
        if not are_numbers or abs(a - b) > rounding * max(abs(a), abs(b), one["iteration_seconds"]):
            found.append(f"{pointer}: {a} -> {b}")
    return "; ".join(found[:4])


class Judge:
    """Of one world: `expect` counts a law and keeps what breaks it."""

    def __init__(self, program, seed, world):
        self.program, self.seed, self.world = program, seed, world
        self.checks, self.broken = collections.Counter(), {}

    def expect(self, law, holds, what):
        self.checks[law] += 1
        if not holds:
            self.broken[law] = str(what)[:400]

    def changed(self, pointer, value):
        other = copy.deepcopy(self.world)
        put(other, pointer, value)
        return other

    def run(self, law, world, *options):
        """The last point; None where it does not run, which breaks the law unless that is refused for what it would take."""
        status, points, _, error = self.program.run(world, *options)
        if status != 0 and "--budget" not in error:
            self.expect(law, False, f"status {status}: {error[-200:]}")
        return points[-1] if points else None

    def judge(self):
        status, points, text, error = self.program.run(self.world)
        if status == 2:
            return self.expect("refused at its place, in a line", text == "" and "world.json:" in error, error)
        self.expect("runs", status == 0, f"status {status}: {error[-200:]}")
        if not points:
            return None
        point = points[0]
        step, parts = point["iteration_seconds"], point["breakdown"].values()
        self.expect("parts sum to the step", abs(sum(parts) / step - 1) < 1e-9 and min(parts) >= -1e-9 * step, point["breakdown"])
        if point.get("bands"):
            low, high = point["bands"]["iteration_seconds"]
            self.expect("the interval holds the step", low <= step * (1 + 1e-9) and step <= high * (1 + 1e-9), (low, step, high))
        self.table(point)
        if point["ranks"] <= 64:
            self.same("--no-fold", self.world, point, 1e-9, ("folded", "notes"), "--no-fold")
        if point["ranks"] <= 16:
            self.solvers()
        self.same("without bands", self.changed("/measure/bands", False), point, 1e-12, ("bands", "compared_by"))
        seed = self.world["measure"].get("seed", 1)
        self.same("point of a sweep", self.changed("/sweep", {"/measure/seed": [seed + 1, seed]}), point, 1e-12, ("swept",))
        if not any(word in json.dumps(self.world) for word in NOT_MONOTONE) and point["ranks"] > 1:
            for scale in ({"rate": 2}, {"latency": 0.5}):
                other = self.run("faster network", self.changed("/platform/scale", scale))
                if other:
                    self.expect("faster network", other["iteration_seconds"] <= step * (1 + 1e-6), (scale, step, other["iteration_seconds"]))
        self.explanation(step)
        return self.anchor(step)

    def same(self, law, world, point, rounding, but, *options):
        other = self.run(law, world, *options)
        if other:
            found = differences(point, other, rounding, but)
            self.expect(law, not found, found)

    def table(self, point):
        """Columns are pointers; one that the point has not is empty."""
        status, _, text, error = self.program.run(self.world, form="csv")
        if status != 0:
            return self.expect("CSV", False, error)
        row = next(csv.DictReader(io.StringIO(text)))
        said = {pointer.strip("/").replace("/", "_"): value for pointer, value in leaves(point)}
        differ = [(column, text, said[column]) for column, text in row.items()
                  if isinstance(said.get(column), float) and (text == "" or float(text) != said[column])]
        return self.expect("CSV", not differ and row["iteration_seconds"] != "", differ[:4])

    def solvers(self):
        answers = [self.run("own solver", self.world, "--network", solver) for solver in ("simgrid", "own")]
        if all(answers):
            found = differences(answers[0], answers[1], 1e-6, ("notes",))
            self.expect("own solver", not found, found)

    def explanation(self, step):
        explained = self.run("waterfall", self.world, "--explain")
        if not explained:
            return
        self.expect("waterfall", abs(sum(explained["waterfall"].values()) / step - 1) < 1e-9, explained["waterfall"])
        offered = [change for change in explained.get("what_ifs") or [] if change.get("set")]
        if not offered:
            return
        change = random.Random(self.seed).choice(offered)
        options = [word for pointer, value in change["set"].items() for word in ("--set", f"{pointer}={json.dumps(value)}")]
        by_hand = self.run("what-if by hand", self.world, *options)
        if by_hand:
            said = change["iteration_seconds"]
            self.expect("what-if by hand", abs(by_hand["iteration_seconds"] / said - 1) < 1e-9, (change["change"], said, by_hand["iteration_seconds"]))

    def anchor(self, step):
        measured = step * random.Random(self.seed).choice([0.9, 1.05, 1.2, 1.6])
        status, points, _, error = self.program.run(self.changed("/workload/measured", [{"iteration_seconds": measured}]))
        if status == 0:
            self.expect("measured run", abs(points[0]["iteration_seconds"] / measured - 1) < 1e-9, (measured, points[0]["iteration_seconds"]))
        else:
            self.expect("measured run", status == 2, error[-200:])


def judged(program, seed, world):
    judge = Judge(program, seed, world)
    judge.judge()
    return judge


def shrunk(program, judge, law, seconds=240):
    """The smallest world found that breaks the law, and how."""
    world, what, began = judge.world, judge.broken[law], time.monotonic()
    candidates = smaller(world)
    while time.monotonic() - began < seconds and (candidate := next(candidates, None)):
        again = judged(program, judge.seed, candidate)
        if law in again.broken:
            world, what, candidates = candidate, again.broken[law], smaller(candidate)
    return what, json.dumps(world)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("FARANDOLE_PROGRAM", str(ROOT / "build/release/farandole")))
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="SEED")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long, whatever is left")
    asked = parser.parse_args()
    tally = collections.defaultdict(lambda: [0, 0])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(asked.program, folder)
        for seed in range(asked.first, asked.first + asked.worlds):
            if time.monotonic() - began > asked.seconds:
                break
            judge = judged(program, seed, draw(seed))
            for law, checks in judge.checks.items():
                tally[law][0] += checks
                tally[law][1] += law in judge.broken
            for law, what in judge.broken.items():
                print(f"seed {seed}: {law}: {what}\n    {json.dumps(judge.world)}", flush=True)
                print("    made small: {}\n    {}".format(*shrunk(program, judge, law)), flush=True)
    print(f"{'law':<36} {'checks':>8} {'broken':>8}")
    for law, (checks, broken) in sorted(tally.items()):
        print(f"{law:<36} {checks:>8} {broken:>8}")
    if tally["runs"][0] == 0:
        sys.exit("no world ran")
    sys.exit(any(broken for _, broken in tally.values()))


if __name__ == "__main__":
    main()
