#!/usr/bin/env python3
"""Prints how far the published training runs are missed with one mechanism switched off at a time.

Each line runs `farandole validate --published` again with --set over the files that the mechanism concerns, and prints, of
the counted rows whose step time it moves by more than a thousandth, the median and the worst error with everything on and
with the mechanism off. One that moves no row is not seen by these runs; one without which they are met better is suspect.
"""

import argparse
import json
import statistics
import sys

from farandole_process import ROOT, run_program

PUBLISHED = ROOT / "scenarios" / "published"
OVERRIDE = "/platform/override/"

HOROVOD, SERVERS, BOARDS, SHARDED = "horovod", "parameter servers", "shared boards", "sharded"
LIBRARY, COLLECTIVES, UNSHARDED = "libraries", "collectives", "unsharded"

# A label, which files it concerns, and what switches it off.
MECHANISMS = [
    ("gradients travel while others are made", UNSHARDED, ["/strategy/overlap=false"]),
    ("devices differ, steps vary", "all", ["/effects/device_spread=0 %", "/effects/step_jitter=0 %"]),
    ("two devices share a board's power", BOARDS, ["/effects/shared_board=0 %"]),
    ("host's cost per byte", "all", [OVERRIDE + "~1node~1nic~1host_rate=1000 TB/s"]),
    ("latency of a collective's steps", "all",
     [OVERRIDE + "~1transport~1intra_node_latency=0 us", OVERRIDE + "~1transport~1inter_node_latency=0 us"]),
    ("start of a collective", "all", [OVERRIDE + "~1transport~1launch=0 us"]),
    ("host runs ahead of the device", "all", ["/workload/host_dispatch=ready"]),
    ("a library's algorithm and protocol", LIBRARY, ["/collectives/allreduce=ring"]),
    ("fusion", HOROVOD, ["/strategy/fusion_threshold=0 B"]),
    ("time between Horovod's passes", HOROVOD, ["/strategy/cycle_time=0.01 ms"]),
    ("negotiation", HOROVOD,
     ["/strategy/coordinator_per_message=0 us", OVERRIDE + "~1transport~1control_latency=0 us"]),
    ("response cache", HOROVOD, ['/strategy/settings={"HOROVOD_CACHE_CAPACITY": "0"}']),
    ("variables are placed whole", SERVERS, ["/strategy/server_placement=split"]),
    ("by size, not in turn", SERVERS, ["/strategy/server_placement=round_robin"]),
    ("allgathers ahead are limited", SHARDED, ["/strategy/limit_all_gathers=false"]),
    ("compute that running collectives take", COLLECTIVES, ["/effects/communication_compute_share=0 %"]),
]


def library_of(scenario):
    """What carries allreduces out: what the scenario names, else the machine's library, else a ring."""
    topology = json.loads((ROOT / "topologies" / f"{scenario['platform']['topology']}.json").read_text())
    return scenario.get("collectives", {}).get("allreduce", topology["transport"].get("library", "ring"))


def concerns(group, scenario):
    kind = scenario["strategy"]["kind"]
    return (group == "all" or group == kind
            or (group == SERVERS and kind in ("parameter_server", "distributed_replicated"))
            or (group == UNSHARDED and kind not in ("fsdp", "zero"))
            or (group == SHARDED and kind == "fsdp")
            or (group == COLLECTIVES and kind in ("horovod", "ddp", "fsdp", "zero"))
            or (group == LIBRARY and kind in ("horovod", "ddp") and library_of(scenario) != "ring")
            or (group == BOARDS and "shared_board" in scenario.get("effects", {})))


def validated(names, settings=()):
    only = [argument for name in names for argument in ("--only", name)]
    changed = [argument for setting in settings for argument in ("--set", setting)]
    points = run_program(["validate", "--published", *only, *changed])["points"]
    return [point for point in points if point["counted"]]


def scenario_of(name):
    scenario = json.loads((PUBLISHED / f"{name}.json").read_text())["scenario"]
    return json.loads((ROOT / "scenarios" / scenario).read_text()) if isinstance(scenario, str) else scenario


def cells_of(full, without):
    """Rows that moved, and their median and worst errors with and without, in percent."""
    moved = [(abs(a["error"]), abs(b["error"])) for a, b in zip(full, without)
             if abs(b["predicted"] / a["predicted"] - 1) > 1e-3]
    if not moved:
        return f"{0:>6}"
    on, off = zip(*moved)
    errors = [statistics.median(on), statistics.median(off), max(on), max(off)]
    return f"{len(moved):>6}" + "".join(f"{100 * error:>14.1f}" for error in errors)


def families(left_out):
    """Those with training runs, but for some."""
    named = [path.stem for path in sorted(PUBLISHED.glob("*.json"), key=lambda path: path.name)]
    held = [name for name in named if "scenario" in json.loads((PUBLISHED / f"{name}.json").read_text())]
    unknown = sorted(set(left_out) - set(held))
    if unknown:
        sys.exit(f"--without: expected a file of scenarios/published with runs, got {unknown[0]}")
    return [name for name in held if name not in left_out]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--without", action="append", default=[], metavar="FILE", help="leave that file of scenarios/published out, without .json")
    base = validated(families(parser.parse_args().without))
    counted = list(dict.fromkeys(point["family"] for point in base))
    print(f"{'switched off':<41}{'in':<20}{'rows':>6}{'median %':>14}{'without it':>14}{'worst %':>14}{'without it':>14}")
    for label, group, settings in MECHANISMS:
        names = [name for name in counted if concerns(group, scenario_of(name))]
        full = [point for point in base if point["family"] in names]
        print(f"{label:<41}{group:<20}{cells_of(full, validated(names, settings))}", flush=True)


if __name__ == "__main__":
    main()
