#!/usr/bin/env python3
"""Prints predicted and published scaling efficiencies of the Horovod cluster side by side, and its sensitivity to each input.

The scenario and its published rows are scenarios/published/horovod-2017-512gpu.json. Each number of the platform is then
halved and doubled, one at a time, and the efficiencies at 512 ranks are printed again; last come the ends of
what is known of the host rate, which no run of the cluster identifies: the 80 % of its prior in the topology's file.
"""

import json

from farandole_process import ROOT, run_points

PUBLISHED = ROOT / "scenarios" / "published" / "horovod-2017-512gpu.json"

# What is halved and doubled: a label, the pointer into the scenario, or into the topology file, and the value there.
TOPOLOGY_NUMBERS = [
    ("NIC rate", "/node/nic/rate", "25 Gbit/s"),
    ("host rate of the path", "/node/nic/host_rate", None),
    ("PCIe rate", "/node/fabric/pcie/link/rate", "12 GB/s"),
    ("rate between sockets", "/node/fabric/pcie/interconnect/rate", "9 GB/s"),
    ("latency per step within a node", "/transport/intra_node_latency", "10.83 us"),
    ("latency per step between nodes", "/transport/inter_node_latency", "12.54 us"),
    ("start of a collective", "/transport/launch", "8.4 us"),
    ("latency of negotiation", "/transport/control_latency", "2.7 us"),
]
SCENARIO_NUMBERS = [
    ("spread among devices", "/effects", "device_spread", "1.5 %"),
    ("jitter from step to step", "/effects", "step_jitter", "0.2 %"),
    ("host time per layer and pass", "/workload/host_dispatch", None, "10 us"),
    ("coordinator's time per message", "/strategy/coordinator_per_message", None, "0.38 us"),
]


def scaled(value, factor):
    number, unit = value.split(" ")
    return f"{float(number) * factor:g} {unit}"


def efficiencies(published, scenario, settings):
    models = [row["model"] for row in published["rows"]]
    axes = {"/workload/model": models, "/platform/ranks": [published["ranks"]]}
    points = run_points(scenario, {"/sweep": axes, **settings}, fidelity="flow")
    return [point["scaling_efficiency"] for point in points]


def overridden(pointer, value):
    return {"/platform/override": {pointer: value}}


def changed(pointer, key, value):
    return {pointer: {key: value} if key else value}


def main():
    published = json.loads(PUBLISHED.read_text())
    scenario = ROOT / "scenarios" / published["scenario"]
    topology = json.loads((ROOT / "topologies" / "roce25-4xp100.json").read_text())
    rows = published["rows"]
    base = efficiencies(published, scenario, {})

    print(f"Scaling efficiency at {published['ranks']} ranks (%)")
    print(f"{'model':<14}{'predicted':>10}{'published':>11}{'difference':>12}")
    for row, efficiency in zip(rows, base):
        target = row["scaling_efficiency"]
        print(f"{row['model']:<14}{100 * efficiency:>10.1f}{100 * target:>11.0f}{100 * (efficiency - target):>+12.1f}")

    print("\nSensitivity of the prediction: change in percentage points when one number is halved / doubled")
    print(f"{'number':<34}{'value':>11}" + "".join(f"{row['model']:>18}" for row in rows))

    def print_row(label, value, settings_for):
        halved = efficiencies(published, scenario, settings_for(scaled(value, 0.5)))
        doubled = efficiencies(published, scenario, settings_for(scaled(value, 2)))
        cells = [f"{100 * (low - mid):+.1f} / {100 * (high - mid):+.1f}" for low, mid, high in zip(halved, base, doubled)]
        print(f"{label:<34}{value:>11}" + "".join(f"{cell:>18}" for cell in cells))

    for label, pointer, value in TOPOLOGY_NUMBERS:
        value = value or topology["node"]["nic"]["host_rate"]
        print_row(label, value, lambda new, pointer=pointer: overridden(pointer, new))
    for label, pointer, key, value in SCENARIO_NUMBERS:
        print_row(label, value, lambda new, pointer=pointer, key=key: changed(pointer, key, new))

    print("\nThe host rate is known only to a range; at its ends the efficiencies are (%)")
    for value in topology["priors"]["/node/nic/host_rate"]["between"]:
        ends = efficiencies(published, scenario, overridden("/node/nic/host_rate", value))
        print(f"  host rate {value:<11}" + "".join(f"{row['model']:>14} {100 * e:.1f}" for row, e in zip(rows, ends)))


if __name__ == "__main__":
    main()
